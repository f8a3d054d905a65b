// SPDX-License-Identifier: Apache-2.0
// The smallest change that keeps a winner's gain.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "app/device.hpp"
#include "app/shell.hpp"
#include "base/result.hpp"
#include "evaluation/evaluator.hpp"
#include "model/solution.hpp"
#include "model/task.hpp"

namespace accelopt::app {

struct Minimised {
  model::Solution solution;  ///< the winner itself where nothing was taken back
  int edits = 0;             ///< of the winner, runs of changed lines
  int taken_back = 0;
  // Confirmed one after the other on the same device: baseline time / its time.
  model::Interval winner;
  model::Interval minimised;
  std::string
      note{};  ///< why the winner stays where edits had been taken back and the rest did not confirm; else empty
};

/// Told what is being done, a line at a time.
using MinimiseProgress = std::function<void(const std::string& step)>;

/// Takes the winner's edits of the baseline back one by one, the last one first. An edit stays back if what is left is
/// the same machine code, or passes verification and ties with the winner in a play-off beside it: their intervals
/// meet, and it is at most kMostLoss slower. What is left is confirmed, and so is the winner. The winner has no values
/// left open.
/// @error unavailable: baseline or winner fail here; as the evaluator; cancelled.
base::Result<Minimised> minimise(evaluation::Evaluator& evaluator, const model::Task& task,
                                 const model::Solution& winner, const MinimiseProgress& progress,
                                 const std::stop_token& stop);

/// The same on a device. @error as make_evaluator.
base::Result<Minimised> minimise(const Shell& shell, const DeviceFlags& device, const model::Task& task,
                                 const model::Solution& winner, const MinimiseProgress& progress);

/// Of the winner's speed, that all edits together may lose and still count as a tie.
inline constexpr double kMostLoss = 0.02;

}  // namespace accelopt::app
