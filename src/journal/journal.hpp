// SPDX-License-Identifier: Apache-2.0
// The append-only record of runs: every step once, written before anything depends on it; and the texts of what was
// asked, answered and measured.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "model/evaluation.hpp"
#include "model/experience.hpp"
#include "model/identity.hpp"
#include "model/kernel.hpp"
#include "model/solution.hpp"
#include "model/task.hpp"
#include "model/usage.hpp"
#include "model/vocabulary.hpp"

namespace accelopt::journal {

/// Which step of a run. `kind`: model::step_name(), the kind and what tells several of one kind at one identity apart.
struct StepKey {
  model::Identity identity;
  std::string kind;
};

struct StepRecord {
  StepKey key;
  std::string input_hash;
  base::Json output;
  model::Usage usage;
  std::chrono::milliseconds started{};  ///< since the run's start
  std::chrono::milliseconds duration{};
};

/// A step on its way to the record.
struct WrittenStep {
  StepKey key;
  std::string input_hash;
  std::string output;  ///< canonical JSON
  model::Usage usage;
  std::chrono::milliseconds started{};
  std::chrono::milliseconds duration{};
  std::string input_text{};  ///< that the input hash is of, kept with the step; empty: it is not kept
};
WrittenStep written(StepRecord step, std::string input_text = {});

struct RunInfo {
  std::string id;  ///< unique; sorts by time of creation
  std::string task_name;
  std::string task_folder;  ///< as the user gave it, absolute
  model::Task task;         ///< as it was at the start
  base::Json settings;      ///< search, measurement and model settings; where it was measured last
  std::uint64_t seed = 0;
  std::string created;  ///< UTC, ISO 8601
  model::RunStatus status = model::RunStatus::running;
  std::optional<base::Json> result;  ///< the final result object
  std::string decision_hash;         ///< empty until done
  std::string program_version;
};

/// Something that has to reach another place, and waits here until it has.
struct OutboxItem {
  std::int64_t number = 0;  ///< in order of posting
  std::string run;
  std::string key;
  base::Json content;
};

class Journal {
 public:
  virtual ~Journal() = default;
  /// The folder that it lies in; empty: in memory.
  [[nodiscard]] virtual std::filesystem::path folder() const = 0;

  // Runs
  virtual base::Result<void> create_run(const RunInfo& run) = 0;  ///< @error already_exists
  virtual base::Result<void> finish_run(std::string_view run, model::RunStatus status,
                                        const std::optional<base::Json>& result, std::string_view decision_hash) = 0;
  /// Replaces the settings, of which only those may differ that no decision rests on. @error not_found
  virtual base::Result<void> change_settings(std::string_view run, const base::Json& settings) = 0;
  /// By full id, unique prefix, or "last". @error not_found; invalid_argument: the prefix fits several (it lists them)
  virtual base::Result<RunInfo> find_run(std::string_view prefix) = 0;
  virtual base::Result<std::vector<RunInfo>> list_runs() = 0;  ///< newest first; without `task`

  // Steps
  /// The step's record, when it was written with the same input hash. A record with another input hash is not returned.
  /// Of a run that this object writes what another one writes before finish_run() may be missed: a run is written by
  /// one.
  virtual base::Result<std::optional<StepRecord>> find_step(std::string_view run, const StepKey& key,
                                                            std::string_view input_hash) = 0;
  /// Durable when it returns. Writing the same key again with another input replaces it; the same input is a no-op.
  virtual base::Result<void> record_step(std::string_view run, const StepRecord& step) = 0;
  /// Takes a step as record_step does, and with it its input's text as store does. It is found and listed from now on,
  /// and durable when a later settle() returns, or before: what is recorded is committed in order, so that no step is
  /// durable before one that was recorded before it, unless that one was lost. @error as settle: an earlier write of
  /// the run was lost.
  virtual base::Result<void> record_soon(std::string_view run, WrittenStep step) = 0;
  /// Waits until everything that was recorded before is durable. @error why the first write of the run was lost, of
  /// which the record has a hole from then on: the same at each call until finish_run(), and nothing that a search
  /// takes for bad luck.
  virtual base::Result<void> settle(std::string_view /*run*/) { return {}; }
  /// Waits for what the calling thread has recorded, and for what was recorded before that. @error as settle.
  virtual base::Result<void> settle_own(std::string_view /*run*/) { return {}; }
  /// The calling thread begins something that rests on nothing of what it has recorded: settle_own() waits for what it
  /// records from now on.
  virtual void begin_own() {}
  virtual base::Result<std::vector<StepRecord>> steps(std::string_view run) = 0;  ///< in order of writing

  // Content-addressed texts (sources, prompts, raw answers, samples)
  virtual base::Result<std::string> store(std::string_view bytes) = 0;  ///< its SHA-256
  virtual base::Result<std::string> load(std::string_view sha256) = 0;  ///< @error not_found, corrupt

  // Solutions and experiences
  /// In one transaction; each is kept once. @error as store.
  virtual base::Result<void> record_solutions(const std::vector<model::Kernel>& solutions) = 0;
  virtual base::Result<model::Solution> load_solution(std::string_view source_id) = 0;
  virtual base::Result<void> record_experience(std::string_view run, const model::Experience& experience) = 0;
  virtual base::Result<std::vector<model::Experience>> experiences(std::string_view run) = 0;

  // Things on their way to another place
  /// Posts it once for the run and key: posting again changes nothing, whether it has been delivered or not.
  virtual base::Result<void> post(std::string_view run, std::string_view key, std::string_view place,
                                  const base::Json& content) = 0;
  /// What was posted for the place by any run and has not been delivered, oldest first, at most `most`.
  virtual base::Result<std::vector<OutboxItem>> waiting_for(std::string_view place, int most) = 0;
  virtual base::Result<void> delivered(std::int64_t number) = 0;
};

/// Whether a journal may be written.
enum class Access { read_write, read_only };

/// Opens or makes `folder`/accelopt.db (SQLite, WAL, synchronous=NORMAL) and `folder`/objects/.
/// @error permission_denied, exhausted: the folder cannot be written; corrupt: damaged or of a newer version, file
/// untouched;
///        unavailable: locked by another program for over 30 s; not_found: read_only and there is none.
base::Result<std::unique_ptr<Journal>> open_journal(const std::filesystem::path& folder,
                                                    Access access = Access::read_write);

/// One in memory, for tests: the same contract, nothing on disk.
base::Result<std::unique_ptr<Journal>> open_memory_journal();

}  // namespace accelopt::journal
