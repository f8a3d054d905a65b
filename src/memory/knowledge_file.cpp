// SPDX-License-Identifier: Apache-2.0
#include "memory/knowledge_file.hpp"

#include <unistd.h>

#include <map>
#include <set>

#include "base/files.hpp"
#include "base/text.hpp"
#include "base/utc.hpp"
#include "memory/knowledge_rows.hpp"
#include "memory/knowledge_schema.hpp"
#include "memory/knowledge_search.hpp"
#include "memory/sanitation.hpp"
#include "memory/utility.hpp"
#include "memory/words.hpp"

namespace accelopt::memory {

using base::Database;
using base::ErrorCode;
using base::fail;
using base::Json;
using base::Result;
using base::Transaction;
using SqlQuery = base::Query;

namespace {

namespace fs = std::filesystem;

/// Items whose text something else wrote over, as far as can be told without reading what it says.
constexpr std::string_view kDamaged =
    "SELECT number FROM items WHERE CASE WHEN json_valid(experience) THEN coalesce(json_type(experience, '$.title'), "
    "'') <> 'text' ELSE 1 END";
/// How many of a language were inserted: as counted, or, where that count is gone, as its items tell.
constexpr std::string_view kInserted =
    "SELECT coalesce((SELECT inserted FROM languages WHERE language = ?1), (SELECT max(place) + 1 FROM items WHERE "
    "language = ?1), 0)";
/// Solutions of the item that no other item speaks of.
constexpr std::string_view kForgetSolutions =
    "DELETE FROM solutions WHERE id IN (SELECT s.id FROM solutions s JOIN items i ON i.number = ?1 WHERE "
    "instr(i.experience, '\"' || s.id || '\"') > 0) AND NOT EXISTS (SELECT 1 FROM items o WHERE o.number <> ?1 AND "
    "instr(o.experience, '\"' || solutions.id || '\"') > 0)";
/// Items that are read at once when all are gone through.
constexpr int kPage = 200;

std::string text_of(const Json& value) {
  return base::canonical(value);
}

class KnowledgeFile final : public KnowledgeStore {
 public:
  KnowledgeFile(std::unique_ptr<Database> database, const fs::path& file) : rows_(std::move(database), file.string()) {}

  [[nodiscard]] const std::string& name() const override { return rows_.name(); }
  [[nodiscard]] const std::vector<Unreadable>& unreadable() const override { return rows_.unreadable(); }

  Result<int> insert(std::span<const model::Experience> experiences, Forgotten forgotten,
                     const std::set<std::string>& hidden) override {
    return told(insert_all(experiences, forgotten, hidden));
  }
  Result<void> put_solutions(std::span<const SolutionRecord> solutions) override { return told(put_all(solutions)); }
  Result<std::vector<SolutionRecord>> solutions(std::span<const std::string> ids) override {
    return told(rows_.solutions(ids));
  }
  Result<Item> get(std::string_view id) override { return told(find(id)); }
  Result<std::vector<Match>> retrieve(const Query& query) override {
    rows_.clear_unreadable();
    return told(matches_of(rows_, query));
  }
  Result<std::vector<Item>> list(const Filter& filter) override {
    rows_.clear_unreadable();
    return told(listed(rows_, filter));
  }
  Result<std::vector<Item>> search(std::string_view text, const Filter& filter) override {
    rows_.clear_unreadable();
    return told(searched(rows_, text, filter));
  }
  Result<Item> edit(std::string_view id, const Change& change) override { return told(replace(id, change)); }
  Result<Removal> forget(std::string_view id) override { return told(remove(id)); }
  Result<void> quarantine(std::string_view id, Visibility visibility) override { return told(hide(id, visibility)); }
  Result<std::vector<std::string>> hidden(std::span<const std::string> ids) override { return told(hidden_of(ids)); }
  Result<int> credit(std::span<const CreditEvent> events) override { return told(count(events)); }
  Result<StoreStats> stats() override { return told(counted()); }
  Result<Graph> graph(int limit) override {
    rows_.clear_unreadable();
    return told(drawn(limit));
  }

