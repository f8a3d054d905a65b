// SPDX-License-Identifier: Apache-2.0
#include "journal/refactor_log.hpp"

#include "journal/rows.hpp"
#include "journal/sqlite_journal.hpp"

namespace accelopt::journal {
namespace {

using base::Database;
using base::Result;

class SqliteRefactorLog final : public RefactorLog {
 public:
  /// A journal that is only read stays as an older version made it.
  enum class Tables { none, all };

  SqliteRefactorLog(std::unique_ptr<Database> database, Tables tables)
      : database_(std::move(database)), tables_(tables) {}

  Result<void> enter(const RefactorRecord& record) override {
    return database_->run("INSERT OR REPLACE INTO refactorings(id, created, content) VALUES(?,?,?)", record.id,
                          record.created, base::canonical(record.content));
  }

  Result<std::vector<RefactorRecord>> list() override {
    if (tables_ == Tables::none) return std::vector<RefactorRecord>();
    return database_->all("SELECT id, created, content FROM refactorings ORDER BY number DESC",
                          [](const base::Query& row) -> Result<RefactorRecord> {
                            TRY_ASSIGN(base::Json content, decode_stored<base::Json>(row.text(2), "a refactoring"));
                            return RefactorRecord{row.text(0), row.text(1), std::move(content)};
                          });
  }

 private:
  std::unique_ptr<Database> database_;
  Tables tables_;
};

}  // namespace

Result<std::unique_ptr<RefactorLog>> open_refactor_log(const std::filesystem::path& folder, Access access) {
  TRY_ASSIGN(std::unique_ptr<Database> database, open_journal_database(folder, {.access = access}));
  using Tables = SqliteRefactorLog::Tables;
  TRY_ASSIGN(const bool there, database->has_tables({"refactorings"}));
  return std::make_unique<SqliteRefactorLog>(std::move(database), there ? Tables::all : Tables::none);
}

}  // namespace accelopt::journal
