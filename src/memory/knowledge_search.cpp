// SPDX-License-Identifier: Apache-2.0
#include "memory/knowledge_search.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "memory/words.hpp"

namespace accelopt::memory {

using base::Json;
using base::Result;
using SqlQuery = base::Query;

namespace {

/// Words of a query that are looked up, and how many places in the index each and all together may have: words that
/// stand nearly everywhere tell little, and cost most.
constexpr std::size_t kMostWords = 40;
constexpr std::int64_t kRareWord = 800;
constexpr std::int64_t kMostPlaces = 2000;

/// What retrieval may give: run left out (twice), op_types left out (JSON).
constexpr std::string_view kAllowed =
    "i.quarantined = 0 AND (? = '' OR i.run <> ?) AND i.op_type NOT IN (SELECT value FROM json_each(?)) ";
/// Of this language and target, or of any.
constexpr std::string_view kOfPlace = "i.language IN (?, '') AND i.target IN (?, '') AND ";
/// What a listing gives: pairs of (value, value), an empty one takes all.
constexpr std::string_view kListed =
    "(? = '' OR i.language = ?) AND (? = '' OR i.op_type = ?) AND (? = '' OR i.target = ?) AND (? = '' OR i.run = ?) "
    "AND (? = '' OR i.polarity = ?) AND (? < 0 OR i.quarantined = ?) AND (? < 0 OR (i.suspicions <> '[]') = ?) ";

std::int64_t three_ways(const std::optional<bool>& wanted) {
  return wanted ? (*wanted ? 1 : 0) : -1;
}

/// The words that stand in few enough experiences to tell them apart, as an expression for the index; empty: none.
Result<std::string> expression_of(KnowledgeRows& rows, std::string_view text) {
  std::vector<std::pair<std::int64_t, std::string>> rare;
  for (const std::string& word : words_of(text, kMostWords)) {
    TRY_ASSIGN(const std::int64_t places,
               rows.sql().number_of("SELECT count(*) FROM (SELECT 1 FROM item_words WHERE item_words MATCH ? LIMIT ?)",
                                    "\"" + word + "\"", kRareWord + 1));
    if (places > 0 && places <= kRareWord) rare.emplace_back(places, word);
  }
  std::ranges::sort(rare);
  std::string expression;
  std::int64_t total = 0;
  for (const auto& [places, word] : rare) {
    total += places;
    if (total > kMostPlaces && !expression.empty()) break;
    expression += (expression.empty() ? "\"" : " OR \"") + word + "\"";
  }
  return expression;
}

/// What a retrieval gathers: numbers of items with how well their words fit, each once.
class Gathering {
 public:
  Gathering(KnowledgeRows& rows, const Query& query)
      : rows_(rows),
        query_(query),
        limit_(static_cast<std::size_t>(std::max(0, query.limit))),
        families_(base::canonical(Json(query.without_op_types))) {}

  [[nodiscard]] std::size_t limit() const { return limit_; }
  [[nodiscard]] const std::vector<std::pair<std::int64_t, double>>& chosen() const { return chosen_; }

  /// Those with words of the query, up to half of all.
  Result<void> add_alike() {
    TRY_ASSIGN(const std::string expression,
               expression_of(rows_, query_.text + " " + query_.op_type + " " + query_.bound));
    if (expression.empty()) return {};
    double best = 0;
    TRY(rows_.sql().each(
        "SELECT i.number, bm25(item_words) FROM item_words JOIN items i ON i.number = item_words.rowid WHERE "
        "item_words MATCH ? AND " +
            std::string(kOfPlace) + std::string(kAllowed) + "ORDER BY bm25(item_words) LIMIT ?",
        [&](const SqlQuery& row) {
          const double score = std::max(0.0, -row.real(1));  // the better, the more negative
          best = std::max(best, score);
          take(row.integer(0), score);
        },
        expression, query_.language, query_.target, query_.without_run, query_.without_run, families_,
        static_cast<std::int64_t>((limit_ + 1) / 2)));
    for (auto& [number, score] : chosen_) score = best > 0 ? score / best : 0;
    return {};
  }

  /// Those that come first by a column of an index that begins with language and target, until there are `most`.
  template <class... Values>
  Result<void> add_first(const std::string& index, const std::string& further, const std::string& column,
                         std::size_t most, const Values&... values) {
    std::vector<std::pair<double, std::int64_t>> first;
    for (const std::string& language : {query_.language, std::string()}) {
      for (const std::string& target : {query_.target, std::string()}) {
        TRY(rows_.sql().each(
            "SELECT i.number, " + column + " FROM items i INDEXED BY " + index +
                " WHERE i.language = ? AND i.target = ? AND " + std::string(kAllowed) + further + "ORDER BY " + column +
                " DESC LIMIT ?",
            [&](const SqlQuery& row) { first.emplace_back(row.real(1), row.integer(0)); }, language, target,
            query_.without_run, query_.without_run, families_, values..., static_cast<std::int64_t>(limit_)));
      }
    }
    std::ranges::sort(first, std::greater<>());
    for (const auto& [value, number] : first) {
      if (chosen_.size() >= std::min(most, limit_)) break;
      take(number, 0);
    }
    return {};
  }