  Result<void> for_each(const std::function<Result<void>(const Item&)>& visit) override {
    rows_.clear_unreadable();
    std::int64_t last = 0;
    for (;;) {
      TRY_ASSIGN(const auto page, told(page_after(last)));
      for (const auto& [number, item] : page.items) TRY(visit(item));
      if (page.rows < kPage) return {};
      last = page.last;
    }
  }

 private:
  using Numbered = KnowledgeRows::Numbered;

  /// Errors say what to do about a knowledge store.
  template <class T>
  static Result<T> told(Result<T> result) {
    if (!result) return tl::make_unexpected(about_knowledge(std::move(result).error()));
    return result;
  }

  Result<KnowledgeRows::Page> page_after(std::int64_t number) {
    return rows_.page(std::string(kItem) + "WHERE i.number > ? ORDER BY i.number LIMIT ?", number, kPage);
  }

  /// A row, readable or not.
  struct Place {
    std::int64_t number = 0;
    std::string id;
  };

  Result<Place> found(std::string_view id) {
    if (id.empty()) return fail(ErrorCode::invalid_argument, "an empty id fits every experience; give more of it");
    TRY_ASSIGN(const auto fitting, rows_.sql().all(
                                       "SELECT number, id FROM items WHERE id >= ? AND id < ? ORDER BY id LIMIT 6",
                                       [](const SqlQuery& row) {
                                         return Place{row.integer(0), row.text(1)};
                                       },
                                       id, std::string(id) + "~"));
    if (fitting.empty()) {
      return fail(ErrorCode::not_found,
                  "no experience " + std::string(id) + " in " + name() + "; `accelopt memory list` shows them");
    }
    if (fitting.size() > 1 && fitting.front().id != id) {
      std::string some = base::joined(fitting, ", ", &Place::id);
      return fail(ErrorCode::invalid_argument, "\"" + std::string(id) + "\" fits several experiences: " + some);
    }
    return fitting.front();
  }

  Result<Item> item_at(const Place& place) {
    rows_.clear_unreadable();
    TRY_ASSIGN(auto items, rows_.items({&place.number, 1}));
    if (!items.empty()) return std::move(items.front());
    const std::string reason = rows_.unreadable().empty() ? "it is gone" : rows_.unreadable().front().reason;
    return fail(ErrorCode::corrupt, name() + ": experience " + place.id + " cannot be read (" + reason +
                                        "); `accelopt memory forget " + place.id + "` removes it");
  }

  Result<Item> find(std::string_view id) {
    TRY_ASSIGN(const Place place, found(id));
    return item_at(place);
  }

  // Writing --------------------------------------------------------------------------------------------------------

  Result<int> insert_all(std::span<const model::Experience> experiences, Forgotten forgotten,
                         const std::set<std::string>& hidden) {
    std::vector<Fit> fits;
    fits.reserve(experiences.size());
    for (const model::Experience& experience : experiences) fits.push_back(made_fit(experience));
    TRY_ASSIGN(Transaction transaction, rows_.begin());
    std::map<std::string, std::int64_t> places;
    int fresh = 0;
    for (Fit& fit : fits) {
      if (forgotten == Forgotten::returns) {
        TRY(rows_.sql().run("DELETE FROM forgotten WHERE id = ?", fit.experience.id));
      } else {
        TRY_ASSIGN(const std::int64_t gone,
                   rows_.sql().number_of("SELECT 1 FROM forgotten WHERE id = ?", fit.experience.id));
        if (gone != 0) continue;
      }
      if (fit.experience.created.empty()) fit.experience.created = base::utc_now();
      const auto visibility = hidden.contains(fit.experience.id) ? Visibility::hidden : Visibility::shown;
      TRY_ASSIGN(const bool is_new, insert_one(fit, visibility, places));
      fresh += is_new ? 1 : 0;
    }
    for (const auto& [language, inserted] : places) {
      TRY(rows_.sql().run(
          "INSERT INTO languages VALUES(?, ?) ON CONFLICT(language) DO UPDATE SET inserted = excluded.inserted",
          language, inserted));
    }
    TRY(transaction.commit());
    return fresh;
  }

