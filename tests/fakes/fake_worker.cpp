// SPDX-License-Identifier: Apache-2.0
// A worker that measures nothing: the fake evaluator behind the real protocol. Sources say how it dies:
//   die_always            in the middle of its triage, every time
//   die_once=<file>       the same, unless the file is there; it is made before
//   die_building          while it is built
//   environment=<file>    writes its environment there
//   progress              tells how far it is, right and wrong, and what nobody knows
//   no_ratio, low_end, no_end, negative_time, zero_sample    is answered with what no measurement gives
//   tells_seed            says from which seed its inputs would be drawn
//   meets=<file>,<file>   makes the first file and is measured until the second is there: by another race
// The first argument, if any, is a file to which one byte is added at each start; the second is how it misbehaves:
//   fail  exits with 3    banner  prints lines before its hello    babble  prints what is no hello, without end
//   silent  says nothing  old  speaks another version of the protocol    cuda  measures on another target
//   deaf  says hello and reads nothing
//   names_no_opponent  races without saying against what
//   once  as usual; where the file of starts was there before, exits with 3    dies_building  at every build
//   full  its disk is full at every build    unsure  cannot tell what a kernel to build is
//   moves  as usual; where the file of starts was there before, as device
//   device, driver, compiler  says another one of itself    wrong  the baseline does not pass on it
//   echo  says hello, and repeats what it reads, as a terminal does
//   missing  exits with 127 and a shell's words    orphan  leaves behind a program that holds its channel
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iostream>
#include <limits>
#include <string>
#include <thread>

#include "fakes/fake_evaluator.hpp"
#include "worker/serve.hpp"

namespace {

using accelopt::model::Solution;

class DyingEvaluator final : public accelopt::fakes::FakeEvaluator {
 public:
  explicit DyingEvaluator(std::string manner) : manner_(std::move(manner)) {}

  accelopt::base::Result<accelopt::evaluation::OpenReport> open(const accelopt::model::Task& task,
                                                                const accelopt::evaluation::MeasureSettings& settings,
                                                                std::stop_token stop) override {
    if (manner_ == "wrong") baseline_status = accelopt::model::Status::incorrect_numerical;
    auto report = FakeEvaluator::open(task, settings, std::move(stop));
    seed_ = settings.seed;
    if (manner_ == "device" || manner_ == "moved") report->device.name = "another device";
    if (manner_ == "driver") report->baseline.environment.device = "fake, driver 2";
    if (manner_ == "compiler") report->device.compiler = "g++ 99";
    return report;
  }

  accelopt::base::Result<accelopt::model::BuildReport> build(const Solution& solution, std::stop_token stop) override {
    if (accelopt::fakes::claims(main_text(solution), "die_building") || manner_ == "dies_building") std::raise(SIGKILL);
    if (manner_ == "full") return accelopt::base::fail(accelopt::base::ErrorCode::exhausted, "the disk is full");
    if (manner_ == "unsure") return accelopt::base::fail(accelopt::base::ErrorCode::unsupported, "no such kernels");
    return FakeEvaluator::build(solution, std::move(stop));
  }

  accelopt::base::Result<accelopt::model::Evaluation> triage(const Solution& candidate, const Solution& opponent,
                                                             std::stop_token stop) override {
    const std::string& text = main_text(candidate);
    if (opens == 0) return accelopt::base::fail(accelopt::base::ErrorCode::invalid_argument, "no task is open");
    if (const auto at = text.find("meets="); at != std::string::npos) meet(text.substr(at + 6));
    if (accelopt::fakes::claims(text, "die_always")) std::raise(SIGKILL);
    if (const auto at = text.find("die_once="); at != std::string::npos) {
      const std::string file = text.substr(at + 9);
      if (!std::ifstream(file)) {
        std::ofstream(file) << 'x';
        std::raise(SIGKILL);
      }
    }
    if (const auto at = text.find("environment="); at != std::string::npos) {
      std::ofstream out(text.substr(at + 12));
      for (char** entry = environ; *entry != nullptr; ++entry) out << *entry << '\n';
    }
    if (accelopt::fakes::claims(text, "progress")) {
      for (const char* share : {R"({"part":"racing","done":12,"of":100})", R"({"part":"dancing","done":1,"of":2})",
                                R"({"part":"racing","done":3,"of":2})", R"({"part":"racing","done":"x"})", "7"}) {
        std::cout << R"({"id":2,"event":"progress","share":)" << share << "}\n";
      }
      std::cout << R"({"id":2,"event":"of a later version"})" << std::endl;
    }
    if (accelopt::fakes::claims(text, "wait_for_stop")) {
      while (!stop.stop_requested()) std::this_thread::yield();
      return accelopt::base::fail(accelopt::base::ErrorCode::cancelled, "stopped in the middle");
    }
    auto evaluation = FakeEvaluator::triage(candidate, opponent, std::move(stop));
    if (evaluation && manner_ == "names_no_opponent") evaluation->opponent.clear();
    if (evaluation && accelopt::fakes::claims(text, "tells_seed")) evaluation->environment.seed = seed_;
    return distorted(std::move(evaluation), text);
  }

