// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/json.hpp"
#include "base/sqlite.hpp"
#include "journal/journal.hpp"

namespace accelopt::journal {

/// A step as its row holds it: the output may lie in the object store.
struct StepRow {
  StepRecord step;
  std::string output;         ///< JSON; empty when it is an object
  std::string output_object;  ///< its hash
};

/// Columns of StepRow, as `read_step` wants them.
inline constexpr std::string_view kStepColumns =
    "iteration, parent, plan, attempt, fix, kind, input_hash, usage, started_ms, duration_ms, output, output_object";
/// Of the first six of them.
StepKey read_step_key(const base::Query& row);
/// @error corrupt: what is stored is not what was written.
base::Result<StepRow> read_step(const base::Query& row);

/// @error corrupt: there is no such status.
base::Result<model::RunStatus> read_status(const std::string& text, std::string_view run);

/// Columns of RunInfo, as `read_run` wants them; `task` stands last and may be left out.
inline constexpr std::string_view kRunColumns =
    "id, task_name, task_folder, seed, created, status, decision_hash, program_version, settings, result";
enum class TaskColumn { absent, present };
/// @error corrupt.
base::Result<RunInfo> read_run(const base::Query& row, TaskColumn task);

/// Stored JSON as a T. @error corrupt, beginning with `what`.
template <class T>
base::Result<T> decode_stored(std::string_view text, std::string_view what) {
  const auto damaged = [](base::Error error) {
    return tl::make_unexpected(base::Error{base::ErrorCode::corrupt, "the journal is damaged: " + error.message});
  };
  auto json = base::parse_json(text, what);
  if (!json) return damaged(std::move(json).error());
  auto value = base::decode<T>(*json, what);
  if (!value) return damaged(std::move(value).error());
  return value;
}

}  // namespace accelopt::journal
