// SPDX-License-Identifier: Apache-2.0
#include "journal/schema.hpp"

#include <array>

namespace accelopt::journal {
namespace {

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
CREATE TABLE solutions(
  source_id TEXT PRIMARY KEY,
  language TEXT NOT NULL,
  object TEXT NOT NULL) WITHOUT ROWID;
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
    // An item of the outbox without content has been delivered: posting it again must not bring it back.
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
    // What a suite run was made with, JSON; one of before there was this table has no row.
    R"sql(
CREATE TABLE suite_settings(
  suite_run INTEGER PRIMARY KEY REFERENCES suite_runs(number),
  settings TEXT NOT NULL);
)sql",
    // What `accelopt refactor` found, JSON.
    R"sql(
CREATE TABLE refactorings(
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  created TEXT NOT NULL,
  content TEXT NOT NULL);
)sql",
    // Objects that are small: questions and sources, of which a large run has hundreds of thousands. The others are
    // files.
    R"sql(
CREATE TABLE texts(
  number INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  bytes TEXT NOT NULL);
-- Calibrations and reviews, JSON. run: the refactoring whose commit a review chose; settled: what became of it.
CREATE TABLE reviews(
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL,
  model TEXT NOT NULL,
  run TEXT NOT NULL,
  created TEXT NOT NULL,
  settled TEXT NOT NULL,
  content TEXT NOT NULL);
)sql",
    // Files of before have three tables more, `definitions`, `workloads` and `kernels`: nobody reads them.
    "",
};

}  // namespace

const FileFormat kJournalFormat{
    .application_id = 0x61636F70,  // "acop"
    .version = kAdditions.size() + 1,
    .tables = kTables,
    .additions = kAdditions,
    // A power cut may cost the last commits, never the database.
    .connection = "PRAGMA synchronous = NORMAL",
    .name = "accelopt journal",
    .word = "journal",
    .elsewhere = "choose another workspace with --workspace DIR",
};

}  // namespace accelopt::journal
