// SPDX-License-Identifier: Apache-2.0
#include "journal/sqlite_journal.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <map>
#include <mutex>
#include <unordered_map>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/json_text.hpp"
#include "base/sqlite.hpp"
#include "journal/advice.hpp"
#include "journal/group_commit.hpp"
#include "journal/object_store.hpp"
#include "journal/rows.hpp"
#include "journal/schema.hpp"
#include "journal/step_filter.hpp"

namespace accelopt::journal {

using base::canonical;
using base::Database;
using base::ErrorCode;
using base::fail;
using base::Json;
using base::OpenMode;
using base::Query;
using base::Result;
using base::Transaction;
namespace fs = std::filesystem;

namespace {

/// What is larger lies in a file of the object store, so that the database stays small and quick to scan. Making a file
/// costs more than a row of this size.
constexpr std::size_t kMaxInlineBytes = std::size_t{16} << 10U;

/// What a connection that writes keeps of the database, KiB: rows of a large run's indexes come in no order, and each
/// page that was dropped is read again.
constexpr const char* kCacheSize = "PRAGMA cache_size = -32768";

/// Pages in the log before they are taken over into the database, 16 MiB: pages of indexes are written once instead of
/// once a thousand pages.
constexpr const char* kCheckpoint = "PRAGMA wal_autocheckpoint = 4000";

/// How many runs a message lists when a prefix fits several.
constexpr std::size_t kMaxListedRuns = 8;

constexpr std::string_view kFindStep =
    " FROM steps WHERE run = ? AND iteration = ? AND parent = ? AND plan = ? AND attempt = ? AND fix = ? AND kind = ? "
    "AND input_hash = ?";
constexpr std::string_view kInsertStep = ") VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)";
/// A replaced step gets a new number: `steps` lists by the time of writing.
constexpr std::string_view kReplaceStep =
    ") SELECT ?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13 WHERE NOT EXISTS(SELECT 1 FROM steps WHERE run = ?1 AND "
    "iteration = ?2 AND parent = ?3 AND plan = ?4 AND attempt = ?5 AND fix = ?6 AND kind = ?7 AND input_hash = ?8)";

const std::string kRecordNewStep =
    std::string("INSERT OR IGNORE INTO steps(run, ").append(kStepColumns).append(kInsertStep);
const std::string kRecordStepAgain =
    std::string("INSERT OR REPLACE INTO steps(run, ").append(kStepColumns).append(kReplaceStep);
const std::string kSelectStep = std::string("SELECT ").append(kStepColumns).append(kFindStep);

std::string first_text(const Query& row) {
  return row.text(0);
}

std::string sql(std::string_view begin, std::string_view columns, std::string_view end) {
  return std::string(begin).append(columns).append(end);
}

class SqliteJournal final : public Journal {
 public:
  SqliteJournal(std::unique_ptr<Database> database, std::unique_ptr<ObjectStore> objects, fs::path folder)
      : database_(std::move(database)), objects_(std::move(objects)), folder_(std::move(folder)) {}

  [[nodiscard]] fs::path folder() const override { return folder_; }

  Result<void> create_run(const RunInfo& run) override {
    const std::lock_guard lock(mutex_);
    TRY(still_there());
    const auto result = run.result ? std::optional(canonical(*run.result)) : std::nullopt;
    TRY(database_->run(
        sql("INSERT INTO runs(", kRunColumns, ", task) VALUES(?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT(id) DO NOTHING"),
        run.id, run.task_name, run.task_folder, std::bit_cast<std::int64_t>(run.seed), run.created,
        to_string(run.status), run.decision_hash, run.program_version, canonical(run.settings), result,
        canonical(Json(run.task))));
    if (database_->changes() == 0)
      return fail(ErrorCode::already_exists, name() + ": there is a run " + run.id + " already");
    return {};
  }

  Result<void> finish_run(std::string_view run, model::RunStatus status, const std::optional<Json>& result,
                          std::string_view decision_hash) override {
    writes_.settle();
    if (result) TRY(why_lost(run));
    forget_lost(run);
    written_.forget(run);
    const std::lock_guard lock(mutex_);
    const auto text = result ? std::optional(canonical(*result)) : std::nullopt;
    TRY(database_->run("UPDATE runs SET status = ?2, result = ?3, decision_hash = ?4 WHERE id = ?1", run,
                       to_string(status), text, decision_hash));
    return changed(run);
  }

  Result<void> change_settings(std::string_view run, const Json& settings) override {
    const std::lock_guard lock(mutex_);
    TRY(database_->run("UPDATE runs SET settings = ?2 WHERE id = ?1", run, canonical(settings)));
    return changed(run);
  }

