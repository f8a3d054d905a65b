// SPDX-License-Identifier: Apache-2.0
#include "journal/database_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <thread>

#include "base/files.hpp"

namespace accelopt::journal {

using base::Database;
using base::ErrorCode;
using base::fail;
using base::OpenMode;
using base::Query;
using base::Result;
using base::Statement;
using base::Transaction;
namespace fs = std::filesystem;

namespace {

/// @source SQLite's file format: the first 100 bytes.
constexpr std::size_t kHeaderBytes = 100;
constexpr std::size_t kPageSizeAt = 16;
constexpr std::size_t kPageCountAt = 28;
constexpr std::size_t kUserVersionAt = 60;
constexpr std::size_t kApplicationIdAt = 68;
constexpr std::string_view kMagic("SQLite format 3\0", 16);

using Header = std::array<unsigned char, kHeaderBytes>;

std::int64_t big_endian(const Header& header, std::size_t at, std::size_t bytes) {
  std::int64_t value = 0;
  for (std::size_t byte = 0; byte < bytes; ++byte) value = value * 256 + header.at(at + byte);
  return value;
}

tl::unexpected<base::Error> refuse_foreign(const std::string& name, const FileFormat& format) {
  return fail(ErrorCode::corrupt, name + ": this is no " + std::string(format.name) + "; move it away, or " +
                                      std::string(format.elsewhere));
}

tl::unexpected<base::Error> refuse_newer(const std::string& name, const FileFormat& format, std::int64_t version) {
  return fail(ErrorCode::corrupt, name + ": written by a newer accelopt (" + std::string(format.word) + " version " +
                                      std::to_string(version) + ", this one knows " + std::to_string(format.version) +
                                      "); use that one, or " + std::string(format.elsewhere));
}

/// The first page is never shorter than it says. With no log beside the file, all pages are there that were at the last
/// checkpoint; the log is looked for before the size is taken, because a checkpoint writes the first page first.
Result<bool> is_cut_short(const Database& database, const Header& header) {
  const std::int64_t written = big_endian(header, kPageSizeAt, 2);  // 65536 is written as 1
  const std::int64_t page_bytes = written == 1 ? 65536 : std::max<std::int64_t>(written, 512);
  std::error_code problem;
  const bool logged = fs::exists(database.log(), problem) || problem;
  TRY_ASSIGN(const std::int64_t bytes, database.file_bytes());
  const std::int64_t pages = logged ? 1 : std::max<std::int64_t>(big_endian(header, kPageCountAt, 4), 1);
  return bytes < page_bytes * pages;
}

/// What the file says of itself at this moment. SQLite opens and reads it: see Database::read_start.
Result<void> look_at_file(const fs::path& file, const FileFormat& format) {
  struct stat status {};
  const int problem = ::stat(file.c_str(), &status) == 0 ? 0 : errno;
  if (problem == ENOENT) return {};
  if (problem != 0) return base::fail_errno(problem, "cannot read " + file.string());
  if (!S_ISREG(status.st_mode))
    return fail(ErrorCode::invalid_argument, file.string() + ": not a regular file; " + std::string(format.elsewhere));
  const auto database = Database::open(file, OpenMode::read_only, {});
  if (!database && database.error().code == ErrorCode::not_found) return {};  // just removed
  if (!database && database.error().code == ErrorCode::permission_denied)
    return base::fail_errno(EACCES, "cannot read " + file.string());
  if (!database) return tl::make_unexpected(database.error());
  Header header{};
  TRY_ASSIGN(const std::int64_t bytes, (*database)->file_bytes());
  if (bytes == 0) return {};
  TRY_ASSIGN(const bool whole, (*database)->read_start(header));
  const std::string_view magic(reinterpret_cast<const char*>(header.data()), kMagic.size());
  if (!whole || magic != kMagic) return refuse_foreign(file.string(), format);
  TRY_ASSIGN(const bool cut_short, is_cut_short(**database, header));
  if (cut_short) {
    return fail(ErrorCode::corrupt,
                file.string() + ": cut short; restore it from a copy, or move it away to begin anew");
  }
  const std::int64_t id = big_endian(header, kApplicationIdAt, 4);
  // A database without an id may be one that is being made: only its tables tell.
  if (id != 0 && id != format.application_id) return refuse_foreign(file.string(), format);
  const std::int64_t version = big_endian(header, kUserVersionAt, 4);
  if (id != 0 && version > format.version) return refuse_newer(file.string(), format, version);
  return {};
}

}  // namespace

Result<void> check_file(const fs::path& file, const FileFormat& format) {
  // A page that another process is just writing can be read in part or as zeros: the kernel orders no reader against a
  // writer. What is refused is looked at again for a while.
  constexpr int kLooks = 100;
  constexpr std::chrono::milliseconds kPause(2);
  for (int look = 1;; ++look) {
    auto looked = look_at_file(file, format);
    if (looked || looked.error().code != ErrorCode::corrupt || look == kLooks) return looked;
    std::this_thread::sleep_for(kPause);
  }
}

Result<std::int64_t> version_of(Database& database, const FileFormat& format) {
  TRY_ASSIGN(Statement select, database.prepare("SELECT (SELECT application_id FROM pragma_application_id), (SELECT "
                                                "user_version FROM pragma_user_version), count(*) FROM sqlite_master"));
  Query query(select);
  TRY(query.next());
  const std::int64_t id = query.integer(0);
  const std::int64_t version = query.integer(1);
  if (id == 0 && version == 0 && query.integer(2) == 0) return 0;
  if (id != format.application_id) return refuse_foreign(database.name(), format);
  if (version > format.version) return refuse_newer(database.name(), format, version);
  return std::max<std::int64_t>(version, 1);
}

Result<void> prepare(Database& database, const FileFormat& format) {
  TRY_ASSIGN(const std::int64_t seen, version_of(database, format));
  if (seen == format.version) return {};
  TRY_ASSIGN(Transaction transaction, Transaction::begin(database));
  TRY_ASSIGN(const std::int64_t now, version_of(database, format));  // another process may just have done it
  if (now == format.version) return {};
  if (now == 0) {
    TRY(database.execute(format.tables));
    TRY(database.execute(("PRAGMA application_id = " + std::to_string(format.application_id)).c_str()));
  }
  for (std::int64_t version = std::max<std::int64_t>(now, 1); version < format.version; ++version)
    TRY(database.execute(format.additions[static_cast<std::size_t>(version) - 1]));
  TRY(database.execute(("PRAGMA user_version = " + std::to_string(format.version)).c_str()));
  return transaction.commit();
}

namespace {

/// SQLite answers "busy" at once, without waiting, when two processes switch a new file to WAL together.
Result<void> switch_to_wal(Database& database, std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (;;) {
    const auto done = database.execute("PRAGMA journal_mode = WAL");
    if (done || done.error().code != ErrorCode::unavailable || std::chrono::steady_clock::now() > deadline) return done;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

}  // namespace

Result<std::unique_ptr<Database>> open_for_writing(const fs::path& file, const FileFormat& format,
                                                   std::chrono::milliseconds patience) {
  TRY_ASSIGN(std::unique_ptr<Database> database, Database::open(file, OpenMode::create, patience));
  if (database->is_read_only()) {
    return fail(ErrorCode::permission_denied,
                file.string() + ": may not be written; make it writable, or " + std::string(format.elsewhere));
  }
  TRY(database->execute(format.connection));
  TRY_ASSIGN(const std::int64_t version, version_of(*database, format));
  if (version == 0) TRY(switch_to_wal(*database, patience));
  TRY(prepare(*database, format));
  return database;
}

Result<Reading> open_for_reading(const fs::path& file, const FileFormat& format, std::chrono::milliseconds patience) {
  std::error_code problem;
  const auto size = fs::file_size(file, problem);
  if (problem || size == 0) return Reading();
  TRY_ASSIGN(std::unique_ptr<Database> database, Database::open(file, OpenMode::read_only, patience));
  auto version = version_of(*database, format);
  const auto log_bytes = fs::file_size(database->log(), problem);
  const bool may_write = ::access(file.parent_path().c_str(), W_OK) == 0;
  if (!version && !may_write && version.error().code != ErrorCode::corrupt && (problem || log_bytes == 0)) {
    // A folder that may not be written has no place for WAL's shared memory; without a log nothing is missed. Elsewhere
    // such a reader would never see what is written after it.
    TRY_ASSIGN(database, Database::open(file, OpenMode::immutable, patience));
    version = version_of(*database, format);
  }
  if (!version) return tl::make_unexpected(version.error());
  if (*version == 0) return Reading();
  TRY(database->execute(format.connection));
  return Reading{std::move(database), *version};
}

}  // namespace accelopt::journal
