// SPDX-License-Identifier: Apache-2.0
// What runs have learned: search, read, edit, hide.
#include "app/knowledge_edit.hpp"
#include "app/knowledge_export.hpp"
#include "app/knowledge_report.hpp"
#include "page/requests.hpp"

namespace accelopt::page {
namespace {

using base::Json;
using base::Result;
using mcp::Desk;
using mcp::HttpReply;

constexpr std::int64_t kItemsAtOnce = 1000;

using Work = std::function<Result<HttpReply>(memory::KnowledgeStore&)>;

Result<HttpReply> list(Desk& desk, const Request& request) {
  TRY_ASSIGN(const std::int64_t offset, request.number("offset", 0, kItemsAtOnce * kItemsAtOnce));
  TRY_ASSIGN(const std::int64_t limit, request.number("limit", 50, kItemsAtOnce));
  if (limit == 0) return base::fail(base::ErrorCode::invalid_argument, "limit is at least 1");
  memory::Filter filter{.language = request.text("language"),
                        .op_type = request.text("op_type"),
                        .offset = static_cast<int>(offset),
                        .limit = static_cast<int>(limit)};
  if (!request.text("quarantined").empty()) filter.quarantined = true;
  if (!request.text("suspicious").empty()) filter.suspicious = true;
  const Work work = [text = request.text("text"), filter](memory::KnowledgeStore& store) -> Result<HttpReply> {
    TRY_ASSIGN(const auto items, text.empty() ? store.list(filter) : store.search(text, filter));
    Json lines = Json::array();
    for (const memory::Item& item : items) lines.push_back(app::json_of(item));
    return json_reply({{"store", store.name()}, {"experiences", std::move(lines)}});
  };
  return desk.knowledge.use(app::KnowledgeUse::reading, {}, work);
}

Result<HttpReply> show(Desk& desk, const std::string& id) {
  const Work work = [id](memory::KnowledgeStore& store) -> Result<HttpReply> {
    TRY_ASSIGN(const memory::Item item, store.get(id));
    return json_reply(app::json_of(item));
  };
  return desk.knowledge.use(app::KnowledgeUse::reading, {}, work);
}

Result<HttpReply> edit(Desk& desk, const Request& request) {
  TRY_ASSIGN(const Json fields, app::read_edit(base::canonical(request.body), "the edit"));
  const Work work = [id = request.names.front(), fields](memory::KnowledgeStore& store) -> Result<HttpReply> {
    TRY_ASSIGN(const auto edited, app::edit_item(store, id, fields, "the edit"));
    return json_reply(app::to_json(edited, store.name()));
  };
  return desk.knowledge.use(app::KnowledgeUse::writing, {}, work);
}

Result<HttpReply> hide(Desk& desk, const Request& request, memory::Visibility now) {
  const Work work = [id = request.names.front(), now](memory::KnowledgeStore& store) -> Result<HttpReply> {
    TRY(store.quarantine(id, now));
    TRY_ASSIGN(const memory::Item item, store.get(id));
    return json_reply(app::to_json(item, now, store.name()));
  };
  return desk.knowledge.use(app::KnowledgeUse::writing, {}, work);
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