  accelopt::base::Result<accelopt::model::Evaluation> confirm(const Solution& solution, std::stop_token stop) override {
    return distorted(FakeEvaluator::confirm(solution, std::move(stop)), main_text(solution));
  }

 private:
  static accelopt::base::Result<accelopt::model::Evaluation> distorted(
      accelopt::base::Result<accelopt::model::Evaluation> evaluation, const std::string& text) {
    if (!evaluation) return evaluation;
    if (accelopt::fakes::claims(text, "no_ratio")) evaluation->ratio.reset();
    if (accelopt::fakes::claims(text, "low_end")) evaluation->ratio = {1, -1, 9.2e18};
    if (accelopt::fakes::claims(text, "no_end")) evaluation->ratio = {1, 1, std::numeric_limits<double>::quiet_NaN()};
    if (accelopt::fakes::claims(text, "negative_time")) evaluation->workloads.front().time_ns = -1;
    if (accelopt::fakes::claims(text, "zero_sample")) evaluation->samples.push_back({{1.0}, {0.0}});
    return evaluation;
  }

  static void meet(const std::string& files) {
    const auto comma = files.find(',');
    std::ofstream(files.substr(0, comma)) << 'x';
    while (!std::ifstream(files.substr(comma + 1))) std::this_thread::yield();
  }

  std::string manner_;
  std::uint64_t seed_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const bool first = argc < 2 || !std::ifstream(argv[1]);
  if (argc > 1) std::ofstream(argv[1], std::ios::app) << 'x';
  const std::string manner = argc > 2 ? argv[2] : "";
  accelopt::worker::Hello hello;
  hello.version = "9.9.9";
  hello.device = "fake";
  if (manner == "fail" || (manner == "once" && !first)) return 3;  // asked to fail at the start
  if (manner == "missing") {
    std::cerr << "sh: 1: accelopt: not found" << std::endl;
    return 127;
  }
  if (manner == "banner") std::cout << "Welcome to \x1b[1mhost\x1b[0m!\n{\"id\": 1}\nYou have mail. " << std::flush;
  while (manner == "babble") {
    if (!(std::cout << "no such words are spoken by a worker\n")) return 0;
  }
  if (manner == "silent") std::cin.ignore(std::numeric_limits<std::streamsize>::max());
  if (manner == "old") hello.protocol = 0;
  if (manner == "cuda") hello.target = "cuda";
  if (manner == "orphan" && fork() == 0) {
    setsid();
    alarm(20);  // longer than any test waits for it
    pause();
  }
  if (manner == "orphan") return 4;
  if (manner == "deaf") {
    std::cout << accelopt::base::canonical(hello) << std::endl;
    pause();
  }
  if (manner == "echo") {
    std::cout << accelopt::base::canonical(hello) << std::endl;
    for (std::string line; std::getline(std::cin, line);) std::cout << line << std::endl;
    return 0;
  }
  DyingEvaluator evaluator(manner == "moves" && !first ? "moved" : manner);
  return accelopt::worker::serve_evaluator(evaluator, {.hello = hello}, 0, 1) ? 0 : 1;
}
