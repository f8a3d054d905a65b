// SPDX-License-Identifier: Apache-2.0
#include "journal/rows.hpp"

#include <bit>

namespace accelopt::journal {

using base::Json;
using base::Query;
using base::Result;

namespace {

model::Identity read_identity(const Query& row, int column) {
  const auto part = [&](int offset) { return static_cast<int>(row.integer(column + offset)); };
  return {part(0), part(1), part(2), part(3), part(4)};
}

}  // namespace

StepKey read_step_key(const Query& row) {
  return {read_identity(row, 0), row.text(5)};
}

Result<StepRow> read_step(const Query& row) {
  StepRow result;
  StepRecord& step = result.step;
  step.key = read_step_key(row);
  step.input_hash = row.text(6);
  TRY_ASSIGN(step.usage, decode_stored<model::Usage>(row.text(7), "usage of step " + step.key.kind));
  step.started = std::chrono::milliseconds(row.integer(8));
  step.duration = std::chrono::milliseconds(row.integer(9));
  result.output = row.text(10);
  result.output_object = row.text(11);
  return result;
}

Result<model::RunStatus> read_status(const std::string& text, std::string_view run) {
  if (const auto status = model::named<model::RunStatus>(text)) return *status;
  return base::fail(base::ErrorCode::corrupt, "run " + std::string(run) + " has the unknown status \"" + text + "\"");
}

Result<RunInfo> read_run(const Query& row, TaskColumn task) {
  RunInfo run;
  run.id = row.text(0);
  run.task_name = row.text(1);
  run.task_folder = row.text(2);
  run.seed = std::bit_cast<std::uint64_t>(row.integer(3));
  run.created = row.text(4);
  TRY_ASSIGN(run.status, read_status(row.text(5), run.id));
  run.decision_hash = row.text(6);
  run.program_version = row.text(7);
  TRY_ASSIGN(run.settings, decode_stored<Json>(row.text(8), "settings of run " + run.id));
  if (!row.is_null(9)) {
    TRY_ASSIGN(run.result, decode_stored<Json>(row.text(9), "result of run " + run.id));
  }
  if (task == TaskColumn::present) {
    TRY_ASSIGN(run.task, decode_stored<model::Task>(row.text(10), "task of run " + run.id));
  }
  return run;
}

}  // namespace accelopt::journal
