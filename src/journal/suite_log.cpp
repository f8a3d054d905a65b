// SPDX-License-Identifier: Apache-2.0
#include "journal/suite_log.hpp"

#include "journal/rows.hpp"
#include "journal/sqlite_journal.hpp"

namespace accelopt::journal {
namespace {

using base::ErrorCode;
using base::fail;
using base::Json;
using base::Result;

class SqliteSuiteLog final : public SuiteLog {
 public:
  SqliteSuiteLog(std::unique_ptr<Database> database, bool has_tables)
      : database_(std::move(database)), has_tables_(has_tables) {}

  Result<void> begin(const SuiteRun& run) override {
    TRY_ASSIGN(Statement insert,
               database_->prepare("INSERT INTO suite_runs(id, suite, created, program_version, tasks, pid, host, born, "
                                  "state) VALUES(?,?,?,?,?,?,?,?,?) ON CONFLICT(id) DO NOTHING"));
    TRY(Query(insert, run.id, run.suite, run.created, run.program_version, base::canonical(Json(run.tasks)),
              run.process.pid, run.process.host, run.process.born, run.state)
            .run());
    if (database_->changes() == 0)
      return fail(ErrorCode::already_exists, database_->name() + ": there is a suite run " + run.id + " already");
    return {};
  }

  Result<void> enter(std::string_view id, const SuiteEntry& entry) override {
    const auto text = [](const std::string& value) { return value.empty() ? std::nullopt : std::optional(value); };
    TRY_ASSIGN(Statement insert,
               database_->prepare("INSERT INTO suite_entries(suite_run, task, run, error) SELECT number, ?2, ?3, ?4 "
                                  "FROM suite_runs WHERE id = ?1 ON CONFLICT(suite_run, task) DO UPDATE SET run = "
                                  "excluded.run, error = excluded.error"));
    TRY(Query(insert, id, entry.task, text(entry.run), text(entry.error)).run());
    return changed(id);
  }

  Result<void> end(std::string_view id, std::string_view state) override {
    TRY_ASSIGN(Statement update, database_->prepare("UPDATE suite_runs SET state = ?2 WHERE id = ?1"));
    TRY(Query(update, id, state).run());
    return changed(id);
  }

  Result<std::vector<SuiteRun>> list() override {
    std::vector<SuiteRun> runs;
    if (!has_tables_) return runs;
    TRY_ASSIGN(Statement select,
               database_->prepare("SELECT r.id, r.suite, r.created, r.program_version, r.tasks, r.pid, r.host, r.born, "
                                  "r.state, e.task, e.run, e.error FROM suite_runs r LEFT JOIN suite_entries e ON "
                                  "e.suite_run = r.number ORDER BY r.number, e.number"));
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
                        .tasks = std::move(tasks),
                        .process = {query.integer(5), query.text(6), query.text(7)},
                        .state = query.text(8)});
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
  bool has_tables_;
};

}  // namespace

Result<std::unique_ptr<SuiteLog>> open_suite_log(const std::filesystem::path& folder, Access access) {
  TRY_ASSIGN(std::unique_ptr<Database> database, open_journal_database(folder, {.access = access}));
  TRY_ASSIGN(const bool has_tables, database->has_tables({"suite_runs", "suite_entries"}));
  return std::make_unique<SqliteSuiteLog>(std::move(database), has_tables);
}

}  // namespace accelopt::journal