  Result<bool> insert_one(const Fit& fit, Visibility visibility, std::map<std::string, std::int64_t>& places) {
    const model::Experience& it = fit.experience;
    const auto [place, unknown] = places.try_emplace(it.language, 0);
    if (unknown) {
      TRY_ASSIGN(place->second, rows_.sql().number_of(kInserted, it.language));
    }
    const std::string words = indexed_text(it);
    TRY(rows_.sql().run(
        "INSERT INTO items(id, language, target, op_type, bound, run, polarity, place, worth, quarantined, suspicions, "
        "shown, used, confirmed, refuted, words, experience) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
        "ON CONFLICT(id) DO NOTHING",
        it.id, it.language, it.target, it.op_type, it.bound, it.run, model::to_string(it.polarity), place->second,
        utility_of(it), visibility == Visibility::hidden ? 1 : 0, text_of(fit.suspicions), it.credit.shown,
        it.credit.used, it.credit.confirmed, it.credit.refuted, words, text_of(it)));
    // Not by RETURNING: that opens a savepoint a row, at which the full-text index writes out all that it gathers.
    if (rows_.sql().changes() == 0) return false;
    const std::int64_t number = rows_.sql().last_row();
    ++place->second;
    TRY(rows_.sql().run("INSERT INTO item_words(rowid, words) VALUES(?, ?)", number, words));
    return true;
  }

  Result<void> put_all(std::span<const SolutionRecord> solutions) {
    TRY_ASSIGN(Transaction transaction, rows_.begin());
    for (const SolutionRecord& it : solutions) {
      const std::optional<std::string> evaluation =
          it.evaluation.is_null() ? std::nullopt : std::optional(text_of(it.evaluation));
      TRY(rows_.sql().run("INSERT INTO solutions VALUES(?, ?, ?, ?, ?, ?) ON CONFLICT(id) DO NOTHING", it.id,
                          it.language, it.task, it.run, text_of(it.sources), evaluation));
    }
    return transaction.commit();
  }

  /// Takes the item's words out of the index. To be called in a transaction.
  Result<void> unindex(std::int64_t number) {
    return rows_.sql().run(
        "INSERT INTO item_words(item_words, rowid, words) SELECT 'delete', number, words FROM items WHERE "
        "number = ?",
        number);
  }

  Result<Item> replace(std::string_view id, const Change& change) {
    TRY_ASSIGN(Transaction transaction, rows_.begin());
    TRY_ASSIGN(const Place place, found(id));
    TRY_ASSIGN(Item item, item_at(place));
    const model::Experience was = item.experience;
    TRY_ASSIGN(const model::Experience edited, change(was));
    Fit fit = made_fit(edited);
    model::Experience& it = fit.experience;
    it.id = was.id;
    it.run = was.run;
    it.iteration = was.iteration;
    it.created = was.created;
    it.credit = was.credit;
    if (it.language != was.language) TRY(take_new_place(place.number, it.language));
    TRY(unindex(place.number));
    const std::string words = indexed_text(it);
    TRY(rows_.sql().run(
        "UPDATE items SET language = ?, target = ?, op_type = ?, bound = ?, polarity = ?, worth = ?, suspicions = ?, "
        "words = ?, experience = ? WHERE number = ?",
        it.language, it.target, it.op_type, it.bound, model::to_string(it.polarity), utility_of(it),
        text_of(fit.suspicions), words, text_of(it), place.number));
    TRY(rows_.sql().run("INSERT INTO item_words(rowid, words) VALUES(?, ?)", place.number, words));
    TRY(transaction.commit());
    if (it.language != was.language) item.age = 0;
    item.experience = std::move(it);
    item.suspicions = std::move(fit.suspicions);
    return item;
  }

  /// The item is the newest of that language, as if it had been inserted into it now: ages are counted by language.
  Result<void> take_new_place(std::int64_t number, const std::string& language) {
    TRY_ASSIGN(const std::int64_t inserted, rows_.sql().number_of(kInserted, language));
    TRY(rows_.sql().run("UPDATE items SET place = ? WHERE number = ?", inserted, number));
    return rows_.sql().run(
        "INSERT INTO languages VALUES(?, ?) ON CONFLICT(language) DO UPDATE SET inserted = excluded.inserted", language,
        inserted + 1);
  }

