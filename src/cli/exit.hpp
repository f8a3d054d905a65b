// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace accelopt::cli {

/// Exit codes, as documented in `accelopt --help` and docs/cli.md.
enum class Exit {
  done = 0,
  error = 1,         ///< something could not be found out or done
  usage = 2,         ///< the command line cannot be understood
  no_gain = 3,       ///< searched, and found nothing faster
  budget = 4,        ///< a budget ended the run without a gain
  check_failed = 5,  ///< a check failed: the baseline, a task's lint, a replay's hash
  waiting = 6,       ///< waits for answers or a bundle
  interrupted = 130,
};

}  // namespace accelopt::cli