  Result<RunInfo> find_run(std::string_view prefix) override {
    const std::lock_guard lock(mutex_);
    TRY_ASSIGN(const std::string id, full_id(prefix));
    TRY_ASSIGN(auto run, database_->first(
                             sql("SELECT ", kRunColumns, ", task FROM runs WHERE id = ?"),
                             [](const Query& row) { return read_run(row, TaskColumn::present); }, id));
    if (!run) return no_run(prefix);
    return *std::move(run);
  }

  Result<std::vector<RunInfo>> list_runs() override {
    const std::lock_guard lock(mutex_);
    return database_->all(sql("SELECT ", kRunColumns, " FROM runs ORDER BY number DESC"),
                          [](const Query& row) { return read_run(row, TaskColumn::absent); });
  }

  Result<std::optional<StepRecord>> find_step(std::string_view run, const StepKey& key,
                                              std::string_view input_hash) override {
    if (written_.lacks(run, key, input_hash)) return std::nullopt;
    writes_.settle();
    std::optional<StepRow> row;
    {
      const std::lock_guard lock(mutex_);
      TRY_ASSIGN(const std::int64_t number, run_number(run));
      const model::Identity& id = key.identity;
      TRY_ASSIGN(row, database_->first(kSelectStep, read_step, number, id.iteration, id.parent, id.plan, id.attempt,
                                       id.fix, key.kind, input_hash));
    }
    if (!row) return std::nullopt;
    TRY_ASSIGN(StepRecord step, complete(*std::move(row)));
    return step;
  }

  Result<void> record_step(std::string_view run, const StepRecord& step) override {
    TRY_ASSIGN(const StepToWrite to_write, ready(written(step)));
    TRY(note_written(run, step.key, step.input_hash));
    return writes_.run([&] { return insert_step(run, to_write); });
  }

  Result<void> record_soon(std::string_view run, WrittenStep step) override {
    TRY(why_lost(run));
    TRY_ASSIGN(StepToWrite to_write, ready(std::move(step)));
    TRY(note_written(run, to_write.step.key, to_write.step.input_hash));
    writes_.queue(std::make_unique<QueuedStep>(*this, std::string(run), std::move(to_write)));
    return {};
  }

  Result<void> settle(std::string_view run) override {
    writes_.settle();
    return why_lost(run);
  }

  Result<void> settle_own(std::string_view run) override {
    writes_.settle_own();
    return why_lost(run);
  }

  void begin_own() override { GroupCommit::begin_own(); }

  Result<std::vector<StepRecord>> steps(std::string_view run) override {
    writes_.settle();
    std::vector<StepRow> rows;
    {
      const std::lock_guard lock(mutex_);
      TRY_ASSIGN(const std::int64_t number, run_number(run));
      TRY_ASSIGN(rows, database_->all(sql("SELECT ", kStepColumns, " FROM steps WHERE run = ? ORDER BY number"),
                                      read_step, number));
    }
    std::vector<StepRecord> steps;
    for (StepRow& row : rows) {
      TRY_ASSIGN(StepRecord step, complete(std::move(row)));
      steps.push_back(std::move(step));
    }
    return steps;
  }

  Result<std::string> store(std::string_view bytes) override {
    if (bytes.size() > kMaxInlineBytes) return objects_->put(bytes);
    std::string hash = base::sha256_hex(bytes);
    TRY(writes_.run([&] { return keep_text(hash, bytes); }));
    return hash;
  }

  Result<std::string> load(std::string_view sha256) override {
    writes_.settle();
    std::optional<std::string> text;
    {
      const std::lock_guard lock(mutex_);
      // A journal of an older version, which is only read, has no such table until another process brings it up.
      if (!has_texts_) {
        TRY_ASSIGN(has_texts_, database_->has_tables({"texts"}));
      }
      if (has_texts_) {
        TRY_ASSIGN(text, database_->first("SELECT bytes FROM texts WHERE hash = ?", first_text, sha256));
      }
    }
    if (!text) return objects_->get(sha256);
    if (base::sha256_hex(*text) == sha256) return *std::move(text);
    return fail(ErrorCode::corrupt, name() + ": the text " + std::string(sha256) +
                                        " is not the one that its name stands for; restore the file from a copy");
  }

  Result<model::Solution> load_solution(std::string_view source_id) override {
    std::optional<std::string> object;
    {
      const std::lock_guard lock(mutex_);
      TRY_ASSIGN(object, database_->first("SELECT object FROM solutions WHERE source_id = ?", first_text, source_id));
    }
    if (!object) return fail(ErrorCode::not_found, name() + ": holds no solution " + std::string(source_id));
    TRY_ASSIGN(const std::string text, referenced(*object));
    return decode_stored<model::Solution>(text, "solution " + std::string(source_id));
  }

