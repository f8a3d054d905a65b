// SPDX-License-Identifier: Apache-2.0
// An evaluator with a method for each kind of request, so that a fake can replace one of them.
#pragma once

#include <vector>

#include "evaluation/evaluator.hpp"

namespace accelopt::fakes {

class NamedEvaluator : public evaluation::Evaluator {
 public:
  virtual base::Result<evaluation::OpenReport> open(const model::Task& task,
                                                    const evaluation::MeasureSettings& settings,
                                                    std::stop_token stop) = 0;
  virtual base::Result<model::BuildReport> build(const model::Solution& solution, std::stop_token stop) = 0;
  virtual base::Result<model::Evaluation> triage(const model::Solution& candidate, const model::Solution& opponent,
                                                 std::stop_token stop) = 0;
  virtual base::Result<model::Profile> profile(const model::Solution& solution, std::stop_token stop) = 0;
  virtual base::Result<evaluation::PlayoffReport> playoff(const std::vector<evaluation::Arm>& arms, int places,
                                                          std::stop_token stop) = 0;
  virtual base::Result<model::Status> verify_held_out(const model::Solution& solution, std::stop_token stop) = 0;
  virtual base::Result<model::Evaluation> confirm(const model::Solution& solution, std::stop_token stop) = 0;

  base::Outcome<evaluation::Reply> answer(const evaluation::Request& request, std::stop_token stop) final {
    return evaluation::answer_by_type(request, [&](const auto& own) { return call(own, stop); });
  }

 private:
  auto call(const evaluation::Open& one, std::stop_token stop) { return open(one.task, one.settings, stop); }
  auto call(const evaluation::Build& one, std::stop_token stop) { return build(one.kernel.solution(), stop); }
  auto call(const evaluation::Race& one, std::stop_token stop) {
    return triage(one.candidate.solution(), one.opponent.solution(), stop);
  }
  auto call(const evaluation::Profile& one, std::stop_token stop) { return profile(one.kernel.solution(), stop); }
  auto call(const evaluation::PlayOff& one, std::stop_token stop) { return playoff(one.arms, one.places, stop); }
  auto call(const evaluation::HeldOut& one, std::stop_token stop) {
    return verify_held_out(one.kernel.solution(), stop);
  }
  auto call(const evaluation::Confirm& one, std::stop_token stop) { return confirm(one.kernel.solution(), stop); }
};

}  // namespace accelopt::fakes
