// SPDX-License-Identifier: Apache-2.0
#include "journal/schema.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "base/files.hpp"
#include "journal/advice.hpp"

namespace accelopt::journal {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

/// "acop": marks the file as ours in the place that SQLite keeps for it.
constexpr std::int64_t kApplicationId = 0x61636F70;

/// @source SQLite's file format: the first 100 bytes.
constexpr std::size_t kHeaderBytes = 100;
constexpr std::size_t kPageSizeAt = 16;
constexpr std::size_t kUserVersionAt = 60;
constexpr std::size_t kApplicationIdAt = 68;
constexpr std::string_view kMagic("SQLite format 3\0", 16);

constexpr const char* kTables = R"sql(
CREATE TABLE runs(
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  task_name TEXT NOT NULL,
  task_folder TEXT NOT NULL,
  seed INTEGER NOT NULL,
  created TEXT NOT NULL,
  status TEXT NOT NULL,
  decision_hash TEXT NOT NULL,
  program_version TEXT NOT NULL,
  settings TEXT NOT NULL,
  result TEXT,
  task TEXT NOT NULL);
CREATE TABLE steps(
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  run INTEGER NOT NULL REFERENCES runs(number),
  iteration INTEGER NOT NULL,
  parent INTEGER NOT NULL,
  plan INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  fix INTEGER NOT NULL,
  kind TEXT NOT NULL,
  input_hash TEXT NOT NULL,
  usage TEXT NOT NULL,
  started_ms INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  output TEXT,
  output_object TEXT,
  CHECK((output IS NULL) <> (output_object IS NULL)),
  UNIQUE(run, iteration, parent, plan, attempt, fix, kind));
CREATE TABLE definitions(
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  op_type TEXT NOT NULL,
  definition TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE workloads(
  definition TEXT NOT NULL REFERENCES definitions(id),
  workload TEXT NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY(definition, workload)) WITHOUT ROWID;
CREATE TABLE solutions(
  source_id TEXT PRIMARY KEY,
  language TEXT NOT NULL,
  object TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE kernels(
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  run TEXT NOT NULL,
  definition TEXT NOT NULL,
  device TEXT NOT NULL,
  source_id TEXT NOT NULL,
  parent_source_id TEXT NOT NULL,
  iteration INTEGER NOT NULL,
  parent INTEGER NOT NULL,
  plan INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  fix INTEGER NOT NULL,
  status TEXT NOT NULL,
  speedup REAL,
  kind TEXT NOT NULL,
  UNIQUE(run, source_id, kind, iteration, parent, plan, attempt, fix));
CREATE INDEX kernels_by_definition ON kernels(definition, device);
CREATE TABLE experiences(
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  run INTEGER NOT NULL REFERENCES runs(number),
  id TEXT NOT NULL,
  experience TEXT NOT NULL,
  UNIQUE(run, id));
)sql";

/// What each version has added to the one before; the first entry makes version 2 of version 1.
constexpr std::array kAdditions{
    R"sql(
CREATE TABLE sessions(
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  run INTEGER NOT NULL REFERENCES runs(number),
  pid INTEGER NOT NULL,
  host TEXT NOT NULL,
  born TEXT NOT NULL,
  started_ms INTEGER NOT NULL,
  beat_ms INTEGER NOT NULL,
  wall_ms INTEGER NOT NULL,
  device_ms INTEGER NOT NULL,
  ended INTEGER NOT NULL);
CREATE INDEX sessions_by_run ON sessions(run);
CREATE TABLE requests(
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  run INTEGER NOT NULL REFERENCES runs(number),
  kind TEXT NOT NULL,
  made_ms INTEGER NOT NULL);
CREATE TABLE events(
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  run INTEGER NOT NULL REFERENCES runs(number),
  at_ms INTEGER NOT NULL,
  event TEXT NOT NULL);
CREATE INDEX events_by_run ON events(run, number);
CREATE TABLE facts(
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL) WITHOUT ROWID;
)sql",
    // A parcel without content has been delivered: posting it again must not bring it back.
    R"sql(
CREATE TABLE parcels(
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  run INTEGER NOT NULL REFERENCES runs(number),
  key TEXT NOT NULL,
  place TEXT NOT NULL,
  content TEXT,
  UNIQUE(run, key, place));
CREATE INDEX parcels_by_place ON parcels(place, number) WHERE content IS NOT NULL;
)sql",
    // `tasks`: the ones that were to be run, a JSON list; `run`: null where a task's run could not begin.
    R"sql(
CREATE TABLE suite_runs(
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  suite TEXT NOT NULL,
  created TEXT NOT NULL,
  program_version TEXT NOT NULL,
  tasks TEXT NOT NULL,
  pid INTEGER NOT NULL,
  host TEXT NOT NULL,
  born TEXT NOT NULL,
  state TEXT NOT NULL);
CREATE TABLE suite_entries(
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  suite_run INTEGER NOT NULL REFERENCES suite_runs(number),
  task TEXT NOT NULL,
  run TEXT,
  error TEXT,
  UNIQUE(suite_run, task));
)sql",
};
static_assert(kAdditions.size() + 1 == kSchemaVersion, "an addition for each version");

