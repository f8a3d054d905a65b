// SPDX-License-Identifier: Apache-2.0
// The embedded knowledge store: one SQLite file (WAL, FTS5) that any number of processes use at once.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>

#include "memory/knowledge_store.hpp"

namespace accelopt::memory {

/// Whether a knowledge file may be written, and how long others' locks are waited for.
struct KnowledgeFileOptions {
  enum class Access { read_write, read_only } access = Access::read_write;
  std::chrono::milliseconds busy_timeout{30'000};
};

/// Opens the file, or makes it and its folder. Read-only: an absent file is an error, and a folder that may not be
/// written is none.
/// @error permission_denied, exhausted: it cannot be written; corrupt: damaged, of another program or of a newer
/// version, and untouched; not_found: read-only and there is none; unavailable, io.
base::Result<std::unique_ptr<KnowledgeStore>> open_knowledge_file(const std::filesystem::path& file,
                                                                  const KnowledgeFileOptions& options = {});

}  // namespace accelopt::memory
