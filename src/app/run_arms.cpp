// SPDX-License-Identifier: Apache-2.0
#include "app/run_arms.hpp"

#include <algorithm>

#include "app/command_arm.hpp"
#include "app/evaluate.hpp"
#include "base/json_fields.hpp"
#include "evaluation/judge.hpp"

namespace accelopt::app {

using base::Json;
using base::Result;
using search::ComparedWith;

ACCELOPT_JSON(RunArm) {
  field.required("name", it.name);
  field.optional("kernel", it.kernel, "command", it.command);
}

namespace {

constexpr const char* kInPairs = "raced in pairs with the winner; verified";

/// How many times as fast as the arm the winner is, from the race of the arm against it.
std::optional<model::Interval> turned(const std::optional<model::Interval>& ratio) {
  if (!ratio || ratio->low <= 0) return std::nullopt;
  return model::Interval{1 / ratio->estimate, 1 / ratio->high, 1 / ratio->low};
}

using Compared = std::vector<ComparedWith>;

class Comparing {
 public:
  Comparing(const ArmPorts& ports, const model::Task& task, const search::RunResult& result)
      : ports_(ports), task_(task), result_(result) {}

  Result<Compared> compare(const RunArm& arm) {
    ports_.note("comparing the winner with " + arm.name);
    return base::as_result(arm.kernel ? race(arm) : time(arm));
  }

 private:
  base::Outcome<Compared> race(const RunArm& arm) {
    if (evaluator_ == nullptr) {
      TRY_ASSIGN(evaluator_, ports_.open());
    }
    TRY_ASSIGN(const auto judged,
               evaluation::judge(*evaluator_, model::Kernel(*arm.kernel), model::Kernel(*result_.solution),
                                 {.stop = ports_.shell.stops.abort}));
    const model::Evaluation& evaluation = judged.evaluation;
    ComparedWith out{.name = arm.name,
                     .how = kInPairs,
                     .status = std::string(model::to_string(evaluation.status)),
                     .reason = evaluation.reason,
                     .source_id = evaluation.source_id};
    if (evaluation.status == model::Status::passed)
      out.speed_over = turned(evaluation.ratio);
    else
      out.how = "not compared: it did not pass";
    return Compared{std::move(out)};
  }

  base::Outcome<Compared> time(const RunArm& arm) {
    TRY_ASSIGN(const TimedCommand timed, time_command(ports_.shell, {arm.name, arm.command}, task_));
    Compared out;
    for (const CommandTiming& one : timed.workloads) {
      out.push_back({.name = arm.name,
                     .how = std::string(kOwnClock),
                     .workload = one.workload,
                     .speed_over = speed_over(*result_.confirmation, one),
                     .time_ns = one.time_ns.estimate});
    }
    if (!timed.failure.empty())
      out.push_back({.name = arm.name, .how = std::string(kOwnClock), .status = "FAILED", .reason = timed.failure});
    return out;
  }

  const ArmPorts& ports_;
  const model::Task& task_;
  const search::RunResult& result_;
  evaluation::Evaluator* evaluator_ = nullptr;
};

}  // namespace

Result<std::vector<RunArm>> read_run_arms(const std::vector<std::string>& texts, const model::Task& task) {
  std::vector<RunArm> arms;
  for (const std::string& text : texts) {
    RunArm arm;
    if (const auto program = command_arm(text)) {
      arm = {.name = program->name, .command = program->command};
    } else {
      TRY_ASSIGN(ComparisonArm read, read_arm(text, task));
      arm = {.name = std::move(read.name), .kernel = std::move(read.kernel)};
    }
    if (std::ranges::find(arms, arm.name, &RunArm::name) != arms.end())
      return base::fail(base::ErrorCode::invalid_argument,
                        "--against names " + arm.name + " twice; give each a name of its own");
    arms.push_back(std::move(arm));
  }
  return arms;
}

Json to_json(const std::vector<RunArm>& arms) {
  Json out = Json::array();
  for (const RunArm& arm : arms) out.push_back(arm);
  return out;
}

Result<std::vector<RunArm>> run_arms_from(const Json& json) {
  return base::decode<std::vector<RunArm>>(json, "the run's settings: against");
}

Result<std::vector<ComparedWith>> compare_winner(const ArmPorts& ports, const std::vector<RunArm>& arms,
                                                 const model::Task& task, const search::RunResult& result) {
  std::vector<ComparedWith> out;
  Comparing comparing(ports, task, result);
  for (const RunArm& arm : arms) {
    TRY_ASSIGN(const Compared compared, comparing.compare(arm));
    out.insert(out.end(), compared.begin(), compared.end());
  }
  return out;
}

Result<std::vector<ComparedWith>> compared_on_record(const std::optional<Json>& result) {
  if (!result || !result->contains("against")) return std::vector<ComparedWith>{};
  return base::decode<std::vector<ComparedWith>>((*result)["against"], "the run's result: against");
}

}  // namespace accelopt::app
