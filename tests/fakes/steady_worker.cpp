// SPDX-License-Identifier: Apache-2.0
// A worker whose every measurement is a function of the source alone (fake_evaluator.hpp), behind the real protocol:
// two runs with equal answers come to equal decisions. The profile has several items, so that the prompts of equal
// questions differ by the order in which the planner sees them.
//   steady_worker [MILLISECONDS]    that the device is busy with each request; default 2
#include <chrono>
#include <cstdlib>
#include <thread>

#include "evaluation/worker.hpp"
#include "fakes/fake_evaluator.hpp"

namespace {

namespace evaluation = accelopt::evaluation;
using accelopt::base::Result;
using accelopt::model::Solution;

class SteadyEvaluator final : public accelopt::fakes::FakeEvaluator {
 public:
  explicit SteadyEvaluator(std::chrono::milliseconds time) : time_(time) {}

  Result<accelopt::model::BuildReport> build(const Solution& solution, std::stop_token stop) override {
    spend();
    return FakeEvaluator::build(solution, std::move(stop));
  }
  Result<accelopt::model::Evaluation> triage(const Solution& candidate, const Solution& opponent,
                                             std::stop_token stop) override {
    spend();
    auto evaluation = FakeEvaluator::triage(candidate, opponent, std::move(stop));
    const double seconds = std::chrono::duration<double>(time_).count();
    if (evaluation) evaluation->stages = {{"verify", seconds / 4}, {"triage", seconds * 3 / 4}};
    return evaluation;
  }
  Result<accelopt::model::Profile> profile(const Solution& solution, std::stop_token) override {
    spend();
    ++profiles;
    const double speed = accelopt::fakes::claimed_speed(main_text(solution));
    accelopt::model::Profile profile;
    for (const char* name : {"cold time", "hot time", "loads", "stores", "branches", "code size", "intensity"})
      profile.items.push_back({name, speed * static_cast<double>(1 + profile.items.size()), "", "of this kernel"});
    return profile;
  }
  Result<evaluation::PlayoffReport> playoff(const std::vector<evaluation::Arm>& arms, int places,
                                            std::stop_token stop) override {
    spend();
    return FakeEvaluator::playoff(arms, places, std::move(stop));
  }
  Result<accelopt::model::Evaluation> confirm(const Solution& solution, std::stop_token stop) override {
    spend();
    return FakeEvaluator::confirm(solution, std::move(stop));
  }

 private:
  void spend() const { std::this_thread::sleep_for(time_); }

  std::chrono::milliseconds time_;
};

}  // namespace

int main(int argc, char** argv) {
  SteadyEvaluator evaluator(std::chrono::milliseconds(argc > 1 ? std::atoi(argv[1]) : 2));
  evaluation::Hello hello;
  hello.version = "steady";
  hello.target = "cpu";
  hello.device = "steady";
  return evaluation::serve_evaluator(evaluator, {.hello = hello}, 0, 1) ? 0 : 1;
}
