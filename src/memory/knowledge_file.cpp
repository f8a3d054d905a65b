// SPDX-License-Identifier: Apache-2.0
#include "memory/knowledge_file.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/files.hpp"
#include "base/utc.hpp"
#include "journal/sqlite.hpp"
#include "memory/hygiene.hpp"
#include "memory/knowledge_schema.hpp"
#include "memory/words.hpp"
#include "memory/worth.hpp"

namespace accelopt::memory {

using base::ErrorCode;
using base::fail;
using base::Json;
using base::Result;
using journal::Database;
using journal::Statement;
using journal::Transaction;
using SqlQuery = journal::Query;

namespace {

namespace fs = std::filesystem;

/// Words of a query that are looked up, and how many places in the index each and all together may have: words that
/// stand nearly everywhere tell little, and cost most.
constexpr std::size_t kMostWords = 40;
constexpr std::int64_t kRareWord = 800;
constexpr std::int64_t kMostPlaces = 2000;
/// Items that are read at once when all are gone through.
constexpr int kPage = 200;

constexpr std::string_view kItem =
    "SELECT i.number, i.experience, i.quarantined, i.suspicions, i.shown, i.used, i.confirmed, i.refuted, "
    "max(0, l.inserted - i.place - 1) FROM items i JOIN languages l ON l.language = i.language ";
/// What retrieval may give: language, target, run left out (twice), op_types left out (JSON).
constexpr std::string_view kFits =
    "i.language = ? AND i.target = ? AND i.quarantined = 0 AND (? = '' OR i.run <> ?) AND i.op_type NOT IN (SELECT "
    "value FROM json_each(?)) ";
/// What a listing gives: pairs of (value, value), an empty one takes all.
constexpr std::string_view kListed =
    "(? = '' OR i.language = ?) AND (? = '' OR i.op_type = ?) AND (? = '' OR i.target = ?) AND (? = '' OR i.run = ?) "
    "AND (? = '' OR i.polarity = ?) AND (? < 0 OR i.quarantined = ?) AND (? < 0 OR (i.suspicions <> '[]') = ?) ";

std::string_view kind_name(CreditEvent::Kind kind) {
  switch (kind) {
    case CreditEvent::Kind::shown:
      return "shown";
    case CreditEvent::Kind::confirmed:
      return "confirmed";
    case CreditEvent::Kind::refuted:
      return "refuted";
  }
  return "shown";
}

std::int64_t three_ways(const std::optional<bool>& wanted) {
  return wanted ? (*wanted ? 1 : 0) : -1;
}

std::string text_of(const Json& value) {
  return base::canonical(value);
}

class KnowledgeFile final : public KnowledgeStore {
 public:
  KnowledgeFile(std::unique_ptr<Database> database, fs::path file)
      : database_(std::move(database)), file_(std::move(file)), name_(file_.string()) {}

  [[nodiscard]] const std::string& name() const override { return name_; }

  Result<int> insert(std::span<const model::Experience> experiences, Forgotten forgotten) override {
    return told(insert_all(experiences, forgotten));
  }
  Result<void> put_solutions(std::span<const SolutionRecord> solutions) override { return told(put_all(solutions)); }
  Result<std::optional<SolutionRecord>> solution(std::string_view id) override { return told(find_solution(id)); }
  Result<Item> get(std::string_view id) override { return told(find(id)); }
  Result<std::vector<Match>> retrieve(const Query& query) override { return told(matches_of(query)); }
  Result<std::vector<Item>> list(const Filter& filter) override { return told(listed(filter)); }
  Result<std::vector<Item>> search(std::string_view text, const Filter& filter) override {
    return told(searched(text, filter));
  }
  Result<void> edit(const model::Experience& experience) override { return told(replace(experience)); }
  Result<void> forget(std::string_view id) override { return told(remove(id)); }
  Result<void> quarantine(std::string_view id, Visibility visibility) override { return told(hide(id, visibility)); }
  Result<int> credit(std::span<const CreditEvent> events) override { return told(count(events)); }
  Result<StoreStats> stats() override { return told(counted()); }
  Result<Graph> graph(int limit) override { return told(drawn(limit)); }

  Result<void> for_each(const std::function<Result<void>(const Item&)>& visit) override {
    std::int64_t last = 0;
    for (;;) {
      TRY_ASSIGN(const auto page, told(page_after(last)));
      for (const auto& [number, item] : page) {
        TRY(visit(item));
        last = number;
      }
      if (page.size() < kPage) return {};
    }
  }

