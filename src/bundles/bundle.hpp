// SPDX-License-Identifier: Apache-2.0
// A bundle: a plain folder with all that some evaluations need, to be carried to the machine that has the device, and
// their results, to be carried back. docs/devices.md describes the files. Whoever reads a bundle distrusts it: names
// in it never become paths, sizes are bounded, every file must have the hash that the manifest gives.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "evaluation/reports.hpp"
#include "model/task.hpp"
#include "worker/protocol.hpp"

namespace accelopt::bundles {

/// Of the bundle's files; raised when an older reader would misunderstand them. A file states the lowest that says it.
inline constexpr int kBundleSchema = 2;
inline constexpr int kSchemaWithoutFields = 1;

/// What must have come of an earlier item for this one to be carried out.
enum class When {
  built,        ///< a build: it succeeded, and its machine code is not `unlike`
  passed,       ///< a race: correct and measured
  promising,    ///< a race: passed and seems faster
  unconfirmed,  ///< a confirmation, and all before it that it depended on: none held
  leads         ///< a play-off with a field: the kernel that leads it takes the place of the request's
};
std::string_view to_string(When when);

struct Condition {
  std::string item;  ///< id of an earlier item
  When when = When::built;
  std::string unlike{};  ///< of `built`: a machine-code id; a candidate that is this program needs no race
};

/// An attempt whose kernel enters a play-off if its race earns it a place.
struct FieldAttempt {
  std::size_t arm = 0;  ///< of the request
  int parent = 0;       ///< place in the beam
  int plan = 0;
  std::string race{};                             ///< id of an earlier item; empty: it is known
  std::optional<model::Evaluation> evaluation{};  ///< what is known of it
  bool duplicate = false;                         ///< of a program that was known before
  bool fixable = false;                           ///< if it fails, a fix of it may enter in its place
};

/// Of a play-off whose candidates are raced in the same bundle: who enters is decided where they were raced, by the
/// rules of the search (evaluation/entrants.hpp).
struct PlayoffField {
  int fixed = 1;                          ///< the first arms, which enter in any case: baseline, parents, old finalists
  std::vector<int> parents;               ///< arm of each place of the beam
  std::vector<FieldAttempt> attempts;     ///< in order of identity
  std::vector<std::string> known_code{};  ///< machine code of earlier iterations, sorted: no news
};

/// One request.
struct BundleItem {
  std::string id;      ///< request_id(request)
  base::Json request;  ///< as in requests.hpp; an open is bundled_open()
  std::optional<Condition> only_if{};
  std::optional<PlayoffField> field{};  ///< of a play-off
};

struct Bundle {
  std::string id;  ///< hash of the manifest
  std::string run;
  int number = 1;  ///< among the run's bundles
  std::string program_version;
  std::string device;             ///< as asked for: a kind, or one device, "cpu", "cpu:1", "cuda:0"
  std::string compiler;           ///< as asked for; empty: the first that there is
  std::string expected_device;    ///< name of the device that the run's earlier results are from; empty: the first
  std::string expected_compiler;  ///< likewise
  std::string task_id;
  model::Task task;
  evaluation::MeasureSettings settings;
  std::vector<BundleItem> items;
};

/// The request to open in a bundle: task and settings are the bundle's.
base::Json bundled_open();

/// A request's identity: equal requests of one run have equal answers.
std::string request_id(const base::Json& request);

/// Writes the bundle as `parent`/<number>-<first digits of its id> (made with its parents), whole or not at all; sets
/// the id. One that is there already is left as it is, results included. Gives its folder.
/// @error permission_denied, exhausted, io.
base::Result<std::filesystem::path> write_bundle(const std::filesystem::path& parent, Bundle& bundle);

/// Reads and checks everything but results.
/// @error not_found: this is no bundle; unsupported: of another version of the layout; corrupt: a file is missing, too
/// large, not a plain file, or not what the manifest says.
base::Result<Bundle> read_bundle(const std::filesystem::path& folder);

/// The bundle's folder if `folder` is one, else the bundles in it, in order of name. @error not_found: neither.
base::Result<std::vector<std::filesystem::path>> find_bundles(const std::filesystem::path& folder);

/// The environment in which a part of a bundle was executed.
struct BundleSession {
  int number = 1;
  std::string program_version;
  std::string device;  ///< its name
  std::string compiler;
  std::string flags;
  std::string isolation;
  worker::Hello machine;
  std::string started;  ///< UTC, ISO 8601
};

/// What became of one item.
struct Outcome {
  std::string item;
  std::string request;  ///< id of the request that was carried out: a tuned candidate's chosen values are filled in
  int session = 1;
  std::optional<base::Json> result;  ///< of the request
  std::optional<base::Error> error;  ///< the request has no result and never will
  std::string skipped;               ///< why it was not worth carrying out
  std::string same_as;               ///< item: the same program in the same race
  double seconds = 0;
  std::string finished;  ///< UTC, ISO 8601
};

/// Results by item.
using Outcomes = std::map<std::string, Outcome>;

/// What an item asks for now that earlier items are settled: a request, or why there is none.
struct Resolved {
  std::optional<base::Json> request;
  std::string skipped;
  std::string same_as;
};
/// Pure: executor and coordinator come to the same. Requires the outcomes of all items before this one.
Resolved resolve(const Bundle& bundle, std::size_t item, const Outcomes& before);

/// All results of one bundle that was executed to its end.
struct BundleResults {
  std::string id;  ///< hash over everything
  std::vector<BundleSession> sessions;
  Outcomes outcomes;
};

// The executing side. `folder` is the bundle's.
base::Result<void> write_session(const std::filesystem::path& folder, const Bundle& bundle,
                                 const BundleSession& session);
base::Result<void> write_outcome(const std::filesystem::path& folder, const Bundle& bundle, const Outcome& outcome);
/// Sessions and outcomes of an execution that was interrupted; what is damaged is left out.
base::Result<BundleResults> read_unfinished(const std::filesystem::path& folder, const Bundle& bundle);
/// Marks the results as complete.
base::Result<void> seal_results(const std::filesystem::path& folder, const Bundle& bundle);
/// Why a bundle cannot be locked, by the errno of flock.
base::Error lock_error(const std::filesystem::path& folder, int number);
/// Held while a bundle is executed. @error unavailable: another process executes it; unsupported: its file system has
/// no locks.
base::Result<base::FileDescriptor> lock_bundle(const std::filesystem::path& folder);

/// The coordinator's side: reads and checks results against the bundle: all items, every hash, every answer's form,
/// the environment that was expected.
/// @error not_found: not executed to its end (the message says how far); corrupt, unsupported: the reason.
base::Result<BundleResults> read_results(const std::filesystem::path& folder, const Bundle& bundle);

}  // namespace accelopt::bundles
