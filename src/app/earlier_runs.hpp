// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>

#include "base/result.hpp"
#include "journal/journal.hpp"
#include "model/task.hpp"
#include "search/estimate.hpp"

namespace accelopt::app {

/// What an estimate found in the workspace.
struct EarlierRuns {
  int runs = 0;                   ///< of the same task, for the same kind of device, that ended
  int alike = 0;                  ///< of them by the same agents
  std::set<std::string> devices;  ///< that they were measured on, as each names itself
};

/// Puts what earlier runs took in place of the guesses in `facts`: of all of them the device's times, of those by the
/// same agents (`authors`: by role) calls and tokens too. @error as the journal's.
base::Result<EarlierRuns> learn_from_earlier_runs(journal::Journal& journal, const model::Task& task,
                                                  const std::map<model::AgentRole, std::string>& authors,
                                                  const search::SearchSettings& settings, search::EstimateFacts& facts);

}  // namespace accelopt::app
