// SPDX-License-Identifier: Apache-2.0
// A worker that measures nothing: the fake evaluator behind the real protocol. Sources say how it dies:
//   die_always            in the middle of its triage, every time
//   die_once=<file>       the same, unless the file is there; it is made before
//   die_building          while it is built
// The first argument, if any, is a file to which one byte is added at each start.
#include <csignal>
#include <fstream>
#include <thread>

#include "evaluation/worker.hpp"
#include "fakes/fake_evaluator.hpp"

namespace {

using accelopt::model::Solution;

class DyingEvaluator final : public accelopt::fakes::FakeEvaluator {
 public:
  accelopt::base::Result<accelopt::model::BuildReport> build(const Solution& solution, std::stop_token stop) override {
    if (accelopt::fakes::claims(main_text(solution), "die_building")) std::raise(SIGKILL);
    return FakeEvaluator::build(solution, std::move(stop));
  }

  accelopt::base::Result<accelopt::model::Evaluation> triage(const Solution& candidate, const Solution& opponent,
                                                             std::stop_token stop) override {
    const std::string& text = main_text(candidate);
    if (accelopt::fakes::claims(text, "die_always")) std::raise(SIGKILL);
    if (const auto at = text.find("die_once="); at != std::string::npos) {
      const std::string file = text.substr(at + 9);
      if (!std::ifstream(file)) {
        std::ofstream(file) << 'x';
        std::raise(SIGKILL);
      }
    }
    if (accelopt::fakes::claims(text, "wait_for_stop")) {
      while (!stop.stop_requested()) std::this_thread::yield();
      return accelopt::base::fail(accelopt::base::ErrorCode::cancelled, "stopped in the middle");
    }
    return FakeEvaluator::triage(candidate, opponent, std::move(stop));
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) std::ofstream(argv[1], std::ios::app) << 'x';
  if (argc > 2) return 3;  // asked to fail at the start
  DyingEvaluator evaluator;
  return accelopt::evaluation::serve_evaluator(evaluator, {}, 0, 1) ? 0 : 1;
}
