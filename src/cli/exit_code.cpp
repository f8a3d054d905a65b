// SPDX-License-Identifier: Apache-2.0
#include "cli/exit_code.hpp"

namespace accelopt::cli {

Exit exit_of(search::Outcome outcome) {
  switch (outcome) {
    case search::Outcome::improved:
      return Exit::done;
    case search::Outcome::no_gain:
      return Exit::no_gain;
    case search::Outcome::budget:
      return Exit::budget;
    case search::Outcome::interrupted:
      return Exit::interrupted;
    case search::Outcome::waiting:
      return Exit::waiting;
  }
  return Exit::error;
}

Exit exit_of(const journal::RunInfo& run) {
  if (run.status == "interrupted") return Exit::interrupted;
  if (run.status == "waiting") return Exit::waiting;
  const std::string outcome = run.result ? run.result->value("outcome", "") : "";
  if (run.status != "done" || outcome.empty()) return Exit::error;
  return outcome == "improved" ? Exit::done : outcome == "budget" ? Exit::budget : Exit::no_gain;
}

}  // namespace accelopt::cli
