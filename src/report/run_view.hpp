// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "model/events.hpp"

namespace accelopt::report {

/// What is known of a run from its events so far. Used by one thread at a time.
class RunView {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit RunView(Time start) : start_(start) {}

  void apply(const model::Event& event, Time now);

  /// "iteration 2/6 | best 9.12x [9.05, 9.20] | $0.12 | 1m 05s, about 2m 10s left | 3 executing, 4 of 8 done | 14
  /// evaluations | CPU model": what a narrow terminal should keep comes first.
  [[nodiscard]] std::string status_line(Time now) const;

  [[nodiscard]] int iterations() const { return iterations_; }

 private:
  void apply_to_attempt(const model::AttemptMoved& moved);
  [[nodiscard]] std::string attempts_text() const;
  [[nodiscard]] std::string spend_text() const;
  [[nodiscard]] std::string time_text(Time now) const;

  Time start_;
  std::string device_;
  int iterations_ = 0;
  int iteration_ = -1;           ///< running; -1: none yet
  int finished_iterations_ = 0;  ///< that this process saw end
  bool selected_ = false;        ///< the running one's play-off is over
  Time iterations_begin_;        ///< of the first one
  Time last_selection_;
  std::map<model::Identity, model::AttemptState> attempts_;  ///< of this iteration; fix -1, plans that wait attempt -1
  std::optional<model::BeamMember> incumbent_;
  int evaluations_ = 0;  ///< up to the last selection
  int measured_ = 0;     ///< since then
  model::Usage usage_;
  bool waiting_ = false;  ///< for the device
  std::string phase_;     ///< what is being done after the iterations
};

}  // namespace accelopt::report