 private:
  using Numbered = std::pair<std::int64_t, Item>;

  /// Errors say what to do about a knowledge store.
  template <class T>
  static Result<T> told(Result<T> result) {
    if (!result) return tl::make_unexpected(about_knowledge(std::move(result).error()));
    return result;
  }

  /// The statement, prepared once.
  Result<Statement*> sql(std::string_view text) {
    const auto known = statements_.find(text);
    if (known != statements_.end()) return &known->second;
    TRY_ASSIGN(Statement made, database_->prepare(text));
    return &statements_.emplace(std::string(text), std::move(made)).first->second;
  }

  /// Where the file is no longer the one at its path, what is written would reach nobody.
  Result<Transaction> begin() {
    if (database_->has_moved()) {
      return fail(ErrorCode::not_found, name_ +
                                            ": was moved, replaced or removed while it was in use; put it back, or "
                                            "name another store with --knowledge PATH");
    }
    return Transaction::begin(*database_);
  }

  template <class... Values>
  Result<void> run(std::string_view text, const Values&... values) {
    TRY_ASSIGN(Statement* const statement, sql(text));
    return SqlQuery(*statement, values...).run();
  }

  template <class... Values>
  Result<std::int64_t> number_of(std::string_view text, const Values&... values) {
    TRY_ASSIGN(Statement* const statement, sql(text));
    SqlQuery query(*statement, values...);
    TRY_ASSIGN(const bool any, query.next());
    return any ? query.integer(0) : 0;
  }

  // Rows -----------------------------------------------------------------------------------------------------------

  Result<Numbered> item_of(const SqlQuery& row) {
    TRY_ASSIGN(const Json json, base::parse_json(row.text(1), name_ + ": an experience"));
    Item item;
    TRY_ASSIGN(item.experience, base::decode<model::Experience>(json, name_ + ": an experience"));
    item.quarantined = row.integer(2) != 0;
    if (const std::string suspicions = row.text(3); suspicions != "[]") {
      TRY_ASSIGN(const Json list, base::parse_json(suspicions, name_ + ": suspicions"));
      TRY_ASSIGN(item.suspicions, base::decode<std::vector<std::string>>(list, name_ + ": suspicions"));
    }
    item.experience.credit = {row.integer(4), row.integer(5), row.integer(6), row.integer(7)};
    item.age = row.integer(8);
    return Numbered{row.integer(0), std::move(item)};
  }

  template <class... Values>
  Result<std::vector<Numbered>> items(const std::string& text, const Values&... values) {
    TRY_ASSIGN(Statement* const statement, sql(text));
    SqlQuery query(*statement, values...);
    std::vector<Numbered> found;
    for (;;) {
      TRY_ASSIGN(const bool more, query.next());
      if (!more) return found;
      TRY_ASSIGN(Numbered item, item_of(query));
      found.push_back(std::move(item));
    }
  }

  Result<std::vector<Numbered>> page_after(std::int64_t number) {
    return items(std::string(kItem) + "WHERE i.number > ? ORDER BY i.number LIMIT ?", number, kPage);
  }

  Result<Numbered> found(std::string_view id) {
    if (id.empty()) return fail(ErrorCode::invalid_argument, "an empty id fits every experience; give more of it");
    TRY_ASSIGN(auto fitting, items(std::string(kItem) + "WHERE i.id >= ? AND i.id < ? ORDER BY i.id LIMIT 6", id,
                                   std::string(id) + "~"));
    if (fitting.empty()) {
      return fail(ErrorCode::not_found,
                  "no experience " + std::string(id) + " in " + name_ + "; `accelopt memory list` shows them");
    }
    if (fitting.size() > 1 && fitting.front().second.experience.id != id) {
      std::string some;
      for (const auto& [number, item] : fitting) some += (some.empty() ? "" : ", ") + item.experience.id;
      return fail(ErrorCode::invalid_argument, "\"" + std::string(id) + "\" fits several experiences: " + some);
    }
    return std::move(fitting.front());
  }

  Result<Item> find(std::string_view id) {
    TRY_ASSIGN(Numbered item, found(id));
    return std::move(item.second);
  }

  // Writing --------------------------------------------------------------------------------------------------------

