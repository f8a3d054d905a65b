// SPDX-License-Identifier: Apache-2.0
// SQLite behind Result: connections and statements that release themselves, errors that name the file and the next
// step.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace accelopt::base {

class Database;

/// A prepared statement; used by one thread at a time. Values are bound by a Query.
class Statement {
 public:
  Statement() = default;
  Statement(Database& database, sqlite3_stmt* handle) : database_(&database), handle_(handle) {}
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&& other) noexcept;
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement();
  [[nodiscard]] bool prepared() const { return handle_ != nullptr; }

 private:
  friend class Query;
  Database* database_ = nullptr;
  sqlite3_stmt* handle_ = nullptr;
};

/// One execution of a statement: values are bound in order, rows are read one by one, and the statement is free for the
/// next one when the query ends. Texts that are bound outlive the query.
class Query {
 public:
  template <class... Values>
  explicit Query(Statement& statement, const Values&... values) : statement_(statement) {
    (bind(values), ...);
  }
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;
  ~Query();

  /// Whether there is another row. @error as Database::error.
  Result<bool> next();
  /// Runs a statement that gives no rows. @error as Database::error.
  Result<void> run();

  // Columns of the present row, from 0.
  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] std::string text(int column) const;

 private:
  void bind(std::int64_t value);
  void bind(int value) { bind(std::int64_t{value}); }
  void bind(double value);
  void bind(std::string_view value);
  void bind(const std::string& value) { bind(std::string_view(value)); }
  void bind(const char* value) { bind(std::string_view(value)); }
  void bind(std::nullopt_t);
  template <class T>
  void bind(const std::optional<T>& value) {
    value ? bind(*value) : bind(std::nullopt);
  }

  Statement& statement_;
  int bound_ = 0;
};

/// What a function that reads a row gives: a value, or a Result of one.
template <class T>
struct Row {
  using Type = T;
};
template <class T>
struct Row<Result<T>> {
  using Type = T;
};
template <class Read>
using RowOf = typename Row<std::invoke_result_t<Read, const Query&>>::Type;

enum class OpenMode { create, read_only, immutable, in_memory };

/// How a connection waits for another program's lock: as after sqlite3_busy_timeout, but where a file system has no
/// locks it does not wait.
struct BusyWait {
  std::chrono::milliseconds patience{};
  bool locks_are_missing = false;  ///< seen by the last wait
  /// SQLite's busy handler: `self` is a BusyWait. 0: it has waited enough.
  static int wait(void* self, int waits);
};

/// One connection; used by one thread at a time. It must stay where it is while statements of it live.
class Database {
 public:
  /// Opens without reading anything yet. `busy_timeout`: how long to wait for another program's lock.
  /// @error permission_denied, not_found, io.
  static Result<std::unique_ptr<Database>> open(const std::filesystem::path& path, OpenMode mode,
                                                std::chrono::milliseconds busy_timeout);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  Result<void> execute(const char* sql);
  Result<Statement> prepare(std::string_view sql);

  /// Runs a statement that gives no rows. This and what follows prepare a statement at its first use and keep it;
  /// `values` are bound in order. @error as error().
  template <class... Values>
  Result<void> run(std::string_view sql, const Values&... values) {
    TRY_ASSIGN(Statement* const statement, kept(sql));
    return Query(*statement, values...).run();
  }
  /// What `read` makes of the first row, as a value or a Result; none: there is no row.
  template <class Read, class... Values>
  auto first(std::string_view sql, const Read& read, const Values&... values) -> Result<std::optional<RowOf<Read>>> {
    TRY_ASSIGN(Statement* const statement, kept(sql));
    Query query(*statement, values...);
    TRY_ASSIGN(const bool there, query.next());
    if (!there) return std::optional<RowOf<Read>>();
    TRY_ASSIGN(RowOf<Read> row, Result<RowOf<Read>>(read(std::as_const(query))));
    TRY(query.next());  // what writes and gives a row ends by itself, or says why it cannot
    return std::optional<RowOf<Read>>(std::in_place, std::move(row));
  }
  /// What `read` makes of every row.
  template <class Read, class... Values>
  auto all(std::string_view sql, const Read& read, const Values&... values) -> Result<std::vector<RowOf<Read>>> {
    TRY_ASSIGN(Statement* const statement, kept(sql));
    Query query(*statement, values...);
    std::vector<RowOf<Read>> rows;
    for (;;) {
      TRY_ASSIGN(const bool there, query.next());
      if (!there) return rows;
      TRY_ASSIGN(RowOf<Read> row, Result<RowOf<Read>>(read(std::as_const(query))));
      rows.push_back(std::move(row));
    }
  }
  /// Hands every row to `see`.
  template <class See, class... Values>
  Result<void> each(std::string_view sql, const See& see, const Values&... values) {
    TRY_ASSIGN(Statement* const statement, kept(sql));
    Query query(*statement, values...);
    for (;;) {
      TRY_ASSIGN(const bool there, query.next());
      if (!there) return {};
      see(std::as_const(query));
    }
  }
  /// The first number of the first row; 0: there is none.
  template <class... Values>
  Result<std::int64_t> number_of(std::string_view sql, const Values&... values) {
    TRY_ASSIGN(const auto number, first(
                                      sql, [](const Query& row) { return row.integer(0); }, values...));
    return number.value_or(0);
  }
  /// Rows that the last statement that writes has written, and the number of the last row that was inserted.
  [[nodiscard]] std::int64_t changes() const;
  [[nodiscard]] std::int64_t last_row() const;
  /// Whether all of these tables are there. @error as error().
  Result<bool> has_tables(std::initializer_list<std::string_view> names);
  /// How large the file is. @error io.
  Result<std::int64_t> file_bytes() const;
  /// The first bytes of the file as they are at this moment, whatever they are; false: there are fewer. Read through
  /// this connection: a file that is opened and closed by hand loses the locks that this process's connections hold.
  /// @source sqlite.org/howtocorrupt.html, section 2.2. @error io.
  Result<bool> read_start(std::span<unsigned char> bytes) const;
  /// Where its write-ahead log is kept: beside the file, behind any symbolic link.
  [[nodiscard]] std::filesystem::path log() const;
  /// Whether its file was moved away, replaced or removed since it was opened.
  [[nodiscard]] bool has_moved() const;
  /// Whether the file can only be read: asked for, or all that the operating system allows.
  [[nodiscard]] bool is_read_only() const;
  /// What the last failing call on this connection means.
  /// @error unsupported: the file system has no locks; unavailable: locked for longer than the timeout;
  /// permission_denied: may not be written; exhausted: the disk is full; corrupt: damaged, or no database; io,
  /// internal: the rest.
  [[nodiscard]] Error error() const;
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  Database(std::string name, sqlite3* handle) : name_(std::move(name)), handle_(handle) {}
  Result<Statement*> kept(std::string_view sql);

  std::string name_;  ///< for messages: the path
  sqlite3* handle_ = nullptr;
  BusyWait busy_;
  std::map<std::string, Statement, std::less<>> statements_;  ///< by their text
};

/// Makes what follows one transaction: taken back at the end of the scope unless committed.
class Transaction {
 public:
  /// Waits for the right to write. @error as Database::error.
  static Result<Transaction> begin(Database& database);
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();
  Result<void> commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;
};

}  // namespace accelopt::base
