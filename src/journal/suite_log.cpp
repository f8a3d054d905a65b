// SPDX-License-Identifier: Apache-2.0
#include "journal/suite_log.hpp"

#include "journal/rows.hpp"
#include "journal/sqlite_journal.hpp"

namespace accelopt::journal {
namespace {

using base::Database;
using base::ErrorCode;
using base::fail;
using base::Json;
using base::Query;
using base::Result;
using base::Statement;
using base::Transaction;

class SqliteSuiteLog final : public SuiteLog {
 public:
  /// Which of its tables there are: a journal that is only read stays as an older version made it.
  enum class Tables { none, without_settings, all };

  SqliteSuiteLog(std::unique_ptr<Database> database, Tables tables) : database_(std::move(database)), tables_(tables) {}

  Result<void> begin(const SuiteRun& run) override {
    TRY_ASSIGN(Transaction transaction, Transaction::begin(*database_));
    TRY(
        database_->run("INSERT INTO suite_runs(id, suite, created, program_version, tasks, pid, host, born, "
                       "state) VALUES(?,?,?,?,?,?,?,?,?) ON CONFLICT(id) DO NOTHING",
                       run.id, run.suite, run.created, run.program_version, base::canonical(Json(run.tasks)),
                       run.process.pid, run.process.host, run.process.born, run.state));
    if (database_->changes() == 0)
      return fail(ErrorCode::already_exists, database_->name() + ": there is a suite run " + run.id + " already");
    if (!run.settings.is_null()) {
      TRY(
          database_->run("INSERT INTO suite_settings(suite_run, settings) SELECT "
                         "number, ?2 FROM suite_runs WHERE id = ?1",
                         run.id, base::canonical(run.settings)));
    }
    return transaction.commit();
  }

  Result<void> enter(std::string_view id, const SuiteEntry& entry) override {
    const auto text = [](const std::string& value) { return value.empty() ? std::nullopt : std::optional(value); };
    TRY(
        database_->run("INSERT INTO suite_entries(suite_run, task, run, error) SELECT number, ?2, ?3, ?4 "
                       "FROM suite_runs WHERE id = ?1 ON CONFLICT(suite_run, task) DO UPDATE SET run = "
                       "excluded.run, error = excluded.error",
                       id, entry.task, text(entry.run), text(entry.error)));
    return changed(id);
  }

  Result<void> end(std::string_view id, std::string_view state) override {
    TRY(database_->run("UPDATE suite_runs SET state = ?2 WHERE id = ?1", id, state));
    return changed(id);
  }

  Result<std::vector<SuiteRun>> list() override {
    std::vector<SuiteRun> runs;
    if (tables_ == Tables::none) return runs;
    const bool known = tables_ == Tables::all;
    const std::string sql =
        std::string(
            "SELECT r.id, r.suite, r.created, r.program_version, r.tasks, r.pid, r.host, r.born, r.state, "
            "e.task, e.run, e.error, ") +
        (known ? "s.settings" : "NULL") + " FROM suite_runs r LEFT JOIN suite_entries e ON e.suite_run = r.number " +
        (known ? "LEFT JOIN suite_settings s ON s.suite_run = r.number " : "") + "ORDER BY r.number, e.number";
    TRY_ASSIGN(Statement select, database_->prepare(sql));
    Query query(select);
    for (;;) {
      TRY_ASSIGN(const bool there, query.next());
      if (!there) return runs;
      if (runs.empty() || runs.back().id != query.text(0)) {
        TRY_ASSIGN(auto tasks, decode_stored<std::vector<std::string>>(query.text(4), "the tasks of a suite run"));
        runs.push_back({.id = query.text(0),
                        .suite = query.text(1),
                        .created = query.text(2),
                        .program_version = query.text(3),
                        .settings = {},
                        .tasks = std::move(tasks),
                        .process = {query.integer(5), query.text(6), query.text(7)},
                        .state = query.text(8)});
        if (!query.is_null(12)) {
          TRY_ASSIGN(runs.back().settings, decode_stored<Json>(query.text(12), "the settings of a suite run"));
        }
      }
      if (!query.is_null(9)) runs.back().entries.push_back({query.text(9), query.text(10), query.text(11)});
    }
  }

 private:
  Result<void> changed(std::string_view id) const {
    if (database_->changes() > 0) return {};
    return fail(ErrorCode::not_found, database_->name() + ": there is no suite run " + std::string(id));
  }

  std::unique_ptr<Database> database_;
  Tables tables_;
};

}  // namespace

Result<std::unique_ptr<SuiteLog>> open_suite_log(const std::filesystem::path& folder, Access access) {
  TRY_ASSIGN(std::unique_ptr<Database> database, open_journal_database(folder, {.access = access}));
  using Tables = SqliteSuiteLog::Tables;
  TRY_ASSIGN(const bool runs, database->has_tables({"suite_runs", "suite_entries"}));
  TRY_ASSIGN(const bool settings, database->has_tables({"suite_settings"}));
  return std::make_unique<SqliteSuiteLog>(std::move(database), !runs      ? Tables::none
                                                               : settings ? Tables::all
                                                                          : Tables::without_settings);
}

}  // namespace accelopt::journal