std::int64_t big_endian(const std::array<unsigned char, kHeaderBytes>& header, std::size_t at, std::size_t bytes) {
  std::int64_t value = 0;
  for (std::size_t byte = 0; byte < bytes; ++byte) value = value * 256 + header.at(at + byte);
  return value;
}

tl::unexpected<base::Error> refuse_foreign(const std::string& name) {
  return fail(ErrorCode::corrupt, name +
                                      ": this is no accelopt journal; move it away, or choose another workspace with "
                                      "--workspace DIR");
}

tl::unexpected<base::Error> refuse_newer(const std::string& name, std::int64_t version) {
  return fail(ErrorCode::corrupt, name + ": written by a newer accelopt (journal version " + std::to_string(version) +
                                      ", this one knows " + std::to_string(kSchemaVersion) +
                                      "); use that one, or choose another workspace with --workspace DIR");
}

}  // namespace

Result<void> check_file(const std::filesystem::path& file) {
  const base::FileDescriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!descriptor.valid() && errno == ENOENT) return {};
  if (!descriptor.valid()) {
    return tl::make_unexpected(advised(base::fail_errno(errno, "cannot read " + file.string()).value()));
  }
  std::array<unsigned char, kHeaderBytes> header{};
  std::size_t size = 0;
  while (size < header.size()) {
    const ssize_t count =
        ::pread(descriptor.get(), header.data() + size, header.size() - size, static_cast<off_t>(size));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return tl::make_unexpected(advised(base::fail_errno(errno, "cannot read " + file.string()).value()));
    if (count == 0) break;
    size += static_cast<std::size_t>(count);
  }
  if (size == 0) return {};
  const std::string_view magic(reinterpret_cast<const char*>(header.data()), kMagic.size());
  if (size < header.size() || magic != kMagic) return refuse_foreign(file.string());
  // A page size of 65536 is written as 1. The first page is never shorter than that, however the file is in use.
  const std::int64_t page_bytes = std::max<std::int64_t>(big_endian(header, kPageSizeAt, 2), 512);
  struct stat status {};
  if (::fstat(descriptor.get(), &status) == 0 && status.st_size < page_bytes) {
    return fail(ErrorCode::corrupt,
                file.string() + ": cut short; restore it from a copy, or move it away to begin anew");
  }
  const std::int64_t id = big_endian(header, kApplicationIdAt, 4);
  // A database without an id may be one that is being made: only its tables tell.
  if (id != 0 && id != kApplicationId) return refuse_foreign(file.string());
  const std::int64_t version = big_endian(header, kUserVersionAt, 4);
  if (id == kApplicationId && version > kSchemaVersion) return refuse_newer(file.string(), version);
  return {};
}

Result<bool> check_schema(Database& database) {
  // One statement sees one state, also while another process makes the tables.
  TRY_ASSIGN(Statement select, database.prepare("SELECT (SELECT application_id FROM pragma_application_id), (SELECT "
                                                "user_version FROM pragma_user_version), count(*) FROM sqlite_master"));
  Query query(select);
  TRY(query.next());
  const std::int64_t id = query.integer(0);
  const std::int64_t version = query.integer(1);
  const std::int64_t tables = query.integer(2);
  if (id == 0 && version == 0 && tables == 0) return false;
  if (id != kApplicationId) return refuse_foreign(database.name());
  if (version > kSchemaVersion) return refuse_newer(database.name(), version);
  return true;
}

namespace {

/// The additions that the version lacks. To be called in a transaction.
Result<void> add_to(Database& database, std::int64_t version) {
  for (std::int64_t next = version; next < kSchemaVersion; ++next)
    TRY(database.execute(kAdditions.at(static_cast<std::size_t>(next) - 1)));
  return database.execute(("PRAGMA user_version = " + std::to_string(kSchemaVersion)).c_str());
}

}  // namespace

Result<void> upgrade_schema(Database& database) {
  const auto version = [&]() -> Result<std::int64_t> {
    TRY_ASSIGN(Statement select, database.prepare("PRAGMA user_version"));
    Query query(select);
    TRY(query.next());
    return query.integer(0);
  };
  TRY_ASSIGN(const std::int64_t seen, version());
  if (seen >= kSchemaVersion) return {};
  TRY_ASSIGN(Transaction transaction, Transaction::begin(database));
  TRY_ASSIGN(const std::int64_t now, version());  // another process may just have done it
  if (now >= kSchemaVersion) return {};
  TRY(add_to(database, now));
  return transaction.commit();
}

Result<void> create_schema(Database& database) {
  TRY_ASSIGN(Transaction transaction, Transaction::begin(database));
  TRY_ASSIGN(const bool there, check_schema(database));
  if (there) return {};
  TRY(database.execute(kTables));
  TRY(database.execute(("PRAGMA application_id = " + std::to_string(kApplicationId)).c_str()));
  TRY(add_to(database, 1));
  return transaction.commit();
}

}  // namespace accelopt::journal
