// SPDX-License-Identifier: Apache-2.0
#include "evaluation/requests.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <utility>

#include "evaluation/evaluator_json.hpp"
#include "model/kernel.hpp"

namespace accelopt::evaluation {
namespace {

using base::ErrorCode;
using base::Json;
using model::Kernel;

template <class T>
base::Result<T> argument(const Json& request, const char* name) {
  if (!request.is_object()) return base::fail(ErrorCode::parse, "a request is a JSON object");
  return base::decode<T>(request.value(name, Json()), name);
}

base::Result<void> refuse(const std::string& why) {
  return base::fail(ErrorCode::parse, why);
}

base::Result<void> check_interval(const model::Interval& interval, const std::string& what) {
  // An end that is not known is infinite; no comparison holds of a NaN.
  const bool in_order = 0 < interval.low && interval.low <= interval.estimate && interval.estimate <= interval.high;
  if (!in_order || !std::isfinite(interval.estimate)) return refuse(what + " is no interval of ratios");
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

base::Result<void> check_status(model::Status status, const Json& name) {
  if (name == model::to_string(status)) return {};
  return refuse("the status " + name.dump() + " is none");
}

base::Result<void> check_times(std::initializer_list<std::span<const double>> lists) {
  for (const std::span<const double> times : lists) {
    if (!std::ranges::all_of(times, [](double time) { return std::isfinite(time) && time > 0; }))
      return refuse("a sample is no time");
  }
  return {};
}

enum class Raced { no, yes };
base::Result<void> check_evaluation(const model::Evaluation& evaluation, const Json& result, Raced raced) {
  TRY(check_status(evaluation.status, result.at("status")));
  if (evaluation.status != model::Status::passed) return {};
  if (raced == Raced::yes && !evaluation.ratio) return refuse("it passed and has no ratio");
  if (evaluation.ratio) TRY(check_interval(*evaluation.ratio, "the ratio"));
  for (const model::BlockSample& sample : evaluation.samples)
    TRY(check_times({sample.reference_ns, sample.candidate_ns, sample.shifted_ns}));
  return check_workloads(evaluation.workloads);
}

base::Result<void> check_arms(const PlayoffReport& report) {
  for (const ArmScore& arm : report.arms) {
    if (!arm.measured) continue;
    TRY(check_interval(arm.score, "an arm's score"));
    TRY(check_workloads(arm.workloads));
  }
  const auto is_arm = [&](int arm) { return arm >= 0 && static_cast<std::size_t>(arm) < report.arms.size(); };
  for (const PlayoffSample& sample : report.samples) {
    if (sample.times_ns.size() != report.arms.size() ||
        !std::all_of(sample.failed.begin(), sample.failed.end(), is_arm))
      return refuse("a block of the play-off has other arms");
    for (const std::vector<double>& times : sample.times_ns) TRY(check_times({times}));
  }
  return {};
}

/// Whether the reply to a request has the form that it asks for. `result` is the reply's JSON.
struct FormCheck {
  const Json& result;
  model::Protocol protocol = model::Protocol::blocks;

  base::Result<void> operator()(const Open&, const OpenReport& report) const {
    if (report.device.name.empty()) return refuse("it names no device");
    return check_evaluation(report.baseline, result.at("baseline"), Raced::no);
  }
  base::Result<void> operator()(const Build&, const model::BuildReport& report) const {
    if (report.built && report.machine_code_id.empty()) return refuse("it built and has no machine code");
    return {};
  }
  base::Result<void> operator()(const Race& race, const model::Evaluation& evaluation) const {
    TRY(check_evaluation(evaluation, result, protocol == model::Protocol::verify ? Raced::no : Raced::yes));
    const auto& tuning = evaluation.tuning;
    if (!tuning || !tuning->chosen || race.candidate.with_values(*tuning->chosen)) return {};
    return refuse("as many values must be chosen as the candidate leaves open");
  }
  base::Result<void> operator()(const Profile&, const model::Profile&) const { return {}; }
  base::Result<void> operator()(const PlayOff& all, const PlayoffReport& report) const {
    if (report.arms.size() != all.arms.size()) {
      return refuse(std::to_string(report.arms.size()) + " arms were scored, " + std::to_string(all.arms.size()) +
                    " were asked for");
    }
    return check_arms(report);
  }
  base::Result<void> operator()(const HeldOut&, model::Status status) const { return check_status(status, result); }
  base::Result<void> operator()(const Confirm&, const model::Evaluation& evaluation) const {
    return check_evaluation(evaluation, result, Raced::yes);
  }
};

/// Fills in the arguments of a request from JSON.
struct ArgumentReader {
  const Json& json;

  base::Result<void> operator()(Open& open) const {
    TRY_ASSIGN(open.task, argument<model::Task>(json, "task"));
    TRY_ASSIGN(open.settings, read_settings(json.value("settings", Json::object()), "settings"));
    return {};
  }
  base::Result<void> operator()(Race& race) const {
    TRY_ASSIGN(race.candidate, argument<Kernel>(json, "candidate"));
    TRY_ASSIGN(race.opponent, argument<Kernel>(json, "opponent"));
    return {};
  }
  base::Result<void> operator()(PlayOff& all) const {
    TRY_ASSIGN(all.arms, argument<std::vector<Arm>>(json, "arms"));
    TRY_ASSIGN(all.places, argument<int>(json, "places"));
    return {};
  }
  template <class OfOneSolution>
  base::Result<void> operator()(OfOneSolution& one) const {
    TRY_ASSIGN(one.kernel, argument<Kernel>(json, "solution"));
    return {};
  }
};

/// The request of that name, without its arguments.
base::Result<Request> named_request(const Json& json) {
  TRY_ASSIGN(const auto op, argument<std::string>(json, "op"));
  for (Request request : {Request(Open{}), Request(Build{}), Request(Race{}), Request(Profile{}), Request(PlayOff{}),
                          Request(HeldOut{}), Request(Confirm{})}) {
    if (to_string(operation(request)) == op) return request;
  }
  return base::fail(ErrorCode::invalid_argument, "unknown operation \"" + op + "\"");
}

}  // namespace

model::Operation operation(const Request& request) {
  return std::visit([]<class Own>(const Own&) { return Own::kOperation; }, request);
}

std::optional<model::Operation> operation_in(const Json& request) {
  const auto name = argument<std::string>(request, "op");
  return name ? model::named<model::Operation>(*name) : std::nullopt;
}

Json to_json(const Request& request) {
  struct Arguments {
    Json operator()(const Open& open) const { return {{"task", open.task}, {"settings", open.settings}}; }
    Json operator()(const Race& race) const { return {{"candidate", race.candidate}, {"opponent", race.opponent}}; }
    Json operator()(const PlayOff& all) const { return {{"arms", all.arms}, {"places", all.places}}; }
    Json operator()(const Build& one) const { return {{"solution", one.kernel}}; }
    Json operator()(const Profile& one) const { return {{"solution", one.kernel}}; }
    Json operator()(const HeldOut& one) const { return {{"solution", one.kernel}}; }
    Json operator()(const Confirm& one) const { return {{"solution", one.kernel}}; }
  };
  Json out = std::visit(Arguments(), request);
  out["op"] = operation(request);
  return out;
}

base::Result<Request> parse_request(const Json& json) {
  TRY_ASSIGN(Request request, named_request(json));
  TRY(std::visit(ArgumentReader{json}, request));
  return request;
}

base::Result<Request> parse_bundled(const Json& json) {
  TRY_ASSIGN(Request request, named_request(json));
  if (!std::holds_alternative<Open>(request)) TRY(std::visit(ArgumentReader{json}, request));
  return request;
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
  const std::string what = std::string(whose) + " answer to " + std::string(to_string(operation(request)));
  const auto reply = [&](const auto& own) -> base::Result<Reply> {
    using Own = typename std::decay_t<decltype(own)>::Reply;
    if constexpr (std::is_same_v<Own, model::Status>) {
      TRY_ASSIGN(const auto name, base::decode<std::string>(json, what));
      return model::parse_status(name);
    } else {
      return base::decode<Own>(json, what);
    }
  };
  return std::visit(reply, request);
}

base::Result<Reply> read_reply(const Request& request, const Json& json, std::string_view whose,
                               model::Protocol protocol) {
  TRY_ASSIGN(Reply reply, parse_reply(request, json, whose));
  const auto formed = std::visit(
      [&]<class Own>(const Own& own) {
        return FormCheck{json, protocol}(own, std::get<typename Own::Reply>(reply));
      },
      request);
  if (formed) return reply;
  return tl::make_unexpected(base::with_context(
      formed.error(), std::string(whose) + " answer to " + std::string(to_string(operation(request)))));
}

base::Result<Json> perform(Evaluator& evaluator, const Json& request, std::stop_token stop) {
  TRY_ASSIGN(const Request parsed, parse_request(request));
  TRY_ASSIGN(const Reply reply, base::as_result(evaluator.answer(parsed, std::move(stop))));
  return to_json(reply);
}

base::Result<void> check_form(const Json& request, const Json& result) {
  const auto parsed = parse_bundled(request);
  if (!parsed) return refuse(parsed.error().message);
  TRY(read_reply(*parsed, result, "the", model::Protocol::blocks));
  return {};
}

base::Result<void> check_form(model::Operation operation, const Json& result) {
  TRY_ASSIGN(const Request asked, named_request({{"op", to_string(operation)}}));
  TRY_ASSIGN(const Reply reply, parse_reply(asked, result, "the"));
  if (const auto* evaluation = std::get_if<model::Evaluation>(&reply))  // a race's or a confirmation's
    return check_evaluation(*evaluation, result, Raced::yes);
  if (const auto* report = std::get_if<PlayoffReport>(&reply)) return check_arms(*report);
  return std::visit(
      [&]<class Own>(const Own& own) -> base::Result<void> {
        if constexpr (std::is_same_v<Own, Race> || std::is_same_v<Own, PlayOff>)
          return {};  // above
        else
          return FormCheck{result}(own, std::get<typename Own::Reply>(reply));
      },
      asked);
}

}  // namespace accelopt::evaluation
