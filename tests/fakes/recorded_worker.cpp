// SPDX-License-Identifier: Apache-2.0
// A worker that measures nothing: it gives the measurements of one recorded run, from its measurements.json, behind the
// real protocol. What the run did not measure is an error.
//   recorded_worker FILE
#include <fstream>
#include <iostream>
#include <mutex>
#include <sstream>

#include "base/json.hpp"
#include "evaluation/evaluator_json.hpp"
#include "fakes/named_evaluator.hpp"
#include "worker/serve.hpp"

namespace {

namespace evaluation = accelopt::evaluation;
namespace worker = accelopt::worker;
namespace model = accelopt::model;
using accelopt::base::ErrorCode;
using accelopt::base::Json;
using accelopt::base::Result;
using model::Solution;

class RecordedEvaluator final : public accelopt::fakes::NamedEvaluator {
 public:
  explicit RecordedEvaluator(Json recorded) : recorded_(std::move(recorded)) {}

  Result<evaluation::OpenReport> open(const model::Task&, const evaluation::MeasureSettings&,
                                      std::stop_token) override {
    return accelopt::base::decode<evaluation::OpenReport>(recorded_.at("open"), "the recorded opening");
  }
  Result<model::BuildReport> build(const Solution& solution, std::stop_token) override {
    return found<model::BuildReport>("builds", model::source_id(solution));
  }
  Result<model::Evaluation> triage(const Solution& candidate, const Solution& opponent, std::stop_token) override {
    return found<model::Evaluation>("triages", model::source_id(candidate) + " " + model::source_id(opponent));
  }
  Result<model::Profile> profile(const Solution& solution, std::stop_token) override {
    return found<model::Profile>("profiles", model::source_id(solution));
  }
  Result<evaluation::PlayoffReport> playoff(const std::vector<evaluation::Arm>& arms, int, std::stop_token) override {
    // A round has one, and the rounds come in order.
    const std::lock_guard lock(mutex_);
    const Json& all = recorded_.at("playoffs");
    if (playoffs_ >= all.size() || all[playoffs_].at("arms").size() != arms.size())
      return accelopt::base::fail(ErrorCode::not_found, "another play-off than was recorded");
    return accelopt::base::decode<evaluation::PlayoffReport>(all[playoffs_++], "the recorded play-off");
  }
  Result<model::Status> verify_held_out(const Solution& solution, std::stop_token) override {
    TRY_ASSIGN(const auto name, found<std::string>("held_out", model::source_id(solution)));
    return model::parse_status(name);
  }
  Result<model::Evaluation> confirm(const Solution& solution, std::stop_token) override {
    return found<model::Evaluation>("confirmations", model::source_id(solution));
  }

 private:
  template <class T>
  Result<T> found(const char* kind, const std::string& key) const {
    const Json& table = recorded_.at(kind);
    const auto it = table.find(key);
    if (it == table.end())
      return accelopt::base::fail(ErrorCode::not_found, std::string("not among the recorded ") + kind + ": " + key);
    return accelopt::base::decode<T>(*it, std::string("the recorded ") + kind);
  }

  const Json recorded_;
  std::mutex mutex_;
  std::size_t playoffs_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  std::ifstream file(argc > 1 ? argv[1] : "");
  Json recorded = Json::parse(file, nullptr, false);
  if (recorded.is_discarded()) {
    std::cerr << "recorded_worker: no JSON in " << (argc > 1 ? argv[1] : "(no file named)") << '\n';
    return 1;
  }
  worker::Hello hello;
  hello.version = "recorded";
  hello.target = recorded.value("target", "");
  hello.device = "recorded";
  RecordedEvaluator evaluator(std::move(recorded));
  return worker::serve_evaluator(evaluator, {.hello = hello}, 0, 1) ? 0 : 1;
}