  Result<int> insert_all(std::span<const model::Experience> experiences, Forgotten forgotten) {
    std::vector<Fit> fits;
    fits.reserve(experiences.size());
    for (const model::Experience& experience : experiences) fits.push_back(made_fit(experience));
    TRY_ASSIGN(Transaction transaction, begin());
    std::map<std::string, std::int64_t> places;
    int fresh = 0;
    for (Fit& fit : fits) {
      if (forgotten == Forgotten::returns) {
        TRY(run("DELETE FROM forgotten WHERE id = ?", fit.experience.id));
      } else {
        TRY_ASSIGN(const std::int64_t gone, number_of("SELECT 1 FROM forgotten WHERE id = ?", fit.experience.id));
        if (gone != 0) continue;
      }
      if (fit.experience.created.empty()) fit.experience.created = base::utc_now();
      TRY_ASSIGN(const bool is_new, insert_one(fit, places));
      fresh += is_new ? 1 : 0;
    }
    for (const auto& [language, inserted] : places) {
      TRY(run("INSERT INTO languages VALUES(?, ?) ON CONFLICT(language) DO UPDATE SET inserted = excluded.inserted",
              language, inserted));
    }
    TRY(transaction.commit());
    return fresh;
  }

  Result<bool> insert_one(const Fit& fit, std::map<std::string, std::int64_t>& places) {
    const model::Experience& it = fit.experience;
    const auto [place, unknown] = places.try_emplace(it.language, 0);
    if (unknown) {
      TRY_ASSIGN(place->second, number_of("SELECT inserted FROM languages WHERE language = ?", it.language));
    }
    const std::string words = indexed_text(it);
    TRY(run(
        "INSERT INTO items(id, language, target, op_type, bound, run, polarity, place, worth, quarantined, suspicions, "
        "shown, used, confirmed, refuted, words, experience) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?) "
        "ON CONFLICT(id) DO NOTHING",
        it.id, it.language, it.target, it.op_type, it.bound, it.run, model::to_string(it.polarity), place->second,
        worth_of(it), text_of(fit.suspicions), it.credit.shown, it.credit.used, it.credit.confirmed, it.credit.refuted,
        words, text_of(it)));
    // Not by RETURNING: that opens a savepoint a row, at which the full-text index writes out all that it gathers.
    if (database_->changes() == 0) return false;
    const std::int64_t number = database_->last_row();
    ++place->second;
    TRY(run("INSERT INTO item_words(rowid, words) VALUES(?, ?)", number, words));
    return true;
  }

  Result<void> put_all(std::span<const SolutionRecord> solutions) {
    TRY_ASSIGN(Transaction transaction, begin());
    for (const SolutionRecord& it : solutions) {
      const std::optional<std::string> evaluation =
          it.evaluation.is_null() ? std::nullopt : std::optional(text_of(it.evaluation));
      TRY(run("INSERT INTO solutions VALUES(?, ?, ?, ?, ?, ?) ON CONFLICT(id) DO NOTHING", it.id, it.language, it.task,
              it.run, text_of(it.sources), evaluation));
    }
    return transaction.commit();
  }

  Result<std::optional<SolutionRecord>> find_solution(std::string_view id) {
    TRY_ASSIGN(Statement* const statement,
               sql("SELECT id, language, task, run, sources, evaluation FROM solutions WHERE id = ?"));
    SqlQuery query(*statement, id);
    TRY_ASSIGN(const bool any, query.next());
    if (!any) return std::nullopt;
    SolutionRecord record{.id = query.text(0), .language = query.text(1), .task = query.text(2), .run = query.text(3)};
    TRY_ASSIGN(record.sources, base::parse_json(query.text(4), name_ + ": a solution"));
    if (!query.is_null(5)) {
      TRY_ASSIGN(record.evaluation, base::parse_json(query.text(5), name_ + ": a solution's evaluation"));
    }
    return record;
  }

  /// Takes the item's words out of the index. To be called in a transaction.
  Result<void> unindex(std::int64_t number) {
    return run(
        "INSERT INTO item_words(item_words, rowid, words) SELECT 'delete', number, words FROM items WHERE "
        "number = ?",
        number);
  }