  Result<void> add_newest() {
    return rows_.sql().each(
        "SELECT i.number FROM items i NOT INDEXED WHERE " + std::string(kOfPlace) + std::string(kAllowed) +
            "ORDER BY i.number DESC LIMIT ?",
        [&](const SqlQuery& row) {
          if (chosen_.size() < limit_) take(row.integer(0), 0);
        },
        query_.language, query_.target, query_.without_run, query_.without_run, families_,
        static_cast<std::int64_t>(limit_));
  }

 private:
  void take(std::int64_t number, double score) {
    if (known_.insert(number).second) chosen_.emplace_back(number, score);
  }

  KnowledgeRows& rows_;
  const Query& query_;
  std::size_t limit_;
  std::string families_;
  std::vector<std::pair<std::int64_t, double>> chosen_;
  std::set<std::int64_t> known_;
};

/// Numbers of the first rows of a statement that ends with kListed, an order and LIMIT ?; `first` is bound before.
template <class... First>
Result<std::vector<std::int64_t>> numbers_of(KnowledgeRows& rows, const std::string& text, const Filter& filter,
                                             const First&... first) {
  const std::string polarity(filter.polarity ? model::to_string(*filter.polarity) : "");
  const std::int64_t quarantined = three_ways(filter.quarantined);
  const std::int64_t suspicious = three_ways(filter.suspicious);
  const std::int64_t most = filter.limit == 0 ? -1 : std::int64_t{filter.limit} + filter.offset;
  return rows.sql().all(
      text, [](const SqlQuery& row) { return row.integer(0); }, first..., filter.language, filter.language,
      filter.op_type, filter.op_type, filter.target, filter.target, filter.run, filter.run, polarity, polarity,
      quarantined, quarantined, suspicious, suspicious, most);
}

/// The part of the numbers that the filter asks for, as items.
Result<std::vector<Item>> cut(KnowledgeRows& rows, std::span<const std::int64_t> numbers, const Filter& filter) {
  numbers = numbers.subspan(std::min(numbers.size(), static_cast<std::size_t>(std::max(0, filter.offset))));
  if (filter.limit > 0) numbers = numbers.first(std::min(numbers.size(), static_cast<std::size_t>(filter.limit)));
  return rows.items(numbers);
}

}  // namespace

Result<std::vector<Match>> matches_of(KnowledgeRows& rows, const Query& query) {
  Gathering gathering(rows, query);
  TRY(gathering.add_alike());
  // Beside those with the same words: the worthiest, those of the same kind, and the newest.
  const std::size_t limit = gathering.limit();
  TRY(gathering.add_first("items_by_worth", "", "i.worth", gathering.chosen().size() + limit / 8));
  TRY(gathering.add_first("items_by_kind", "AND i.op_type = ? ", "i.number", limit - limit / 16, query.op_type));
  TRY(gathering.add_newest());
  const Part part = query.alike == Alike::each ? Part::without_code : Part::whole;
  std::vector<Match> matches;
  for (const auto& [number, similarity] : gathering.chosen()) {
    TRY_ASSIGN(auto found, rows.items({&number, 1}, part));
    if (!found.empty()) matches.push_back({std::move(found.front()), similarity});
  }
  return matches;
}

Result<std::vector<Item>> listed(KnowledgeRows& rows, const Filter& filter) {
  TRY_ASSIGN(
      const auto numbers,
      numbers_of(rows, "SELECT i.number FROM items i WHERE " + std::string(kListed) + "ORDER BY i.number DESC LIMIT ?",
                 filter));
  return cut(rows, numbers, filter);
}

Result<std::vector<Item>> searched(KnowledgeRows& rows, std::string_view text, const Filter& filter) {
  std::string expression;
  Json parts = Json::array();
  for (const std::string& word : search_words(text, kMostWords)) {
    if (is_ascii(word)) {
      expression += (expression.empty() ? "\"" : " OR \"") + word + "\"";
    } else {
      for (const std::string& spelling : spellings_of(word)) parts.push_back(spelling);
    }
  }
  std::vector<std::int64_t> numbers;
  if (!expression.empty()) {
    TRY_ASSIGN(numbers, numbers_of(rows,
                                   "SELECT i.number FROM item_words JOIN items i ON i.number = item_words.rowid WHERE "
                                   "item_words MATCH ? AND " +
                                       std::string(kListed) + "ORDER BY bm25(item_words), i.number DESC LIMIT ?",
                                   filter, expression));
  }
  if (!parts.empty()) {
    // The index knows ASCII letters alone, and not every script has blanks between its words: all texts are looked at.
    TRY_ASSIGN(const auto more, numbers_of(rows,
                                           "SELECT i.number FROM items i WHERE EXISTS (SELECT 1 FROM json_each(?) p "
                                           "WHERE instr(i.words, p.value) > 0) AND " +
                                               std::string(kListed) + "ORDER BY i.number DESC LIMIT ?",
                                           filter, base::canonical(parts)));
    const std::set<std::int64_t> known(numbers.begin(), numbers.end());
    std::ranges::copy_if(more, std::back_inserter(numbers), [&](std::int64_t one) { return !known.contains(one); });
  }
  return cut(rows, numbers, filter);
}

}  // namespace accelopt::memory
