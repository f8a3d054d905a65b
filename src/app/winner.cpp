// SPDX-License-Identifier: Apache-2.0
#include "app/winner.hpp"

#include <fmt/format.h>

#include "model/tuning.hpp"

namespace accelopt::app {

base::Result<model::Solution> winner_of(const journal::RunInfo& run) {
  if (!run.result && run.status == model::RunStatus::failed) {
    return base::fail(base::ErrorCode::not_found,
                      fmt::format("run {0} has failed, and nothing was confirmed. To continue it: accelopt resume {0}; "
                                  "to confirm what it found until then: accelopt resume {0} --finish",
                                  run.id));
  }
  if (!run.result) {
    return base::fail(base::ErrorCode::not_found, "run " + run.id + " has not ended (" +
                                                      std::string(to_string(run.status)) +
                                                      "); continue it with: accelopt resume " + run.id);
  }
  const base::Json& solution = run.result->value("solution", base::Json());
  if (solution.is_null()) {
    return base::fail(base::ErrorCode::not_found, "run " + run.id + " ended with " +
                                                      run.result->value("outcome", "no result") +
                                                      ": there is no confirmed winner; see: accelopt show " + run.id);
  }
  TRY_ASSIGN(const auto winner, base::decode<model::Solution>(solution, "the winner of run " + run.id));
  return model::standing_alone(winner);
}

}  // namespace accelopt::app
