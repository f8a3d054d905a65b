// SPDX-License-Identifier: Apache-2.0
// What the user tells a run's planners while it goes on.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/outcome.hpp"
#include "base/result.hpp"
#include "model/events.hpp"
#include "search/recorder.hpp"

namespace accelopt::search {

/// All hints but the first `taken`, oldest first.
using HintSource = std::function<base::Result<std::vector<std::string>>(std::size_t taken)>;

/// Each hint is for the planners of the next iteration that has no plan yet: plans on record are kept as they are. What
/// an iteration took is a recorded step, so that a resumed run and a replay ask the same. Used by one thread at a time;
/// recorder and events outlive it.
class Hints {
 public:
  Hints(HintSource source, Recorder& recorder, model::EventSink& events)
      : source_(std::move(source)), recorder_(recorder), events_(events) {}

  /// What this iteration's planners are shown, a line each; empty: nothing was told. @error as the journal's.
  base::Outcome<std::string> take(int iteration);

  /// A question of the iteration waits for its answer elsewhere: it takes no further hints. @error as the journal's.
  base::Outcome<void> close(int iteration);

 private:
  HintSource source_;
  Recorder& recorder_;
  model::EventSink& events_;
  std::size_t taken_ = 0;
};

}  // namespace accelopt::search