  Result<void> replace(const model::Experience& edited) {
    TRY_ASSIGN(Transaction transaction, begin());
    TRY_ASSIGN(const Numbered old, found(edited.id));
    Fit fit = made_fit(edited);
    model::Experience& it = fit.experience;
    const model::Experience& was = old.second.experience;
    it.id = was.id;
    it.run = was.run;
    it.iteration = was.iteration;
    it.created = was.created;
    it.credit = was.credit;
    TRY(run("INSERT INTO languages VALUES(?, 0) ON CONFLICT(language) DO NOTHING", it.language));
    TRY(unindex(old.first));
    const std::string words = indexed_text(it);
    TRY(
        run("UPDATE items SET language = ?, target = ?, op_type = ?, bound = ?, polarity = ?, worth = ?, suspicions = "
            "?, words = ?, experience = ? WHERE number = ?",
            it.language, it.target, it.op_type, it.bound, model::to_string(it.polarity), worth_of(it),
            text_of(fit.suspicions), words, text_of(it), old.first));
    TRY(run("INSERT INTO item_words(rowid, words) VALUES(?, ?)", old.first, words));
    return transaction.commit();
  }

  Result<void> remove(std::string_view id) {
    TRY_ASSIGN(Transaction transaction, begin());
    TRY_ASSIGN(const Numbered old, found(id));
    TRY(unindex(old.first));
    TRY(run("DELETE FROM items WHERE number = ?", old.first));
    TRY(run("INSERT INTO forgotten VALUES(?) ON CONFLICT DO NOTHING", old.second.experience.id));
    return transaction.commit();
  }

  Result<void> hide(std::string_view id, Visibility visibility) {
    TRY_ASSIGN(Transaction transaction, begin());
    TRY_ASSIGN(const Numbered old, found(id));
    TRY(run("UPDATE items SET quarantined = ? WHERE number = ?", visibility == Visibility::hidden ? 1 : 0, old.first));
    return transaction.commit();
  }

  Result<int> count(std::span<const CreditEvent> events) {
    TRY_ASSIGN(Transaction transaction, begin());
    int fresh = 0;
    for (const CreditEvent& event : events) {
      const std::optional<std::string> speedup =
          event.speedup ? std::optional(text_of(Json(*event.speedup))) : std::nullopt;
      TRY(
          run("INSERT INTO credit_events(id, experience, kind, run, plan, speedup) VALUES(?, ?, ?, ?, ?, ?) ON "
              "CONFLICT(id) DO NOTHING",
              event.id, event.experience, kind_name(event.kind), event.run, event.plan, speedup));
      if (database_->changes() == 0) continue;
      ++fresh;
      const bool shown = event.kind == CreditEvent::Kind::shown;
      const bool confirmed = event.kind == CreditEvent::Kind::confirmed;
      TRY(
          run("UPDATE items SET shown = shown + ?, used = used + ?, confirmed = confirmed + ?, refuted = refuted + ? "
              "WHERE id = ?",
              shown ? 1 : 0, shown ? 0 : 1, confirmed ? 1 : 0, shown || confirmed ? 0 : 1, event.experience));
      if (!shown) TRY(weigh(event.experience));
    }
    TRY(transaction.commit());
    return fresh;
  }

  /// Brings an item's worth up to its credit.
  Result<void> weigh(const std::string& id) {
    TRY_ASSIGN(const auto known, items(std::string(kItem) + "WHERE i.id = ?", id));
    for (const auto& [number, item] : known)
      TRY(run("UPDATE items SET worth = ? WHERE number = ?", worth_of(item.experience), number));
    return {};
  }

  // Reading --------------------------------------------------------------------------------------------------------

