// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "base/result.hpp"
#include "memory/knowledge_store.hpp"

namespace accelopt::app {

/// Of an exported experience; raised when a field changes its meaning.
inline constexpr int kExportSchema = 1;

/// An item as the memory commands write it.
base::Json json_of(const memory::Item& item);
/// A kernel as an export carries it.
base::Json json_of(const memory::SolutionRecord& solution);

/// Gives every item of the store as one line of JSON, in order of insertion. The kernels of an item stand in the first
/// line that speaks of them ("solutions"). @error as KnowledgeStore, and what `write` gives.
base::Result<void> export_lines(memory::KnowledgeStore& store,
                                const std::function<base::Result<void>(std::string_view)>& write);

/// Whether writing there, or where links lead from there, would replace the store's own file, or one that SQLite keeps
/// beside it.
bool is_of_store(const std::filesystem::path& output, const std::string& store);

}  // namespace accelopt::app
