// SPDX-License-Identifier: Apache-2.0
#include "base/sqlite.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <memory>
#include <system_error>
#include <thread>

#include <sqlite3.h>

#include "base/files.hpp"

namespace accelopt::base {

namespace {

/// Text that stays where it is until the query ends.
constexpr sqlite3_destructor_type kNotCopied = nullptr;

std::string reason_of(int system_error, std::string_view otherwise) {
  return system_error == 0 ? std::string(otherwise) : std::generic_category().message(system_error);
}

/// Of a run's journal and of a knowledge store, which both lie in such files.
constexpr std::string_view kRepeat = "resume the run, or repeat the command";

Error without_locks(const std::string& name) {
  return {ErrorCode::unsupported, name +
                                      ": this file system has no locks; choose a folder on another one by --workspace "
                                      "(runs) or --knowledge (the knowledge store)"};
}

/// What an input or output error means: SQLite keeps the operating system's reason.
Error of_system(const std::string& name, int system_error, std::string_view text) {
  const std::string reason = reason_of(system_error, text);
  switch (system_error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return {ErrorCode::exhausted, name + ": " + reason + "; free space on this disk, then " + std::string(kRepeat) +
                                        ": nothing that was recorded is lost"};
    case EACCES:
    case EPERM:
    case EROFS:
      return {ErrorCode::permission_denied,
              name + ": " + reason + "; make it writable, or choose another place for it (a run: --workspace DIR)"};
    case ENOENT:
    case ENOTDIR:
      return {ErrorCode::not_found,
              name + ": " + reason + "; the first run makes it, or name the folder that has it (--workspace DIR)"};
    default:
      return {ErrorCode::io, name + ": " + reason + "; check this disk, then " + std::string(kRepeat)};
  }
}

/// Whether a call failed as a lock cannot be had; SQLite takes ENOLCK for a lock of another program's.
bool is_of_a_lock(int code) {
  constexpr auto kCodes = std::to_array({SQLITE_IOERR_LOCK, SQLITE_IOERR_RDLOCK, SQLITE_IOERR_UNLOCK,
                                         SQLITE_IOERR_CHECKRESERVEDLOCK, SQLITE_IOERR_SHMLOCK});
  return (code & 0xFF) == SQLITE_BUSY || std::ranges::find(kCodes, code) != kCodes.end();
}

Error error_of(const std::string& name, sqlite3* handle, bool locks_are_missing) {
  const int last = errno;
  const int code = sqlite3_errcode(handle);
  if (is_of_a_lock(code) && (locks_are_missing || is_without_locks(last))) return without_locks(name);
  // SQLite forgets the operating system's reason when a commit fails; the calls begin with errno 0, so what is there is
  // this call's.
  const int system_error = sqlite3_system_errno(handle) != 0 ? sqlite3_system_errno(handle) : last;
  const std::string text = sqlite3_errmsg(handle);
  switch (code & 0xFF) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      return {ErrorCode::unavailable,
              name + ": another program holds its lock; end that program or wait for it, then " + std::string(kRepeat)};
    case SQLITE_FULL:
      return of_system(name, ENOSPC, text);
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return of_system(name, EACCES, text);
    case SQLITE_CANTOPEN:
      return of_system(name, system_error == 0 ? EIO : system_error, text);
    case SQLITE_IOERR:
      return of_system(name, system_error, text);
    case SQLITE_NOMEM:
      return {ErrorCode::exhausted, name + ": out of memory"};
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return {ErrorCode::corrupt,
              name + ": " + text +
                  "; move it away to begin a new one, or try to save what it holds with `sqlite3 FILE .recover`"};
    default:
      return {ErrorCode::internal, name + ": " + text};
  }
}

}  // namespace

int BusyWait::wait(void* self, int waits) {
  // @source sqliteDefaultBusyCallback in sqlite3's main.c
  constexpr auto kPauses = std::to_array<std::int64_t>({1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100});  // ms
  auto& busy = *static_cast<BusyWait*>(self);
  busy.locks_are_missing = is_without_locks(errno);  // of the system call that was just refused
  if (busy.locks_are_missing) return 0;
  const auto wait = static_cast<std::size_t>(waits);
  std::int64_t waited = 0;
  for (std::size_t i = 0; i < std::min(wait, kPauses.size()); ++i) waited += kPauses[i];
  if (wait > kPauses.size()) waited += static_cast<std::int64_t>(wait - kPauses.size()) * kPauses.back();
  const std::int64_t left = busy.patience.count() - waited;
  const std::int64_t pause = std::min(kPauses[std::min(wait, kPauses.size() - 1)], left);
  if (pause <= 0) return 0;
  std::this_thread::sleep_for(std::chrono::milliseconds(pause));
  return 1;
}

Statement::Statement(Statement&& other) noexcept
    : database_(std::exchange(other.database_, nullptr)), handle_(std::exchange(other.handle_, nullptr)) {}

Statement& Statement::operator=(Statement&& other) noexcept {
  std::swap(database_, other.database_);
  std::swap(handle_, other.handle_);
  return *this;
}

Statement::~Statement() {
  sqlite3_finalize(handle_);
}

Query::~Query() {
  sqlite3_reset(statement_.handle_);
  sqlite3_clear_bindings(statement_.handle_);
}

