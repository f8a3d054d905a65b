// SPDX-License-Identifier: Apache-2.0
// What runs have learned: search, read, edit, hide.
#include "app/knowledge_edit.hpp"
#include "app/knowledge_export.hpp"
#include "app/knowledge_place.hpp"
#include "app/knowledge_report.hpp"
#include "page/requests.hpp"

namespace accelopt::page {
namespace {

using base::Json;
using base::Result;
using mcp::Desk;
using mcp::HttpReply;

constexpr std::int64_t kItemsAtOnce = 1000;

Result<std::unique_ptr<memory::KnowledgeStore>> open_store(const Desk& desk, app::KnowledgeUse use) {
  return app::open_knowledge(desk.shell, "", desk.workspace, use);
}

Result<HttpReply> list(const Desk& desk, const Request& request) {
  TRY_ASSIGN(const std::int64_t offset, request.number("offset", 0, kItemsAtOnce * kItemsAtOnce));
  TRY_ASSIGN(const std::int64_t limit, request.number("limit", 50, kItemsAtOnce));
  if (limit == 0) return base::fail(base::ErrorCode::invalid_argument, "limit is at least 1");
  memory::Filter filter{.language = request.text("language"),
                        .op_type = request.text("op_type"),
                        .offset = static_cast<int>(offset),
                        .limit = static_cast<int>(limit)};
  if (!request.text("quarantined").empty()) filter.quarantined = true;
  if (!request.text("suspicious").empty()) filter.suspicious = true;
  TRY_ASSIGN(const auto store, open_store(desk, app::KnowledgeUse::reading));
  const std::string text = request.text("text");
  TRY_ASSIGN(const auto items, text.empty() ? store->list(filter) : store->search(text, filter));
  Json lines = Json::array();
  for (const memory::Item& item : items) lines.push_back(app::json_of(item));
  return json_reply({{"store", store->name()}, {"experiences", std::move(lines)}});
}

Result<HttpReply> show(const Desk& desk, const std::string& id) {
  TRY_ASSIGN(const auto store, open_store(desk, app::KnowledgeUse::reading));
  TRY_ASSIGN(const memory::Item item, store->get(id));
  return json_reply(app::json_of(item));
}

Result<HttpReply> edit(const Desk& desk, const Request& request) {
  TRY_ASSIGN(const Json fields, app::read_edit(base::canonical(request.body), "the edit"));
  TRY_ASSIGN(const auto store, open_store(desk, app::KnowledgeUse::writing));
  TRY_ASSIGN(const auto edited, app::edit_item(*store, request.names.front(), fields, "the edit"));
  return json_reply(app::to_json(edited, store->name()));
}

Result<HttpReply> hide(const Desk& desk, const Request& request, memory::Visibility now) {
  TRY_ASSIGN(const auto store, open_store(desk, app::KnowledgeUse::writing));
  TRY(store->quarantine(request.names.front(), now));
  TRY_ASSIGN(const memory::Item item, store->get(request.names.front()));
  return json_reply(app::to_json(item, now, store->name()));
}

}  // namespace

std::vector<Route> memory_routes(Desk& desk) {
  return {
      {"GET", "memory", [&desk](const Request& request) { return list(desk, request); }},
      {"GET", "memory/{}", [&desk](const Request& request) { return show(desk, request.names.front()); }},
      {"POST", "memory/{}", [&desk](const Request& request) { return edit(desk, request); }},
      {"POST", "memory/{}/quarantine",
       [&desk](const Request& request) { return hide(desk, request, memory::Visibility::hidden); }},
      {"POST", "memory/{}/lift",
       [&desk](const Request& request) { return hide(desk, request, memory::Visibility::shown); }},
  };
}

}  // namespace accelopt::page
