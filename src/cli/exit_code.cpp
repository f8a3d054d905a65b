// SPDX-License-Identifier: Apache-2.0
#include "cli/exit_code.hpp"

namespace accelopt::cli {

Exit exit_of(search::RunOutcome outcome) {
  switch (outcome) {
    case search::RunOutcome::improved:
      return Exit::done;
    case search::RunOutcome::no_gain:
      return Exit::no_gain;
    case search::RunOutcome::budget:
      return Exit::budget;
    case search::RunOutcome::interrupted:
      return Exit::interrupted;
    case search::RunOutcome::waiting:
      return Exit::waiting;
  }
  return Exit::error;
}

Exit exit_of(const journal::RunInfo& run) {
  if (run.status == model::RunStatus::interrupted) return Exit::interrupted;
  if (run.status == model::RunStatus::waiting) return Exit::waiting;
  const std::string outcome = run.result ? run.result->value("outcome", "") : "";
  if (run.status != model::RunStatus::done || outcome.empty()) return Exit::error;
  return outcome == to_string(search::RunOutcome::improved) ? Exit::done
         : outcome == to_string(search::RunOutcome::budget) ? Exit::budget
                                                            : Exit::no_gain;
}

}  // namespace accelopt::cli
