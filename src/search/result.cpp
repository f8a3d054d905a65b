// SPDX-License-Identifier: Apache-2.0
#include "search/result.hpp"

#include "base/json_fields.hpp"

namespace accelopt::search {

using base::Json;

ACCELOPT_JSON(ComparedWith) {
  field.required("name", it.name, "how", it.how);
  field.optional("workload", it.workload, "speed_over", it.speed_over, "status", it.status, "reason", it.reason,
                 "source_id", it.source_id, "time_ns", it.time_ns);
}

namespace {

/// Of the result object; raised when a field changes its meaning or goes away (docs/json.md).
constexpr int kResultSchema = 1;

}  // namespace

std::string name_of(std::optional<model::EndReason> reason) {
  return std::string(reason ? to_string(*reason) : "");
}

std::string_view to_string(RunOutcome outcome) {
  switch (outcome) {
    case RunOutcome::improved:
      return "improved";
    case RunOutcome::no_gain:
      return "no_gain";
    case RunOutcome::budget:
      return "budget";
    case RunOutcome::interrupted:
      return "interrupted";
    case RunOutcome::waiting:
      return "waiting";
  }
  return "no_gain";
}

Json to_result_json(const RunResult& result) {
  Json out = {{"type", "result"},
              {"schema", kResultSchema},
              {"run", result.run},
              {"task", result.task},
              {"outcome", to_string(result.outcome)},
              {"stopped_by", name_of(result.stopped_by)},
              {"stopped_because", result.stopped_because},
              {"reason", result.reason},
              {"speedup", nullptr},
              {"workloads", Json::array()},
              {"solution", nullptr},
              {"solution_id", nullptr},
              {"counts", result.counts},
              {"known", result.known},
              {"evaluations", result.evaluations},
              {"iterations", result.iterations},
              {"experiences", result.experiences},
              {"plans", result.plans},
              {"gains", result.gains},
              {"device_seconds", result.device_seconds},
              {"bundles", result.bundles},
              {"device", result.device},
              {"trust", nullptr},
              {"derived_reference", result.derived_reference},
              {"decision_hash", result.decision_hash},
              {"wall_seconds", result.wall_seconds}};
  if (!result.goal.empty()) out["goal"] = result.goal;
  out["estimate"] = result.estimate;
  out["noise"] = result.noise;
  if (!result.against.empty()) out["against"] = result.against;
  if (!result.tests.is_null()) out["tests"] = result.tests;
  if (!result.review.is_null()) out["review"] = result.review;
  const bool improved = result.outcome == RunOutcome::improved && result.confirmation;
  if (improved) {
    out["speedup"] = Json(*result.confirmation->ratio);
    out["trust"] = result.confirmation->trust;
    if (!result.confirmation->notes.empty()) out["notes"] = result.confirmation->notes;
    out["solution"] = Json(*result.solution);
    out["solution_id"] = result.solution_id;
    if (!result.strategy.empty()) out["strategy"] = result.strategy;
    if (!result.commit.empty()) out["commit"] = result.commit;
    if (!result.branch.empty()) out["branch"] = result.branch;
    for (const model::WorkloadTiming& workload : result.confirmation->workloads) {
      out["workloads"].push_back(
          {{"name", workload.name},
           {"role", workload.role},
           {"baseline_ns", Json(workload.reference_ns)},
           {"best_ns", workload.time_ns},
           {"speedup", workload.ratio ? Json(*workload.ratio) : Json()},
           {"roofline_fraction", workload.roofline ? Json(workload.roofline->fraction) : Json()}});
      if (!workload.peak_bytes) continue;
      out["workloads"].back()["baseline_peak_bytes"] = Json(workload.reference_peak_bytes);
      out["workloads"].back()["best_peak_bytes"] = *workload.peak_bytes;
    }
  } else {
    for (const model::WorkloadTiming& workload : result.baseline) {
      out["workloads"].push_back(
          {{"name", workload.name},
           {"role", workload.role},
           {"baseline_ns", workload.time_ns},
           {"best_ns", nullptr},
           {"speedup", nullptr},
           {"roofline_fraction", workload.roofline ? Json(workload.roofline->fraction) : Json()}});
    }
  }
  Json calls = Json::object();
  model::Usage total;
  for (const auto& [role, usage] : result.usage) {
    calls[role] = usage.calls;
    total += usage;
  }
  out["usage"] = total;
  out["usage"]["calls"] = calls;
  out["usage"]["roles"] = result.usage;
  const auto usd = total.total_usd();
  const auto shared = [&](int among) { return usd && among > 0 ? Json(*usd / among) : Json(); };
  out["usage"]["usd_a_plan"] = shared(result.plans);
  out["usage"]["usd_a_gain"] = shared(result.gains);
  return out;
}

}  // namespace accelopt::search