  /// The words that stand in few enough experiences to tell them apart, as an expression for the index; empty: none.
  Result<std::string> expression_of(std::string_view text) {
    std::vector<std::pair<std::int64_t, std::string>> rare;
    for (const std::string& word : words_of(text, kMostWords)) {
      TRY_ASSIGN(const std::int64_t places,
                 number_of("SELECT count(*) FROM (SELECT 1 FROM item_words WHERE item_words MATCH ? LIMIT ?)",
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

  Result<std::vector<Match>> matches_of(const Query& query) {
    const auto limit = static_cast<std::size_t>(std::max(0, query.limit));
    const std::string families = text_of(Json(query.without_op_types));
    std::vector<std::pair<std::int64_t, double>> chosen;
    std::set<std::int64_t> known;
    TRY_ASSIGN(const std::string expression, expression_of(query.text + " " + query.op_type + " " + query.bound));
    if (!expression.empty()) {
      TRY_ASSIGN(Statement* const statement,
                 sql("SELECT i.number, bm25(item_words) FROM item_words JOIN items i ON i.number = item_words.rowid "
                     "WHERE item_words MATCH ? AND " +
                     std::string(kFits) + "ORDER BY bm25(item_words) LIMIT ?"));
      SqlQuery rows(*statement, expression, query.language, query.target, query.without_run, query.without_run,
                    families, static_cast<std::int64_t>((limit + 1) / 2));
      double best = 0;
      for (;;) {
        TRY_ASSIGN(const bool more, rows.next());
        if (!more) break;
        const double score = std::max(0.0, -rows.real(1));  // the better, the more negative
        best = std::max(best, score);
        if (known.insert(rows.integer(0)).second) chosen.emplace_back(rows.integer(0), score);
      }
      for (auto& [number, score] : chosen) score = best > 0 ? score / best : 0;
    }
    const auto add = [&](std::string_view from, std::string_view further, std::size_t most,
                         const auto&... values) -> Result<void> {
      TRY_ASSIGN(Statement* const statement, sql("SELECT i.number FROM items i " + std::string(from) + " WHERE " +
                                                 std::string(kFits) + std::string(further) + " LIMIT ?"));
      SqlQuery rows(*statement, query.language, query.target, query.without_run, query.without_run, families, values...,
                    static_cast<std::int64_t>(limit));
      while (chosen.size() < std::min(most, limit)) {
        TRY_ASSIGN(const bool more, rows.next());
        if (!more) break;
        if (known.insert(rows.integer(0)).second) chosen.emplace_back(rows.integer(0), 0.0);
      }
      return {};
    };
    // Beside those with the same words: the worthiest, those of the same kind, and the newest.
    TRY(add("INDEXED BY items_by_worth", "ORDER BY i.worth DESC", chosen.size() + limit / 8));
    TRY(add("INDEXED BY items_by_kind", "AND i.op_type = ? ORDER BY i.number DESC", limit - limit / 16, query.op_type));
    TRY(add("NOT INDEXED", "ORDER BY i.number DESC", limit));
    std::vector<Match> matches;
    for (const auto& [number, similarity] : chosen) {
      TRY_ASSIGN(auto found, items(std::string(kItem) + "WHERE i.number = ?", number));
      if (!found.empty()) matches.push_back({std::move(found.front().second), similarity});
    }
    return matches;
  }

  template <class... First>
  Result<std::vector<Item>> filtered(const std::string& text, const Filter& filter, const First&... first) {
    const std::string polarity(filter.polarity ? model::to_string(*filter.polarity) : "");
    const std::int64_t quarantined = three_ways(filter.quarantined);
    const std::int64_t suspicious = three_ways(filter.suspicious);
    TRY_ASSIGN(auto found,
               items(text, first..., filter.language, filter.language, filter.op_type, filter.op_type, filter.target,
                     filter.target, filter.run, filter.run, polarity, polarity, quarantined, quarantined, suspicious,
                     suspicious, filter.limit == 0 ? -1 : filter.limit, filter.offset));
    std::vector<Item> list;
    for (auto& [number, item] : found) list.push_back(std::move(item));
    return list;
  }

  Result<std::vector<Item>> listed(const Filter& filter) {
    return filtered(std::string(kItem) + "WHERE " + std::string(kListed) + "ORDER BY i.number DESC LIMIT ? OFFSET ?",
                    filter);
  }

  Result<std::vector<Item>> searched(std::string_view text, const Filter& filter) {
    std::string expression;
    for (const std::string& word : words_of(text, kMostWords))
      expression += (expression.empty() ? "\"" : " OR \"") + word + "\"";
    if (expression.empty()) return std::vector<Item>();
    return filtered(std::string(kItem) +
                        "JOIN item_words ON item_words.rowid = i.number WHERE item_words MATCH ? AND " +
                        std::string(kListed) + "ORDER BY bm25(item_words), i.number DESC LIMIT ? OFFSET ?",
                    filter, expression);
  }

  Result<StoreStats> counted() {
    StoreStats stats;
    TRY_ASSIGN(stats.experiences, number_of("SELECT count(*) FROM items"));
    TRY_ASSIGN(stats.quarantined, number_of("SELECT count(*) FROM items WHERE quarantined <> 0"));
    TRY_ASSIGN(stats.suspicious, number_of("SELECT count(*) FROM items WHERE suspicions <> '[]'"));
    TRY_ASSIGN(stats.forgotten, number_of("SELECT count(*) FROM forgotten"));
    TRY_ASSIGN(stats.solutions, number_of("SELECT count(*) FROM solutions"));
    TRY_ASSIGN(stats.credit_events, number_of("SELECT count(*) FROM credit_events"));
    TRY_ASSIGN(stats.bytes, number_of("SELECT (SELECT page_count FROM pragma_page_count) * (SELECT page_size FROM "
                                      "pragma_page_size)"));
    const auto group = [&](const std::string& column, auto& out) -> Result<void> {
      TRY_ASSIGN(Statement* const statement, sql("SELECT " + column + ", count(*) FROM items GROUP BY " + column +
                                                 " ORDER BY count(*) DESC, " + column));
      SqlQuery rows(*statement);
      for (;;) {
        TRY_ASSIGN(const bool more, rows.next());
        if (!more) return {};
        out.emplace_back(rows.text(0), rows.integer(1));
      }
    };
    TRY(group("language", stats.by_language));
    TRY(group("op_type", stats.by_op_type));
    TRY(group("polarity", stats.by_polarity));
    return stats;
  }

  Result<Graph> drawn(int limit) {
    TRY_ASSIGN(const auto newest, listed({.limit = limit}));
    Graph graph;
    std::set<std::string> known;
    const auto node = [&](const std::string& kind, const std::string& id, const std::string& label) {
      const std::string name = kind + ":" + id;
      if (known.insert(name).second) graph.nodes.push_back({name, label});
      return name;
    };
    for (const Item& item : newest) {
      const model::Experience& it = item.experience;
      char speedup[32] = "";
      if (it.effect) std::snprintf(speedup, sizeof speedup, "%.2fx", it.effect->estimate);
      const std::string optimization = node("optimization", it.id, it.title);
      if (!it.slow.empty() && !it.fast.empty()) {
        graph.edges.push_back({node("solution", it.slow, it.slow.substr(0, 12)), "improved_by",
                               node("solution", it.fast, it.fast.substr(0, 12)),
                               std::string(speedup) + " " + it.title});
      }
      const std::string& task = it.task.empty() ? it.op_type : it.task;
      if (!task.empty()) graph.edges.push_back({optimization, "seen_on", node("task", task, task), speedup});
      TRY_ASSIGN(Statement* const statement, sql("SELECT run, plan, kind FROM credit_events WHERE experience = ? AND "
                                                 "kind <> 'shown' ORDER BY number"));
      SqlQuery rows(*statement, it.id);
      for (;;) {
        TRY_ASSIGN(const bool more, rows.next());
        if (!more) break;
        const std::string plan = node("plan", rows.text(0) + "/" + rows.text(1), rows.text(1));
        graph.edges.push_back({plan, "rests_on", optimization, rows.text(2)});
      }
    }
    return graph;
  }

  std::unique_ptr<Database> database_;
  std::map<std::string, Statement, std::less<>> statements_;  ///< must go before the database
  fs::path file_;
  std::string name_;
};

Result<std::unique_ptr<Database>> open_database(const fs::path& file, const KnowledgeFileOptions& options) {
  TRY(journal::check_file(file, kKnowledgeFormat));
  if (options.access == KnowledgeFileOptions::Access::read_write) {
    if (const fs::path folder = file.parent_path(); !folder.empty()) TRY(base::make_folders(folder));
    return journal::open_for_writing(file, kKnowledgeFormat, options.busy_timeout);
  }
  TRY_ASSIGN(journal::Reading reading, journal::open_for_reading(file, kKnowledgeFormat, options.busy_timeout));
  if (!reading.database) return fail(ErrorCode::not_found, file.string() + ": there is no knowledge store yet");
  if (reading.version == kKnowledgeFormat.version) return std::move(reading.database);
  // What is only read is not brought up to date.
  reading.database.reset();
  if (const auto upgraded = journal::open_for_writing(file, kKnowledgeFormat, options.busy_timeout); !upgraded)
    return tl::make_unexpected(base::with_context(upgraded.error(), "an older store has to be brought up to date"));
  TRY_ASSIGN(reading, journal::open_for_reading(file, kKnowledgeFormat, options.busy_timeout));
  return std::move(reading.database);
}

}  // namespace

Result<std::unique_ptr<KnowledgeStore>> open_knowledge_file(const fs::path& file, const KnowledgeFileOptions& options) {
  auto database = open_database(file, options);
  if (!database) return tl::make_unexpected(about_knowledge(std::move(database).error()));
  return std::make_unique<KnowledgeFile>(std::move(*database), file);
}

}  // namespace accelopt::memory