  Result<void> record_solutions(const std::vector<model::Kernel>& solutions) override {
    struct Text {
      const model::Kernel* kernel;
      std::string object;
      std::optional<std::string> small;
    };
    std::vector<Text> texts;
    for (const model::Kernel& kernel : solutions) {
      std::string text = base::json_of(kernel.solution());
      if (text.size() > kMaxInlineBytes) {
        TRY_ASSIGN(std::string object, objects_->put(text));
        texts.push_back({&kernel, std::move(object), std::nullopt});
      } else {
        std::string hash = base::sha256_hex(text);
        texts.push_back({&kernel, std::move(hash), std::move(text)});
      }
    }
    return writes_.run(
        [&]() -> Result<void> {
          for (const Text& text : texts) {
            if (text.small) TRY(keep_text(text.object, *text.small));
            TRY(name_solution(text.kernel->id(), text.kernel->solution(), text.object));
          }
          return {};
        },
        GroupCommit::Statements::several);
  }

  Result<void> record_experience(std::string_view run, const model::Experience& experience) override {
    writes_.settle();
    const std::lock_guard lock(mutex_);
    TRY_ASSIGN(const std::int64_t number, run_number(run));
    return database_->run(
        "INSERT INTO experiences(run, id, experience) VALUES(?,?,?) ON CONFLICT(run, id) DO UPDATE SET experience = "
        "excluded.experience",
        number, experience.id, canonical(Json(experience)));
  }

  Result<std::vector<model::Experience>> experiences(std::string_view run) override {
    const std::lock_guard lock(mutex_);
    TRY_ASSIGN(const std::int64_t number, run_number(run));
    return database_->all(
        "SELECT experience FROM experiences WHERE run = ? ORDER BY number",
        [](const Query& row) { return decode_stored<model::Experience>(row.text(0), "an experience"); }, number);
  }

  Result<void> post(std::string_view run, std::string_view key, std::string_view place, const Json& content) override {
    writes_.settle();
    const std::lock_guard lock(mutex_);
    TRY_ASSIGN(const std::int64_t number, run_number(run));
    return database_->run("INSERT OR IGNORE INTO parcels(run, key, place, content) VALUES(?,?,?,?)", number, key, place,
                          canonical(content));
  }

  Result<std::vector<OutboxItem>> waiting_for(std::string_view place, int most) override {
    const std::lock_guard lock(mutex_);
    TRY_ASSIGN(const bool has_parcels, database_->has_tables({"parcels"}));
    if (!has_parcels) return std::vector<OutboxItem>();  // an older version wrote it, and it is only read
    return database_->all(
        "SELECT p.number, r.id, p.key, p.content FROM parcels p JOIN runs r ON r.number = p.run WHERE p.place = ? AND "
        "p.content IS NOT NULL ORDER BY p.number LIMIT ?",
        [](const Query& row) -> Result<OutboxItem> {
          TRY_ASSIGN(Json content, decode_stored<Json>(row.text(3), "what waits in the outbox"));
          return OutboxItem{row.integer(0), row.text(1), row.text(2), std::move(content)};
        },
        place, most);
  }

  Result<void> delivered(std::int64_t number) override {
    const std::lock_guard lock(mutex_);
    return database_->run("UPDATE parcels SET content = NULL WHERE number = ?", number);
  }

 private:
  /// A step whose long texts are in the object store.
  struct StepToWrite {
    WrittenStep step;  ///< its input's text is empty where it is there
    std::string usage;
    std::optional<std::string> object{};  ///< where the output is there
  };

  class QueuedStep final : public GroupCommit::Queued {
   public:
    QueuedStep(SqliteJournal& journal, std::string run, StepToWrite to_write)
        : journal_(journal), run_(std::move(run)), to_write_(std::move(to_write)) {}

    Result<void> write() override {
      const WrittenStep& step = to_write_.step;
      if (!step.input_text.empty()) TRY(journal_.keep_text(step.input_hash, step.input_text));
      return journal_.insert_step(run_, to_write_);
    }
    void lost(const base::Error& error) override { journal_.note_lost(run_, error); }

   private:
    SqliteJournal& journal_;
    std::string run_;
    StepToWrite to_write_;
  };

  [[nodiscard]] const std::string& name() const { return database_->name(); }

  tl::unexpected<base::Error> no_run(std::string_view run) const {
    return fail(ErrorCode::not_found,
                name() + ": there is no run \"" + std::string(run) + "\"; `accelopt runs` lists them");
  }

