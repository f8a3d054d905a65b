// SPDX-License-Identifier: Apache-2.0
// The tables of a knowledge file, and what is said of a file that cannot be used.
#pragma once

#include "base/result.hpp"
#include "journal/database_file.hpp"

namespace accelopt::memory {

/// The knowledge file's tables and their version.
extern const journal::FileFormat kKnowledgeFormat;

/// The error with what to do about a knowledge file in place of what to do about a journal.
base::Error about_knowledge(base::Error error);

}  // namespace accelopt::memory
