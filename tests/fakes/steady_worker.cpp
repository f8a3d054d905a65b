// SPDX-License-Identifier: Apache-2.0
// A worker whose every measurement is a function of the source alone (fake_evaluator.hpp), behind the real protocol:
// two runs with equal answers come to equal decisions. The profile has several items, so that the prompts of equal
// questions differ by the order in which the planner sees them.
//   steady_worker [MILLISECONDS [DEVICE [OPERATION FILE]]]
// MILLISECONDS: that the device is busy with each request; default 2. DEVICE: its name; default "fake". OPERATION:
// "triage" or "playoff"; it dies when it is asked for the second one, unless FILE is there, which it makes.
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include "fakes/fake_evaluator.hpp"
#include "worker/serve.hpp"

namespace {

namespace evaluation = accelopt::evaluation;
namespace worker = accelopt::worker;
using accelopt::base::Result;
using accelopt::model::Solution;

/// What kills the worker, and the file that says that it was killed before.
struct Death {
  std::string operation;
  std::string file;
};

class SteadyEvaluator final : public accelopt::fakes::FakeEvaluator {
 public:
  SteadyEvaluator(std::chrono::milliseconds time, std::string device, Death death)
      : time_(time), device_(std::move(device)), death_(std::move(death)) {}

  Result<evaluation::OpenReport> open(const accelopt::model::Task& task, const evaluation::MeasureSettings& settings,
                                      std::stop_token stop) override {
    auto report = FakeEvaluator::open(task, settings, std::move(stop));
    if (report) report->device.name = device_;
    return report;
  }

  Result<accelopt::model::BuildReport> build(const Solution& solution, std::stop_token stop) override {
    spend();
    return FakeEvaluator::build(solution, std::move(stop));
  }
  Result<accelopt::model::Evaluation> triage(const Solution& candidate, const Solution& opponent,
                                             std::stop_token stop) override {
    spend();
    if (triages == 1) die_of("triage");
    auto evaluation = FakeEvaluator::triage(candidate, opponent, std::move(stop));
    const double seconds = std::chrono::duration<double>(time_).count();
    using accelopt::model::Stage;
    if (evaluation) evaluation->stages = {{Stage::verify, seconds / 4}, {Stage::triage, seconds * 3 / 4}};
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
    if (playoffs == 1) die_of("playoff");
    return FakeEvaluator::playoff(arms, places, std::move(stop));
  }
  Result<accelopt::model::Evaluation> confirm(const Solution& solution, std::stop_token stop) override {
    spend();
    return FakeEvaluator::confirm(solution, std::move(stop));
  }

 private:
  void spend() const { std::this_thread::sleep_for(time_); }

  void die_of(const std::string& operation) const {
    if (operation != death_.operation || std::ifstream(death_.file)) return;
    std::ofstream(death_.file) << operation;
    std::raise(SIGKILL);
  }

  std::chrono::milliseconds time_;
  std::string device_;
  Death death_;
};

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int number, const char* otherwise) { return argc > number ? argv[number] : otherwise; };
  SteadyEvaluator evaluator(std::chrono::milliseconds(std::atoi(argument(1, "2"))), argument(2, "fake"),
                            {argument(3, ""), argument(4, "")});
  worker::Hello hello;
  hello.version = "steady";
  hello.target = "cpu";
  hello.device = "steady";
  return worker::serve_evaluator(evaluator, {.hello = hello}, 0, 1) ? 0 : 1;
}