  Result<Removal> remove(std::string_view id) {
    TRY_ASSIGN(Transaction transaction, rows_.begin());
    TRY_ASSIGN(const Place place, found(id));
    TRY_ASSIGN(const auto readable, rows_.items({&place.number, 1}));
    Removal removal{.id = place.id, .title = readable.empty() ? "" : readable.front().experience.title};
    TRY(rows_.sql().run(kForgetSolutions, place.number));
    removal.solutions = rows_.sql().changes();
    TRY(unindex(place.number));
    TRY(rows_.sql().run("DELETE FROM items WHERE number = ?", place.number));
    TRY(rows_.sql().run("INSERT INTO forgotten VALUES(?) ON CONFLICT DO NOTHING", place.id));
    TRY(transaction.commit());
    return removal;
  }

  Result<void> hide(std::string_view id, Visibility visibility) {
    TRY_ASSIGN(Transaction transaction, rows_.begin());
    TRY_ASSIGN(const Place place, found(id));
    TRY(rows_.sql().run("UPDATE items SET quarantined = ? WHERE number = ?", visibility == Visibility::hidden ? 1 : 0,
                        place.number));
    return transaction.commit();
  }

  Result<std::vector<std::string>> hidden_of(std::span<const std::string> ids) {
    return rows_.sql().all(
        "SELECT value FROM json_each(?) WHERE value IN (SELECT id FROM forgotten) OR EXISTS (SELECT 1 FROM items i "
        "WHERE i.id = value AND i.quarantined <> 0)",
        [](const SqlQuery& row) { return row.text(0); },
        text_of(Json(std::vector<std::string>(ids.begin(), ids.end()))));
  }

  Result<int> count(std::span<const CreditEvent> events) {
    TRY_ASSIGN(Transaction transaction, rows_.begin());
    int fresh = 0;
    for (const CreditEvent& event : events) {
      const std::optional<std::string> speedup =
          event.speedup ? std::optional(text_of(Json(*event.speedup))) : std::nullopt;
      TRY(rows_.sql().run(
          "INSERT INTO credit_events(id, experience, kind, run, plan, speedup) VALUES(?, ?, ?, ?, ?, ?) ON "
          "CONFLICT(id) DO NOTHING",
          event.id, event.experience, base::name_in(kCreditKinds, event.kind), event.run, event.plan, speedup));
      if (rows_.sql().changes() == 0) continue;
      ++fresh;
      const bool shown = event.kind == CreditEvent::Kind::shown;
      const bool confirmed = event.kind == CreditEvent::Kind::confirmed;
      TRY(rows_.sql().run(
          "UPDATE items SET shown = shown + ?, used = used + ?, confirmed = confirmed + ?, refuted = refuted + ? "
          "WHERE id = ?",
          shown ? 1 : 0, shown ? 0 : 1, confirmed ? 1 : 0, shown || confirmed ? 0 : 1, event.experience));
      if (!shown) TRY(weigh(event.experience));
    }
    TRY(transaction.commit());
    return fresh;
  }

  /// Brings an item's utility up to its credit.
  Result<void> weigh(const std::string& id) {
    TRY_ASSIGN(const auto known, rows_.page(std::string(kItem) + "WHERE i.id = ?", id));
    for (const auto& [number, item] : known.items)
      TRY(rows_.sql().run("UPDATE items SET worth = ? WHERE number = ?", utility_of(item.experience), number));
    return {};
  }

  // Reading --------------------------------------------------------------------------------------------------------

