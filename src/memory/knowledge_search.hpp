// SPDX-License-Identifier: Apache-2.0
// How a knowledge file finds items: what fits a kernel, what a user asks for, what has certain words.
#pragma once

#include <string_view>
#include <vector>

#include "memory/knowledge_rows.hpp"

namespace accelopt::memory {

/// KnowledgeStore::retrieve().
base::Result<std::vector<Match>> matches_of(KnowledgeRows& rows, const Query& query);
/// KnowledgeStore::list().
base::Result<std::vector<Item>> listed(KnowledgeRows& rows, const Filter& filter);
/// KnowledgeStore::search().
base::Result<std::vector<Item>> searched(KnowledgeRows& rows, std::string_view text, const Filter& filter);

}  // namespace accelopt::memory
