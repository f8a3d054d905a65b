// SPDX-License-Identifier: Apache-2.0
#include "app/cost.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "journal/usage.hpp"
#include "report/format.hpp"
#include "report/text_table.hpp"

namespace accelopt::app {

std::string cost_text(const model::Usage& usage) {
  if (const auto usd = usage.total_usd()) return report::format_usd(*usd);
  if (!usage.usd) return "unknown";
  return fmt::format("{} and {} calls of unknown price", report::format_usd(*usage.usd), usage.unpriced_calls);
}

std::string describe_cost(const std::map<std::string, model::Usage>& by_role, int plans, int gains) {
  model::Usage total;
  for (const auto& [role, usage] : by_role) total += usage;
  if (total.calls == 0) return {};
  report::TextTable table({{"role"},
                           {"calls", report::Align::right},
                           {"input", report::Align::right},
                           {"of it cached", report::Align::right},
                           {"output", report::Align::right},
                           {"of it reasoning", report::Align::right},
                           {"cost", report::Align::right}});
  const auto add = [&](const std::string& name, const model::Usage& usage) {
    table.add({name, report::format_count(usage.calls), report::format_count(usage.input_tokens),
               report::format_count(usage.cached_input_tokens), report::format_count(usage.output_tokens),
               report::format_count(usage.reasoning_tokens), cost_text(usage)});
  };
  for (const auto& [role, usage] : by_role) {
    if (usage.calls > 0) add(role, usage);
  }
  add("all", total);
  std::string text = table.render();
  const auto usd = total.total_usd();
  if (!usd) {
    text += "the cost is unknown: no price is known for " +
            std::to_string(total.usd ? total.unpriced_calls : total.calls) + " of " + std::to_string(total.calls) +
            " calls (price in accelopt.toml)\n";
  } else {
    text += report::format_usd(*usd);
    if (plans > 0) text += fmt::format(", {} a plan ({})", report::format_usd(*usd / plans), plans);
    text += gains > 0 ? fmt::format(", {} an accepted gain ({})", report::format_usd(*usd / gains), gains)
                      : std::string(", no gain accepted");
    text += "\n";
  }
  if (total.estimated_calls > 0)
    text += fmt::format("the tokens of {} calls are estimates: the server did not report all of them\n",
                        total.estimated_calls);
  return text;
}

std::map<std::string, model::Usage> usage_by_plan(const std::vector<journal::StepRecord>& steps) {
  std::map<std::string, model::Usage> plans;
  for (const journal::StepRecord& step : steps) {
    const auto role = model::role_of(model::step_kind(step.key.kind));
    if (!role || role == model::AgentRole::summarizer) continue;
    model::Identity plan = step.key.identity;
    plan.attempt = plan.fix = -1;
    plans[model::to_string(plan)] += step.usage;
  }
  return plans;
}

RoleUsage usage_by_role(const std::vector<journal::StepRecord>& steps) {
  RoleUsage usage{journal::usage_by_role(steps)};
  for (const journal::StepRecord& step : steps) {
    const auto kind = model::step_kind(step.key.kind);
    if (model::role_of(kind) == model::AgentRole::planner && step.output.is_object() &&
        step.output.value("answered", false))
      usage.plans += kind == model::StepKind::plans ? static_cast<int>(step.output.at("value").size()) : 1;
  }
  return usage;
}

void count_usage_on_record(search::RunResult& result, const std::vector<journal::StepRecord>& steps) {
  for (const auto& [role, usage] : journal::usage_by_role(steps)) result.usage[role] = usage;
}

void count_all_on_record(search::RunResult& result, const std::vector<journal::StepRecord>& steps,
                         const base::Json& earlier) {
  count_usage_on_record(result, steps);
  const auto builds = std::ranges::count_if(
      steps, [](const journal::StepRecord& step) { return model::step_kind(step.key.kind) == model::StepKind::build; });
  result.evaluations = std::max(result.evaluations, static_cast<int>(builds));
  if (!earlier.is_object()) return;
  const auto counts = earlier.value("counts", std::map<std::string, int>());
  const auto attempts = [](const std::map<std::string, int>& by_status) {
    int sum = 0;
    for (const auto& [status, count] : by_status) sum += count;
    return sum;
  };
  if (attempts(counts) > attempts(result.counts)) {
    result.counts = counts;
    result.known = earlier.value("known", result.known);
  }
  for (const auto& [name, own] : {std::pair("iterations", &result.iterations),
                                  {"experiences", &result.experiences},
                                  {"plans", &result.plans},
                                  {"gains", &result.gains}})
    *own = std::max(*own, earlier.value(name, 0));
}

}  // namespace accelopt::app