  Result<StoreStats> counted() {
    StoreStats stats;
    TRY_ASSIGN(stats.experiences, rows_.sql().number_of("SELECT count(*) FROM items"));
    TRY_ASSIGN(stats.quarantined, rows_.sql().number_of("SELECT count(*) FROM items WHERE quarantined <> 0"));
    TRY_ASSIGN(stats.suspicious, rows_.sql().number_of("SELECT count(*) FROM items WHERE suspicions <> '[]'"));
    TRY_ASSIGN(stats.forgotten, rows_.sql().number_of("SELECT count(*) FROM forgotten"));
    TRY_ASSIGN(stats.solutions, rows_.sql().number_of("SELECT count(*) FROM solutions"));
    TRY_ASSIGN(stats.credit_events, rows_.sql().number_of("SELECT count(*) FROM credit_events"));
    TRY_ASSIGN(stats.bytes,
               rows_.sql().number_of("SELECT (SELECT page_count FROM pragma_page_count) * (SELECT page_size FROM "
                                     "pragma_page_size)"));
    const auto group = [&](const std::string& column, auto& out) -> Result<void> {
      return rows_.sql().each(
          "SELECT " + column + ", count(*) FROM items GROUP BY " + column + " ORDER BY count(*) DESC, " + column,
          [&](const SqlQuery& row) { out.emplace_back(row.text(0), row.integer(1)); });
    };
    TRY(group("language", stats.by_language));
    TRY(group("op_type", stats.by_op_type));
    TRY(group("polarity", stats.by_polarity));
    TRY_ASSIGN(const auto numbers, rows_.sql().all(kDamaged, [](const SqlQuery& row) { return row.integer(0); }));
    rows_.clear_unreadable();
    TRY(rows_.items(numbers));
    stats.unreadable = rows_.unreadable();
    return stats;
  }

  Result<Graph> drawn(int limit) {
    TRY_ASSIGN(const auto newest, listed(rows_, {.limit = limit}));
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
      TRY(rows_.sql().each(
          "SELECT run, plan, kind FROM credit_events WHERE experience = ? AND kind <> 'shown' ORDER BY number",
          [&](const SqlQuery& row) {
            const std::string plan = node("plan", row.text(0) + "/" + row.text(1), row.text(1));
            graph.edges.push_back({plan, "rests_on", optimization, row.text(2)});
          },
          it.id));
    }
    return graph;
  }

  KnowledgeRows rows_;
};

/// The error, or what is wrong with the folder where that is why the file cannot be used: a log stands beside it.
base::Error about_folder(base::Error error, const fs::path& file) {
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  const bool told_already = error.code == ErrorCode::corrupt || error.code == ErrorCode::unavailable ||
                            error.code == ErrorCode::exhausted || error.code == ErrorCode::invalid_argument;
  std::error_code problem;
  if (told_already || !fs::exists(file, problem) || ::access(folder.c_str(), W_OK) == 0) return error;
  const fs::path log = file.string() + "-wal";
  const auto log_bytes = fs::file_size(log, problem);
  error.code = ErrorCode::permission_denied;
  if (!problem && log_bytes > 0) {
    error.message = file.string() + ": its newest changes stand in " + log.string() +
                    ", which can be read only where the folder may be written, and " + folder.string() +
                    " may not; make it writable, have somebody who may write there run `accelopt memory stats`, or "
                    "copy both files to a folder of your own";
  } else {
    error.message = file.string() + ": its folder " + folder.string() +
                    " may not be written, and changes are logged there; make it writable, or name another store with "
                    "--knowledge PATH";
  }
  return error;
}

Result<std::unique_ptr<Database>> open_to_write(const fs::path& file, const KnowledgeFileOptions& options) {
  if (const fs::path folder = file.parent_path(); !folder.empty()) TRY(base::make_folders(folder));
  return journal::open_for_writing(file, kKnowledgeFormat, options.busy_timeout);
}

Result<std::unique_ptr<Database>> open_to_read(const fs::path& file, const KnowledgeFileOptions& options) {
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

Result<std::unique_ptr<Database>> open_database(const fs::path& file, const KnowledgeFileOptions& options) {
  TRY(journal::check_file(file, kKnowledgeFormat));
  const bool writes = options.access == KnowledgeFileOptions::Access::read_write;
  auto database = writes ? open_to_write(file, options) : open_to_read(file, options);
  if (!database) return tl::make_unexpected(about_folder(std::move(database).error(), file));
  return database;
}

}  // namespace

Result<std::unique_ptr<KnowledgeStore>> open_knowledge_file(const fs::path& file, const KnowledgeFileOptions& options) {
  auto database = open_database(file, options);
  if (!database) return tl::make_unexpected(about_knowledge(std::move(database).error()));
  return std::make_unique<KnowledgeFile>(std::move(*database), file);
}

}  // namespace accelopt::memory