  /// Where the file is no longer the one at its path, what is recorded would reach nobody.
  Result<void> still_there() const {
    if (!database_->has_moved()) return {};
    return fail(ErrorCode::not_found,
                name() + ": was moved, replaced or removed while it was in use; put it back, then resume");
  }

  /// Of the statement just run. @error not_found: it found no such run.
  Result<void> changed(std::string_view run) const {
    if (database_->changes() == 0) return no_run(run);
    return {};
  }

  /// The run's number in the tables. The mutex is held. @error not_found.
  Result<std::int64_t> run_number(std::string_view run) {
    if (const auto known = run_numbers_.find(run); known != run_numbers_.end()) return known->second;
    TRY_ASSIGN(const std::int64_t number, database_->number_of("SELECT number FROM runs WHERE id = ?", run));
    if (number == 0) return no_run(run);
    return run_numbers_[std::string(run)] = number;
  }

  /// The id that a full id, a unique prefix or "last" means. The mutex is held.
  Result<std::string> full_id(std::string_view prefix) {
    if (prefix == "last") {
      TRY_ASSIGN(auto last, database_->first("SELECT id FROM runs ORDER BY number DESC LIMIT 1", first_text));
      if (!last) return fail(ErrorCode::not_found, name() + ": there is no run yet; `accelopt run TASK` makes one");
      return *std::move(last);
    }
    TRY_ASSIGN(const auto fitting,
               database_->all("SELECT id FROM runs WHERE substr(id, 1, length(?1)) = ?1 ORDER BY number DESC",
                              first_text, prefix));
    if (std::ranges::find(fitting, prefix) != fitting.end()) return std::string(prefix);
    if (fitting.empty()) return no_run(prefix);
    if (fitting.size() == 1) return fitting.front();
    std::string list;
    for (std::size_t i = 0; i < std::min(fitting.size(), kMaxListedRuns); ++i) list += (i ? ", " : "") + fitting[i];
    if (fitting.size() > kMaxListedRuns) list += ", ...";
    return fail(ErrorCode::invalid_argument, name() + ": \"" + std::string(prefix) + "\" fits " +
                                                 std::to_string(fitting.size()) + " runs: " + list +
                                                 "; give more of the id");
  }

  /// The mutex is not held.
  Result<StepToWrite> ready(WrittenStep step) {
    std::string usage = base::json_of(step.usage);
    StepToWrite out{std::move(step), std::move(usage)};
    if (out.step.output.size() > kMaxInlineBytes) {
      TRY_ASSIGN(out.object, objects_->put(out.step.output));
      out.step.output.clear();
    }
    if (out.step.input_text.size() > kMaxInlineBytes) {
      TRY(objects_->put(out.step.input_text));
      out.step.input_text.clear();
    }
    return out;
  }

  /// Of a run that this object writes its steps are looked up only where they may be on record. The mutex is not held.
  Result<void> note_written(std::string_view run, const StepKey& key, std::string_view input_hash) {
    return written_.add(run, key, input_hash, [&](const auto& see) -> Result<void> {
      const std::lock_guard lock(mutex_);
      TRY_ASSIGN(const std::int64_t number, run_number(run));
      return database_->each(
          "SELECT iteration, parent, plan, attempt, fix, kind, input_hash FROM steps WHERE run = ?",
          [&](const Query& row) { see(read_step_key(row), row.text(6)); }, number);
    });
  }

  void note_lost(const std::string& run, const base::Error& error) {
    const std::lock_guard lock(lost_mutex_);
    // Whoever asks a model takes some failures for bad luck and goes on; of a record that has a hole none may.
    base::Error told = error;
    if (told.code == ErrorCode::unavailable || told.code == ErrorCode::internal) told.code = ErrorCode::io;
    lost_.try_emplace(run, std::move(told));
    any_lost_ = true;
  }

  Result<void> why_lost(std::string_view run) {
    if (!any_lost_) return {};
    const std::lock_guard lock(lost_mutex_);
    const auto found = lost_.find(std::string(run));
    if (found == lost_.end()) return {};
    return tl::make_unexpected(found->second);
  }

  /// The run ends here, and may be continued by this object.
  void forget_lost(std::string_view run) {
    const std::lock_guard lock(lost_mutex_);
    lost_.erase(std::string(run));
    any_lost_ = !lost_.empty();
  }

  // Of a write.

