// SPDX-License-Identifier: Apache-2.0
#include "evaluation/requests.hpp"

#include <cmath>

#include "evaluation/evaluator_json.hpp"
#include "model/tuning.hpp"

namespace accelopt::evaluation {
namespace {

using base::ErrorCode;
using base::Json;
using model::Solution;

template <class T>
base::Result<Json> as_json(const base::Result<T>& result) {
  if (!result) return tl::make_unexpected(result.error());
  return Json(*result);
}

template <class T>
base::Result<T> argument(const Json& request, const char* name) {
  return base::decode<T>(request.value(name, Json()), name);
}

base::Result<void> refuse(const std::string& why) {
  return base::fail(ErrorCode::parse, why);
}

base::Result<void> check_interval(const model::Interval& interval, const std::string& what) {
  const bool finite = std::isfinite(interval.estimate) && std::isfinite(interval.low);
  if (!finite || interval.estimate <= 0 || interval.low > interval.estimate || interval.high < interval.estimate)
    return refuse(what + " is no interval of ratios");
  return {};
}

base::Result<void> check_workloads(const std::vector<model::WorkloadTiming>& workloads) {
  for (const model::WorkloadTiming& workload : workloads) {
    if (!std::isfinite(workload.time_ns) || workload.time_ns <= 0)
      return refuse("workload " + workload.name + " has no time");
    if (workload.ratio) TRY(check_interval(*workload.ratio, "the ratio of workload " + workload.name));
  }
  return {};
}

base::Result<void> check_evaluation(const Json& result, bool raced) {
  TRY_ASSIGN(const auto evaluation, base::decode<model::Evaluation>(result, "evaluation"));
  if (model::to_string(evaluation.status) != result.at("status").get<std::string>())
    return refuse("the status " + result.at("status").dump() + " is none");
  if (evaluation.status != model::Status::passed) return {};
  if (raced && !evaluation.ratio) return refuse("it passed and has no ratio");
  if (evaluation.ratio) TRY(check_interval(*evaluation.ratio, "the ratio"));
  return check_workloads(evaluation.workloads);
}

base::Result<void> check_playoff(const Json& request, const Json& result) {
  TRY_ASSIGN(const auto report, base::decode<PlayoffReport>(result, "play-off"));
  const Json arms = request.value("arms", Json::array());
  if (report.arms.size() != arms.size()) {
    return refuse(std::to_string(report.arms.size()) + " arms were scored, " + std::to_string(arms.size()) +
                  " were asked for");
  }
  for (const ArmScore& arm : report.arms) {
    if (!arm.measured) continue;
    TRY(check_interval(arm.score, "an arm's score"));
    TRY(check_workloads(arm.workloads));
  }
  return {};
}

base::Result<void> check_open(const Json& result) {
  TRY_ASSIGN(const auto report, base::decode<OpenReport>(result, "open"));
  if (report.device.name.empty()) return refuse("it names no device");
  return check_evaluation(result.at("baseline"), false);
}

}  // namespace

bool takes_values(const Solution& solution, const std::vector<std::int64_t>& values) {
  if (solution.sources.empty()) return false;
  const auto directives = model::tune_directives(solution);
  return directives && directives->tuned.size() == values.size();
}

base::Result<Json> perform(Evaluator& evaluator, const Json& request, std::stop_token stop) {
  TRY_ASSIGN(const auto op, argument<std::string>(request, "op"));
  if (op == "open") {
    TRY_ASSIGN(const auto task, argument<model::Task>(request, "task"));
    TRY_ASSIGN(const auto settings,
               base::decode<MeasureSettings>(request.value("settings", Json::object()), "settings"));
    return as_json(evaluator.open(task, settings, stop));
  }
  if (op == "triage") {
    TRY_ASSIGN(const auto candidate, argument<Solution>(request, "candidate"));
    TRY_ASSIGN(const auto opponent, argument<Solution>(request, "opponent"));
    return as_json(evaluator.triage(candidate, opponent, stop));
  }
  if (op == "playoff") {
    TRY_ASSIGN(const auto arms, argument<std::vector<Arm>>(request, "arms"));
    TRY_ASSIGN(const int places, argument<int>(request, "places"));
    return as_json(evaluator.playoff(arms, places, stop));
  }
  TRY_ASSIGN(const auto solution, argument<Solution>(request, "solution"));
  if (op == "build") return as_json(evaluator.build(solution, stop));
  if (op == "profile") return as_json(evaluator.profile(solution, stop));
  if (op == "confirm") return as_json(evaluator.confirm(solution, stop));
  if (op == "verify_held_out") {
    TRY_ASSIGN(const model::Status status, evaluator.verify_held_out(solution, stop));
    return Json(std::string(model::to_string(status)));
  }
  return base::fail(ErrorCode::invalid_argument, "unknown operation \"" + op + "\"");
}

base::Result<void> check_form(const Json& request, const Json& result) {
  TRY_ASSIGN(const auto op, argument<std::string>(request, "op"));
  if (op == "open") return check_open(result);
  if (op == "playoff") return check_playoff(request, result);
  if (op == "confirm") return check_evaluation(result, false);
  if (op == "triage") {
    TRY(check_evaluation(result, true));
    const auto tuning = result.value("tuning", Json());
    if (!tuning.is_object() || tuning.value("chosen", Json()).is_null()) return {};
    TRY_ASSIGN(const auto candidate, argument<Solution>(request, "candidate"));
    TRY_ASSIGN(const auto chosen, base::decode<std::vector<std::int64_t>>(tuning["chosen"], "chosen"));
    if (!takes_values(candidate, chosen)) return refuse("as many values must be chosen as the candidate leaves open");
    return {};
  }
  if (op == "build") {
    TRY_ASSIGN(const auto report, base::decode<model::BuildReport>(result, "build"));
    if (report.built && report.machine_code_id.empty()) return refuse("it built and has no machine code");
    return {};
  }
  if (op == "profile") {
    TRY(base::decode<model::Profile>(result, "profile"));
    return {};
  }
  if (op == "verify_held_out") {
    TRY_ASSIGN(const auto name, base::decode<std::string>(result, "status"));
    if (model::to_string(model::parse_status(name)) != name) return refuse("the status " + name + " is none");
    return {};
  }
  return base::fail(ErrorCode::parse, "unknown operation \"" + op + "\"");
}

}  // namespace accelopt::evaluation
