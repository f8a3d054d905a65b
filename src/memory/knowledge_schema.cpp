// SPDX-License-Identifier: Apache-2.0
#include "memory/knowledge_schema.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include "base/files.hpp"

namespace accelopt::memory {

using base::ErrorCode;
using base::fail;
using base::Result;
using journal::Database;
using journal::Statement;
using journal::Transaction;

namespace {

/// "acok": marks the file as ours in the place that SQLite keeps for it.
constexpr std::int64_t kApplicationId = 0x61636F6B;

/// @source SQLite's file format: the first 100 bytes.
constexpr std::size_t kHeaderBytes = 100;
constexpr std::size_t kPageSizeAt = 16;
constexpr std::size_t kPageCountAt = 28;
constexpr std::size_t kUserVersionAt = 60;
constexpr std::size_t kApplicationIdAt = 68;
constexpr std::string_view kMagic("SQLite format 3\0", 16);

/// Version 1. `place`: how many experiences of its language were inserted before. `worth`: of its effect and credit,
/// without its age. `words`: what the full-text index holds of it (by ASCII words, in few segments: a
/// bulk insertion else spends most of its time merging them).
constexpr const char* kTables = R"sql(
CREATE TABLE items(
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  language TEXT NOT NULL,
  target TEXT NOT NULL,
  op_type TEXT NOT NULL,
  bound TEXT NOT NULL,
  run TEXT NOT NULL,
  polarity TEXT NOT NULL,
  place INTEGER NOT NULL,
  worth REAL NOT NULL,
  quarantined INTEGER NOT NULL,
  suspicions TEXT NOT NULL,
  shown INTEGER NOT NULL,
  used INTEGER NOT NULL,
  confirmed INTEGER NOT NULL,
  refuted INTEGER NOT NULL,
  words TEXT NOT NULL,
  experience TEXT NOT NULL);
CREATE INDEX items_by_kind ON items(language, target, op_type, number);
CREATE INDEX items_by_worth ON items(language, target, worth);
CREATE INDEX items_suspicious ON items(number) WHERE suspicions <> '[]';
CREATE VIRTUAL TABLE item_words USING fts5(words, content='items', content_rowid='number', tokenize='ascii');
INSERT INTO item_words(item_words, rank) VALUES('automerge', 16);
INSERT INTO item_words(item_words, rank) VALUES('hashsize', 16777216);
CREATE TABLE languages(
  language TEXT PRIMARY KEY,
  inserted INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE solutions(
  id TEXT PRIMARY KEY,
  language TEXT NOT NULL,
  task TEXT NOT NULL,
  run TEXT NOT NULL,
  sources TEXT NOT NULL,
  evaluation TEXT) WITHOUT ROWID;
)sql";

/// What each version has added to the one before; the first entry makes version 2 of version 1.
constexpr std::array kAdditions{
    R"sql(
CREATE TABLE credit_events(
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  experience TEXT NOT NULL,
  kind TEXT NOT NULL,
  run TEXT NOT NULL,
  plan TEXT NOT NULL,
  speedup TEXT);
CREATE INDEX credit_by_experience ON credit_events(experience);
CREATE TABLE forgotten(
  id TEXT PRIMARY KEY) WITHOUT ROWID;
)sql",
};
static_assert(kAdditions.size() + 1 == kKnowledgeVersion, "an addition for each version");

tl::unexpected<base::Error> refuse_foreign(const std::string& name) {
  return fail(ErrorCode::corrupt,
              name + ": this is no knowledge store of accelopt; move it away, or name another with --knowledge PATH");
}

tl::unexpected<base::Error> refuse_newer(const std::string& name, std::int64_t version) {
  return fail(ErrorCode::corrupt, name + ": written by a newer accelopt (knowledge version " + std::to_string(version) +
                                      ", this one knows " + std::to_string(kKnowledgeVersion) +
                                      "); use that one, or name another store with --knowledge PATH");
}

std::int64_t big_endian(std::string_view header, std::size_t at, std::size_t bytes) {
  std::int64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value = value * 256 + static_cast<unsigned char>(header.at(at + i));
  return value;
}

/// What the database says of itself.
struct Marks {
  std::int64_t application = 0;
  std::int64_t version = 0;
  std::int64_t tables = 0;
};

Result<Marks> marks_of(Database& database) {
  // One statement sees one state, also while another process makes the tables.
  TRY_ASSIGN(Statement select, database.prepare("SELECT (SELECT application_id FROM pragma_application_id), (SELECT "
                                                "user_version FROM pragma_user_version), count(*) FROM sqlite_master"));
  journal::Query query(select);
  TRY(query.next());
  const Marks marks{query.integer(0), query.integer(1), query.integer(2)};
  const bool empty = marks.application == 0 && marks.version == 0 && marks.tables == 0;
  if (!empty && marks.application != kApplicationId) return refuse_foreign(database.name());
  if (marks.version > kKnowledgeVersion) return refuse_newer(database.name(), marks.version);
  return marks;
}

}  // namespace

