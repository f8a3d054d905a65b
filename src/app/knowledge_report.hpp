// SPDX-License-Identifier: Apache-2.0
// What the memory commands do and find, as the objects of docs/json.md.
#pragma once

#include <string>
#include <vector>

#include "app/knowledge_edit.hpp"
#include "app/knowledge_import.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "memory/knowledge_store.hpp"

namespace accelopt::app {

/// What became of a file of experiences.
struct TakenIn {
  int read = 0;   ///< experiences of the file
  int fresh = 0;  ///< that the store did not hold yet
  int unknown_effects = 0;
  int kernels_left_out = 0;
  std::string store;
};
/// @error as insert_imported().
base::Result<TakenIn> take_in(memory::KnowledgeStore& store, const Imported& imported);
base::Json to_json(const TakenIn& taken);

/// What a store holds, and the newest of what looks hostile there.
struct KnowledgeOverview {
  std::string store;
  memory::StoreStats stats;
  std::vector<memory::Item> suspicious;
};
/// @error as KnowledgeStore.
base::Result<KnowledgeOverview> overview(memory::KnowledgeStore& store);
base::Json to_json(const KnowledgeOverview& overview);

base::Json to_json(const memory::Graph& graph);
base::Json to_json(const memory::Unreadable& unreadable);

/// What was done to one experience of a store, by its name.
base::Json to_json(const EditedItem& edited, const std::string& store);
base::Json to_json(const memory::Removal& removal, const std::string& store);
base::Json to_json(const memory::Item& item, memory::Visibility now, const std::string& store);

}  // namespace accelopt::app
