// SPDX-License-Identifier: Apache-2.0
#include "app/knowledge_report.hpp"

#include <utility>

namespace accelopt::app {
namespace {

using base::Json;
using base::Result;

/// Most items that look hostile and are listed.
constexpr int kListed = 50;

Json counts_of(const std::vector<std::pair<std::string, std::int64_t>>& counts) {
  Json out = Json::object();
  for (const auto& [name, count] : counts) out[name] = count;
  return out;
}

/// One line about what a command did with one experience.
Json done(const char* type, const std::string& id, const std::string& title, const std::string& store) {
  return {{"type", type}, {"schema", 1}, {"id", id}, {"title", title}, {"store", store}};
}

}  // namespace

Result<TakenIn> take_in(memory::KnowledgeStore& store, const Imported& imported) {
  TRY_ASSIGN(const int fresh, insert_imported(store, imported));
  return TakenIn{static_cast<int>(imported.experiences.size()), fresh, imported.unknown_effects,
                 imported.kernels_left_out, store.name()};
}

Json to_json(const TakenIn& taken) {
  return {{"type", "import"},
          {"schema", 1},
          {"read", taken.read},
          {"new", taken.fresh},
          {"unknown_effects", taken.unknown_effects},
          {"kernels_left_out", taken.kernels_left_out},
          {"store", taken.store}};
}

Result<KnowledgeOverview> overview(memory::KnowledgeStore& store) {
  KnowledgeOverview out{store.name(), {}, {}};
  TRY_ASSIGN(out.stats, store.stats());
  TRY_ASSIGN(out.suspicious, store.list({.suspicious = true, .limit = kListed}));
  return out;
}

Json to_json(const KnowledgeOverview& overview) {
  const memory::StoreStats& it = overview.stats;
  Json out = {{"type", "memory_stats"},
              {"schema", 1},
              {"store", overview.store},
              {"experiences", it.experiences},
              {"quarantined", it.quarantined},
              {"suspicious", it.suspicious},
              {"forgotten", it.forgotten},
              {"solutions", it.solutions},
              {"credit_events", it.credit_events},
              {"bytes", it.bytes},
              {"by_language", counts_of(it.by_language)},
              {"by_op_type", counts_of(it.by_op_type)},
              {"by_polarity", counts_of(it.by_polarity)},
              {"suspicious_items", Json::array()},
              {"unreadable", Json::array()}};
  for (const memory::Unreadable& one : it.unreadable)
    out["unreadable"].push_back({{"id", one.id}, {"reason", one.reason}});
  for (const memory::Item& item : overview.suspicious)
    out["suspicious_items"].push_back({{"id", item.experience.id}, {"suspicions", item.suspicions}});
  return out;
}

Json to_json(const memory::Graph& graph) {
  Json out = {{"type", "memory_graph"}, {"schema", 1}, {"nodes", Json::array()}, {"edges", Json::array()}};
  for (const memory::Node& node : graph.nodes) out["nodes"].push_back({{"id", node.id}, {"label", node.label}});
  for (const memory::Edge& edge : graph.edges)
    out["edges"].push_back({{"from", edge.from}, {"relation", edge.relation}, {"to", edge.to}, {"label", edge.label}});
  return out;
}

Json to_json(const memory::Unreadable& unreadable) {
  return {{"type", "unreadable"}, {"schema", 1}, {"id", unreadable.id}, {"reason", unreadable.reason}};
}

Json to_json(const EditedItem& edited, const std::string& store) {
  Json line = done("edit", edited.item.experience.id, edited.item.experience.title, store);
  line["changed"] = edited.changed;
  return line;
}

Json to_json(const memory::Removal& removal, const std::string& store) {
  Json line = done("forget", removal.id, removal.title, store);
  line["solutions"] = removal.solutions;
  return line;
}

Json to_json(const memory::Item& item, memory::Visibility now, const std::string& store) {
  Json line = done("quarantine", item.experience.id, item.experience.title, store);
  line["quarantined"] = now == memory::Visibility::hidden;
  return line;
}

}  // namespace accelopt::app