base::Error about_knowledge(base::Error error) {
  // "FILE: reason; what to do about a journal"
  const bool about_an_item = error.code == ErrorCode::invalid_argument || error.code == ErrorCode::parse ||
                             error.message.find("`accelopt memory") != std::string::npos;
  if (about_an_item || error.message.find("--knowledge") != std::string::npos) return error;
  error.message.resize(std::min(error.message.find("; "), error.message.size()));
  switch (error.code) {
    case ErrorCode::permission_denied:
      error.message += "; make it writable, or name another store with --knowledge PATH";
      break;
    case ErrorCode::exhausted:
      error.message += "; free space on this disk: what a run learned waits in its journal";
      break;
    case ErrorCode::unavailable:
      error.message += "; end that program or wait for it: what a run learned waits in its journal";
      break;
    case ErrorCode::corrupt:
      error.message +=
          "; it was left untouched: restore it from a copy or an export, try `sqlite3 FILE .recover`, or move it away "
          "to begin a new one";
      break;
    case ErrorCode::not_found:
      error.message += "; a run makes it, or name another store with --knowledge PATH";
      break;
    default:
      error.message += "; name another store with --knowledge PATH if this lasts";
  }
  return error;
}

Result<void> check_knowledge_file(const std::filesystem::path& file) {
  std::error_code problem;
  const auto size = std::filesystem::file_size(file, problem);
  if (problem == std::errc::no_such_file_or_directory) return {};
  if (problem) {
    return tl::make_unexpected(
        about_knowledge({base::code_of_errno(problem.value()), file.string() + ": " + problem.message()}));
  }
  if (size == 0) return {};
  std::string header(kHeaderBytes, '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(header.data(), static_cast<std::streamsize>(header.size()));
  if (!stream.is_open()) {
    return tl::make_unexpected(about_knowledge({ErrorCode::permission_denied, file.string() + ": cannot be read"}));
  }
  if (static_cast<std::size_t>(stream.gcount()) < kHeaderBytes || !header.starts_with(kMagic))
    return refuse_foreign(file.string());
  const std::int64_t id = big_endian(header, kApplicationIdAt, 4);
  if (id != 0 && id != kApplicationId) return refuse_foreign(file.string());
  const std::int64_t version = big_endian(header, kUserVersionAt, 4);
  if (id == kApplicationId && version > kKnowledgeVersion) return refuse_newer(file.string(), version);
  // A page size of 65536 is written as 1. What is still in the log beside the file counts for nothing here: the header
  // counts the pages of the file itself as they were at the last checkpoint.
  const std::int64_t page = big_endian(header, kPageSizeAt, 2);
  const std::int64_t pages = big_endian(header, kPageCountAt, 4);
  const bool logged = std::filesystem::exists(file.string() + "-wal", problem);
  if (!logged && static_cast<std::int64_t>(size) < pages * (page == 1 ? 65536 : page)) {
    return tl::make_unexpected(about_knowledge({ErrorCode::corrupt, file.string() + ": cut short"}));
  }
  return {};
}

Result<bool> has_tables(Database& database) {
  TRY_ASSIGN(const Marks marks, marks_of(database));
  return marks.version == kKnowledgeVersion;
}

Result<void> prepare_tables(Database& database) {
  TRY_ASSIGN(const bool ready, has_tables(database));
  if (ready) return {};
  TRY_ASSIGN(Transaction transaction, Transaction::begin(database));
  TRY_ASSIGN(const Marks marks, marks_of(database));  // another process may just have done it
  if (marks.version == kKnowledgeVersion) return {};
  if (marks.version == 0) {
    TRY(database.execute(kTables));
    TRY(database.execute(("PRAGMA application_id = " + std::to_string(kApplicationId)).c_str()));
  }
  for (std::int64_t version = std::max<std::int64_t>(marks.version, 1); version < kKnowledgeVersion; ++version)
    TRY(database.execute(kAdditions.at(static_cast<std::size_t>(version) - 1)));
  TRY(database.execute(("PRAGMA user_version = " + std::to_string(kKnowledgeVersion)).c_str()));
  return transaction.commit();
}

}  // namespace accelopt::memory
