// SPDX-License-Identifier: Apache-2.0
#include "journal/review_log.hpp"

#include "journal/rows.hpp"
#include "journal/sqlite_journal.hpp"

namespace accelopt::journal {
namespace {

using base::Database;
using base::Result;

class SqliteReviewLog final : public ReviewLog {
 public:
  /// A journal that is only read stays as an older version made it.
  enum class ReviewTable { none, there };

  SqliteReviewLog(std::unique_ptr<Database> database, ReviewTable table)
      : database_(std::move(database)), table_(table) {}

  Result<void> enter(const ReviewRecord& record) override {
    return database_->run("INSERT INTO reviews(kind, model, run, created, settled, content) VALUES(?,?,?,?,?,?)",
                          record.kind, record.model, record.run, record.created, record.settled,
                          base::canonical(record.content));
  }

  Result<std::vector<ReviewRecord>> list() override {
    if (table_ == ReviewTable::none) return std::vector<ReviewRecord>();
    return database_->all("SELECT kind, model, run, created, settled, content FROM reviews ORDER BY number DESC",
                          [](const base::Query& row) -> Result<ReviewRecord> {
                            TRY_ASSIGN(base::Json content, decode_stored<base::Json>(row.text(5), "a review"));
                            return ReviewRecord{.kind = row.text(0),
                                                .model = row.text(1),
                                                .run = row.text(2),
                                                .created = row.text(3),
                                                .settled = row.text(4),
                                                .content = std::move(content)};
                          });
  }

  Result<bool> settle(const std::string& run, const std::string& settled) override {
    if (run.empty()) return false;
    TRY(database_->run("UPDATE reviews SET settled = ? WHERE run = ? AND settled = ''", settled, run));
    return database_->changes() > 0;
  }

 private:
  std::unique_ptr<Database> database_;
  ReviewTable table_;
};

}  // namespace

Result<std::unique_ptr<ReviewLog>> open_review_log(const std::filesystem::path& folder, Access access) {
  TRY_ASSIGN(std::unique_ptr<Database> database, open_journal_database(folder, {.access = access}));
  using ReviewTable = SqliteReviewLog::ReviewTable;
  TRY_ASSIGN(const bool there, database->has_tables({"reviews"}));
  return std::make_unique<SqliteReviewLog>(std::move(database), there ? ReviewTable::there : ReviewTable::none);
}

}  // namespace accelopt::journal
