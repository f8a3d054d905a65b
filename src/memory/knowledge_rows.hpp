// SPDX-License-Identifier: Apache-2.0
// A connection to a knowledge file: its statements, prepared once, and its rows as values. A row that cannot be read
// stands in nobody's way: it is noted and passed over.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/sqlite.hpp"
#include "memory/experience_text.hpp"
#include "memory/knowledge_store.hpp"

namespace accelopt::memory {

/// Reads whole items; a condition on i (items) follows.
inline constexpr std::string_view kItem =
    "SELECT i.number, i.id, i.experience, i.quarantined, i.suspicions, i.shown, i.used, i.confirmed, i.refuted, "
    "max(0, coalesce(l.inserted, 0) - i.place - 1) FROM items i LEFT JOIN languages l ON l.language = i.language ";

class KnowledgeRows {
 public:
  using Numbered = std::pair<std::int64_t, Item>;

  /// Some items in the order of their statement.
  struct Page {
    std::vector<Numbered> items;
    std::int64_t last = 0;  ///< number of the last row, readable or not
    int rows = 0;           ///< those that could not be read included
  };

  KnowledgeRows(std::unique_ptr<base::Database> database, std::string name)
      : database_(std::move(database)), name_(std::move(name)) {}

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] base::Database& sql() { return *database_; }

  /// A transaction that writes. @error not_found: the file is no longer the one at its path; as base::Transaction.
  base::Result<base::Transaction> begin();

  /// The items of a statement that begins with kItem.
  template <class... Values>
  base::Result<Page> page(std::string_view text, const Values&... values) {
    return page_of(Part::whole, text, values...);
  }
  template <class... Values>
  base::Result<Page> page_of(Part part, std::string_view text, const Values&... values) {
    Page page;
    TRY(database_->each(
        text,
        [&](const base::Query& row) {
          page.last = row.integer(0);
          ++page.rows;
          if (auto item = item_of(row, part)) page.items.emplace_back(page.last, std::move(*item));
        },
        values...));
    return page;
  }

  /// Those with these numbers, in their order.
  base::Result<std::vector<Item>> items(std::span<const std::int64_t> numbers, Part part = Part::whole);

  /// The solutions of these ids.
  base::Result<std::vector<SolutionRecord>> solutions(std::span<const std::string> ids);

  /// What was passed over since clear_unreadable().
  [[nodiscard]] const std::vector<Unreadable>& unreadable() const { return unreadable_; }
  void clear_unreadable() { unreadable_.clear(); }

 private:
  std::optional<Item> item_of(const base::Query& row, Part part);
  std::optional<SolutionRecord> solution_of(const base::Query& row);
  void pass_over(std::string id, std::string reason);

  std::unique_ptr<base::Database> database_;
  std::string name_;
  std::vector<Unreadable> unreadable_;
};

}  // namespace accelopt::memory