Result<bool> Query::next() {
  ACCELOPT_ASSERT(bound_ == sqlite3_bind_parameter_count(statement_.handle_), "a statement gets all of its values");
  errno = 0;
  const int code = sqlite3_step(statement_.handle_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return tl::make_unexpected(statement_.database_->error());
}

Result<void> Query::run() {
  TRY(next());
  return {};
}

bool Query::is_null(int column) const {
  return sqlite3_column_type(statement_.handle_, column) == SQLITE_NULL;
}
std::int64_t Query::integer(int column) const {
  return sqlite3_column_int64(statement_.handle_, column);
}
double Query::real(int column) const {
  return sqlite3_column_double(statement_.handle_, column);
}

std::string Query::text(int column) const {
  const void* const bytes = sqlite3_column_blob(statement_.handle_, column);
  const int size = sqlite3_column_bytes(statement_.handle_, column);
  return bytes ? std::string(static_cast<const char*>(bytes), static_cast<std::size_t>(size)) : std::string();
}

void Query::bind(std::int64_t value) {
  sqlite3_bind_int64(statement_.handle_, ++bound_, value);
}
void Query::bind(double value) {
  sqlite3_bind_double(statement_.handle_, ++bound_, value);
}
void Query::bind(std::nullopt_t) {
  sqlite3_bind_null(statement_.handle_, ++bound_);
}
void Query::bind(std::string_view value) {
  sqlite3_bind_text64(statement_.handle_, ++bound_, value.data() ? value.data() : "", value.size(), kNotCopied,
                      SQLITE_UTF8);
}

Result<std::unique_ptr<Database>> Database::open(const std::filesystem::path& path, OpenMode mode,
                                                 std::chrono::milliseconds busy_timeout) {
  int flags = SQLITE_OPEN_NOMUTEX;
  std::string file = path.string();
  if (mode == OpenMode::create) flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  if (mode == OpenMode::read_only) flags |= SQLITE_OPEN_READONLY;
  if (mode == OpenMode::in_memory) {
    flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY;
    file = ":memory:";
  }
  if (mode == OpenMode::immutable) {
    flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
    std::string escaped;
    for (const char letter : file) {
      // What a file: URI gives a meaning of its own.
      if (letter == '%' || letter == '?' || letter == '#') {
        escaped += letter == '%' ? "%25" : letter == '?' ? "%3f" : "%23";
      } else {
        escaped += letter;
      }
    }
    file = "file:" + escaped + "?immutable=1";
  }
  errno = 0;
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(file.c_str(), &handle, flags, nullptr);
  const std::string name = mode == OpenMode::in_memory ? "the journal in memory" : path.string();
  if (handle == nullptr) return fail(ErrorCode::exhausted, name + ": out of memory");
  std::unique_ptr<Database> database(new Database(name, handle));
  if (code != SQLITE_OK) return tl::make_unexpected(database->error());
  sqlite3_extended_result_codes(handle, 1);
  database->busy_.patience = busy_timeout;
  sqlite3_busy_handler(handle, BusyWait::wait, &database->busy_);
  return database;
}

Database::~Database() {
  statements_.clear();
  sqlite3_close_v2(handle_);
}

Result<void> Database::execute(const char* sql) {
  errno = 0;
  if (sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) return tl::make_unexpected(error());
  return {};
}

Result<Statement> Database::prepare(std::string_view sql) {
  errno = 0;
  sqlite3_stmt* handle = nullptr;
  const int code = sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                                      &handle, nullptr);
  if (code != SQLITE_OK) return tl::make_unexpected(error());
  return Statement(*this, handle);
}

Result<Statement*> Database::kept(std::string_view sql) {
  const auto known = statements_.find(sql);
  if (known != statements_.end()) return &known->second;
  TRY_ASSIGN(Statement made, prepare(sql));
  return &statements_.emplace(std::string(sql), std::move(made)).first->second;
}

std::int64_t Database::changes() const {
  return sqlite3_changes(handle_);
}

std::int64_t Database::last_row() const {
  return sqlite3_last_insert_rowid(handle_);
}

Result<bool> Database::has_tables(std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    TRY_ASSIGN(const auto there, number_of("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", name));
    if (there == 0) return false;
  }
  return true;
}

namespace {

/// The connection's file as SQLite's own layer over the operating system has it open.
sqlite3_file* open_file(sqlite3* handle) {
  sqlite3_file* file = nullptr;
  const int code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  ACCELOPT_ASSERT(code == SQLITE_OK && file != nullptr && file->pMethods != nullptr, "an open database has a file");
  return file;
}

}  // namespace

Result<std::int64_t> Database::file_bytes() const {
  errno = 0;
  sqlite3_file* const file = open_file(handle_);
  sqlite3_int64 bytes = 0;
  if (file->pMethods->xFileSize(file, &bytes) != SQLITE_OK) return fail_errno(errno, "cannot read " + name_);
  return bytes;
}

Result<bool> Database::read_start(std::span<unsigned char> bytes) const {
  errno = 0;
  sqlite3_file* const file = open_file(handle_);
  const int code = file->pMethods->xRead(file, bytes.data(), static_cast<int>(bytes.size()), 0);
  if (code == SQLITE_IOERR_SHORT_READ) return false;
  if (code != SQLITE_OK) return fail_errno(errno, "cannot read " + name_);
  return true;
}

std::filesystem::path Database::log() const {
  return sqlite3_filename_wal(sqlite3_db_filename(handle_, "main"));
}

bool Database::has_moved() const {
  int moved = 0;
  return sqlite3_file_control(handle_, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved != 0;
}

bool Database::is_read_only() const {
  return sqlite3_db_readonly(handle_, "main") == 1;
}

Error Database::error() const {
  return error_of(name_, handle_, busy_.locks_are_missing);
}

Result<Transaction> Transaction::begin(Database& database) {
  TRY(database.execute("BEGIN IMMEDIATE"));
  return Transaction(database);
}

Transaction::~Transaction() {
  // A failing roll-back means that the transaction is over already.
  if (database_) static_cast<void>(database_->execute("ROLLBACK"));
}

Result<void> Transaction::commit() {
  TRY(database_->execute("COMMIT"));
  database_ = nullptr;
  return {};
}

}  // namespace accelopt::base
