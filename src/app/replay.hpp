// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "app/run.hpp"
#include "search/search.hpp"

namespace accelopt::app {

/// What a run decides when it is repeated from its record.
struct Replay {
  search::RunReport report;
  /// Where it decided otherwise than the run did: "iteration 2, beam"; empty: nowhere, or the run kept no log.
  std::string first_difference;
  double seconds = 0;
};

/// Repeats a run's decisions under these settings, without agents and without a device. @error as search::run_search.
base::Result<Replay> replay_run(journal::Journal& journal, const journal::RunInfo& run, const RunSettings& settings,
                                const search::Stops& stops);

}  // namespace accelopt::app
