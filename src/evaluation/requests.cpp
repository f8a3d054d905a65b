// SPDX-License-Identifier: Apache-2.0
#include "evaluation/requests.hpp"

#include <cmath>
#include <type_traits>
#include <utility>

#include "evaluation/evaluator_json.hpp"
#include "model/tuning.hpp"

namespace accelopt::evaluation {
namespace {

using base::ErrorCode;
using base::Json;
using model::Solution;

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

std::string_view operation(const Request& request) {
  struct Names {
    std::string_view operator()(const Open&) const { return "open"; }
    std::string_view operator()(const Build&) const { return "build"; }
    std::string_view operator()(const Race&) const { return "triage"; }
    std::string_view operator()(const Profile&) const { return "profile"; }
    std::string_view operator()(const PlayOff&) const { return "playoff"; }
    std::string_view operator()(const HeldOut&) const { return "verify_held_out"; }
    std::string_view operator()(const Confirm&) const { return "confirm"; }
  };
  return std::visit(Names(), request);
}

Json to_json(const Request& request) {
  struct Arguments {
    Json operator()(const Open& open) const { return {{"task", open.task}, {"settings", open.settings}}; }
    Json operator()(const Race& race) const { return {{"candidate", race.candidate}, {"opponent", race.opponent}}; }
    Json operator()(const PlayOff& all) const { return {{"arms", all.arms}, {"places", all.places}}; }
    Json operator()(const Build& one) const { return {{"solution", one.solution}}; }
    Json operator()(const Profile& one) const { return {{"solution", one.solution}}; }
    Json operator()(const HeldOut& one) const { return {{"solution", one.solution}}; }
    Json operator()(const Confirm& one) const { return {{"solution", one.solution}}; }
  };
  Json out = std::visit(Arguments(), request);
  out["op"] = operation(request);
  return out;
}

base::Result<Request> parse_request(const Json& json) {
  TRY_ASSIGN(const auto op, argument<std::string>(json, "op"));
  if (op == "open") {
    Open open;
    TRY_ASSIGN(open.task, argument<model::Task>(json, "task"));
    TRY_ASSIGN(open.settings, base::decode<MeasureSettings>(json.value("settings", Json::object()), "settings"));
    return open;
  }
  if (op == "triage") {
    Race race;
    TRY_ASSIGN(race.candidate, argument<Solution>(json, "candidate"));
    TRY_ASSIGN(race.opponent, argument<Solution>(json, "opponent"));
    return race;
  }
  if (op == "playoff") {
    PlayOff all;
    TRY_ASSIGN(all.arms, argument<std::vector<Arm>>(json, "arms"));
    TRY_ASSIGN(all.places, argument<int>(json, "places"));
    return all;
  }
  TRY_ASSIGN(auto solution, argument<Solution>(json, "solution"));
  if (op == "build") return Build{std::move(solution)};
  if (op == "profile") return Profile{std::move(solution)};
  if (op == "verify_held_out") return HeldOut{std::move(solution)};
  if (op == "confirm") return Confirm{std::move(solution)};
  return base::fail(ErrorCode::invalid_argument, "unknown operation \"" + op + "\"");
}

Json to_json(const Reply& reply) {
  struct Form {
    Json operator()(const model::Status& status) const { return model::to_string(status); }
    Json operator()(const OpenReport& report) const { return report; }
    Json operator()(const model::BuildReport& report) const { return report; }
    Json operator()(const model::Evaluation& evaluation) const { return evaluation; }
    Json operator()(const model::Profile& profile) const { return profile; }
    Json operator()(const PlayoffReport& report) const { return report; }
  };
  return std::visit(Form(), reply);
}

base::Result<Reply> parse_reply(const Request& request, const Json& json, std::string_view whose) {
  const std::string what = std::string(whose) + " answer to " + std::string(operation(request));
  return answer_by_type(request, [&](const auto& own) -> base::Result<typename std::decay_t<decltype(own)>::Reply> {
    using Own = typename std::decay_t<decltype(own)>::Reply;
    if constexpr (std::is_same_v<Own, model::Status>) {
      TRY_ASSIGN(const auto name, base::decode<std::string>(json, what));
      return model::parse_status(name);
    } else {
      return base::decode<Own>(json, what);
    }
  });
}

base::Result<Json> perform(Evaluator& evaluator, const Json& request, std::stop_token stop) {
  TRY_ASSIGN(const Request parsed, parse_request(request));
  TRY_ASSIGN(const Reply reply, evaluator.answer(parsed, std::move(stop)));
  return to_json(reply);
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