  Result<void> insert_step(std::string_view run, const StepToWrite& to_write) {
    TRY_ASSIGN(const std::int64_t number, run_number(run));
    const WrittenStep& step = to_write.step;
    const model::Identity& id = step.key.identity;
    const auto output = to_write.object ? std::nullopt : std::optional<std::string_view>(step.output);
    const auto insert = [&](const std::string& statement) {
      return database_->run(statement, number, id.iteration, id.parent, id.plan, id.attempt, id.fix, step.key.kind,
                            step.input_hash, to_write.usage, step.started.count(), step.duration.count(), output,
                            to_write.object);
    };
    TRY(insert(kRecordNewStep));
    if (database_->changes() > 0) return {};
    return insert(kRecordStepAgain);
  }

  Result<void> name_solution(std::string_view source_id, const model::Solution& solution, const std::string& object) {
    return database_->run("INSERT OR IGNORE INTO solutions(source_id, language, object) VALUES(?,?,?)", source_id,
                          to_string(solution.language), object);
  }

  Result<void> keep_text(std::string_view hash, std::string_view bytes) {
    return database_->run("INSERT OR IGNORE INTO texts(hash, bytes) VALUES(?,?)", hash, bytes);
  }

  /// An object that a row names: that it is absent is damage.
  Result<std::string> referenced(std::string_view object) {
    auto bytes = load(object);
    if (!bytes && bytes.error().code == ErrorCode::not_found) {
      return fail(ErrorCode::corrupt,
                  bytes.error().message + ", which " + name() + " refers to; restore it from a copy");
    }
    return bytes;
  }

  Result<StepRecord> complete(StepRow row) {
    if (!row.output_object.empty()) {
      TRY_ASSIGN(row.output, referenced(row.output_object));
    }
    TRY_ASSIGN(row.step.output, decode_stored<Json>(row.output, "output of step " + row.step.key.kind));
    return std::move(row.step);
  }

  std::mutex lost_mutex_;
  std::unordered_map<std::string, base::Error> lost_;  ///< the first write of a run that came to nothing
  std::atomic<bool> any_lost_ = false;
  StepFilter written_;

  std::mutex mutex_;  ///< guards what follows but the object store and the groups, which guard themselves
  std::unique_ptr<Database> database_;
  std::map<std::string, std::int64_t, std::less<>> run_numbers_;
  bool has_texts_ = false;
  std::unique_ptr<ObjectStore> objects_;
  fs::path folder_;
  GroupCommit writes_{*database_, mutex_,
                      [this] { return still_there(); }};  ///< last: what is left in its queue is written at its end
};

}  // namespace

WrittenStep written(StepRecord step, std::string input_text) {
  return {std::move(step.key), std::move(step.input_hash), canonical(step.output), step.usage, step.started,
          step.duration,       std::move(input_text)};
}

Result<std::unique_ptr<Database>> open_journal_database(const fs::path& folder, OpenOptions options) {
  const fs::path file = folder / "accelopt.db";
  if (auto checked = check_file(file, kJournalFormat); !checked)
    return tl::make_unexpected(advised(std::move(checked).error()));
  if (options.access == Access::read_write) return open_for_writing(file, kJournalFormat, options.busy_timeout);
  TRY_ASSIGN(Reading reading, open_for_reading(file, kJournalFormat, options.busy_timeout));
  if (!reading.database) {
    return fail(ErrorCode::not_found,
                file.string() + ": no journal; `accelopt run TASK` makes one, or name its folder with --workspace DIR");
  }
  return std::move(reading.database);
}

Result<std::unique_ptr<Journal>> open_sqlite_journal(const fs::path& folder, OpenOptions options) {
  const fs::path objects = folder / "objects";
  if (options.access == Access::read_write) {
    if (const auto made = base::make_folders(objects); !made) return tl::make_unexpected(advised(made.error()));
  }
  TRY_ASSIGN(std::unique_ptr<Database> database, open_journal_database(folder, options));
  if (options.access == Access::read_write) {
    TRY(database->execute(kCacheSize));
    TRY(database->execute(kCheckpoint));
  }
  return std::make_unique<SqliteJournal>(std::move(database), make_file_objects(objects, options.access), folder);
}

Result<std::unique_ptr<Journal>> open_journal(const fs::path& folder, Access access) {
  return open_sqlite_journal(folder, {.access = access});
}

Result<std::unique_ptr<Journal>> open_memory_journal() {
  TRY_ASSIGN(std::unique_ptr<Database> database, Database::open({}, OpenMode::in_memory, kBusyTimeout));
  TRY(prepare(*database, kJournalFormat));
  return std::make_unique<SqliteJournal>(std::move(database), make_memory_objects(), fs::path());
}

}  // namespace accelopt::journal
