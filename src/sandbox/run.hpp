// SPDX-License-Identifier: Apache-2.0
// Runs a program in the sandbox to its end and collects what it prints.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>

#include "sandbox/pause_gate.hpp"
#include "sandbox/process.hpp"

namespace accelopt::sandbox {

/// How the peak of resident memory is found out. as_told: by what the kernel tells at the end, which is never less than
/// this process's own peak was. followed: looked at as the program ends, so that a smaller one is known as well; where
/// this machine does not report ends, every millisecond.
enum class Peak { as_told, followed };

struct RunLimits {
  std::chrono::milliseconds wall{60'000};  ///< time that the gate is closed, or this process suspended, does not count
  std::size_t output_bytes = 4UL * 1024 * 1024;  ///< of standard output and error together; more is dropped
  Peak peak = Peak::as_told;
};

struct RunResult {
  ExitState state;
  bool timed_out = false;
  std::string output;    ///< standard output and error, as they came
  bool dropped = false;  ///< there was more of it than RunLimits::output_bytes
  double seconds = 0;    ///< from start to end, without that time
};

/// Starts the program with its output captured, but for what `options.descriptors` sends elsewhere, and waits for its
/// end. Its process group obeys `gate`, which may be
/// null, and is killed with it.
/// @error as spawn; cancelled: `stop` was asked for, the program is dead.
base::Result<RunResult> run(SpawnOptions options, const RunLimits& limits, PauseGate* gate,
                            const std::stop_token& stop);

}  // namespace accelopt::sandbox
