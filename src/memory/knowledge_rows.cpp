// SPDX-License-Identifier: Apache-2.0
#include "memory/knowledge_rows.hpp"

#include <algorithm>

#include "memory/sanitation.hpp"

namespace accelopt::memory {

using base::ErrorCode;
using base::Json;
using base::Result;
using base::Transaction;
using SqlQuery = base::Query;

Result<Transaction> KnowledgeRows::begin() {
  // Where the file is no longer the one at its path, what is written would reach nobody.
  if (database_->has_moved()) {
    return base::fail(ErrorCode::not_found, name_ +
                                                ": was moved, replaced or removed while it was in use; put it back, "
                                                "or name another store with --knowledge PATH");
  }
  return Transaction::begin(*database_);
}

void KnowledgeRows::pass_over(std::string id, std::string reason) {
  const bool known = std::ranges::any_of(unreadable_, [&](const Unreadable& one) { return one.id == id; });
  if (!known) unreadable_.push_back({std::move(id), std::move(reason)});
}

std::optional<Item> KnowledgeRows::item_of(const SqlQuery& row, Part part) {
  const std::string id = row.text(1);
  auto read = read_experience(row.text(2), part);
  if (!read) {
    pass_over(id, read.error().message);
    return std::nullopt;
  }
  Item item;
  item.experience = std::move(*read);
  item.experience.id = id;  // what the text says of itself counts for nothing
  item.quarantined = row.integer(3) != 0;
  if (const std::string suspicions = row.text(4); suspicions != "[]") {
    const Json list = base::json_or_discarded(suspicions);
    const auto known = base::decode<std::vector<std::string>>(list, "suspicions");
    item.suspicions = known ? *known : made_fit(item.experience).suspicions;
  }
  item.experience.credit = {row.integer(5), row.integer(6), row.integer(7), row.integer(8)};
  item.age = row.integer(9);
  return item;
}

Result<std::vector<Item>> KnowledgeRows::items(std::span<const std::int64_t> numbers, Part part) {
  static const std::string kByNumber = std::string(kItem) + "WHERE i.number = ?";
  std::vector<Item> found;
  for (const std::int64_t number : numbers) {
    TRY_ASSIGN(Page one, page_of(part, kByNumber, number));
    if (!one.items.empty()) found.push_back(std::move(one.items.front().second));
  }
  return found;
}

std::optional<SolutionRecord> KnowledgeRows::solution_of(const SqlQuery& row) {
  SolutionRecord record{.id = row.text(0), .language = row.text(1), .task = row.text(2), .run = row.text(3)};
  auto sources = base::parse_json(row.text(4), "its sources");
  auto evaluation = row.is_null(5) ? Result<Json>(Json()) : base::parse_json(row.text(5), "its evaluation");
  if (!sources || !evaluation) {
    pass_over("kernel " + record.id, (sources ? evaluation : sources).error().message);
    return std::nullopt;
  }
  record.sources = std::move(*sources);
  record.evaluation = std::move(*evaluation);
  return record;
}

Result<std::vector<SolutionRecord>> KnowledgeRows::solutions(std::span<const std::string> ids) {
  std::vector<SolutionRecord> found;
  for (const std::string& id : ids) {
    TRY(database_->each(
        "SELECT id, language, task, run, sources, evaluation FROM solutions WHERE id = ?",
        [&](const SqlQuery& row) {
          if (auto record = solution_of(row)) found.push_back(std::move(*record));
        },
        id));
  }
  return found;
}

}  // namespace accelopt::memory
