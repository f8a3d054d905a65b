// SPDX-License-Identifier: Apache-2.0
#include "memory/knowledge_schema.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace accelopt::memory {

using base::ErrorCode;

namespace {

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

/// Pages are 4 KiB: 64 MiB of them in memory, and a log of up to 32 MiB, so that a bulk insertion does not write every
/// page of the index once a batch; readers map the file. A run notes in its journal what arrived here, so what has
/// arrived must outlive a power cut.
constexpr const char* kConnection =
    "PRAGMA cache_size = -65536; PRAGMA wal_autocheckpoint = 8000; PRAGMA mmap_size = 1073741824; "
    "PRAGMA synchronous = FULL";

}  // namespace

const journal::FileFormat kKnowledgeFormat{
    .application_id = 0x61636F6B,  // "acok"
    .version = kAdditions.size() + 1,
    .tables = kTables,
    .additions = kAdditions,
    .connection = kConnection,
    .name = "knowledge store of accelopt",
    .word = "knowledge",
    .elsewhere = "name another store with --knowledge PATH",
};

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
      error.message +=
          "; free space on this disk and try again (reading takes a little too): nothing that was kept is lost, and "
          "what a run learned waits in its journal";
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

}  // namespace accelopt::memory
