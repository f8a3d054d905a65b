// SPDX-License-Identifier: Apache-2.0
#include "report/ablation.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "report/format.hpp"
#include "stats/estimate.hpp"

namespace accelopt::report {
namespace {

using base::Json;

constexpr double kAlpha = 0.05;

double speedup_of(const SuiteTask& task) {
  return task.speedup ? task.speedup->estimate : 1;
}

const AblationArm* base_of(const Ablation& ablation, const AblationArm& arm) {
  const auto found = std::ranges::find_if(
      ablation.arms, [&](const AblationArm& other) { return other.factor == arm.factor && other.base; });
  return found == ablation.arms.end() ? nullptr : &*found;
}

/// None: there are too few to tell how they scatter.
std::optional<model::Interval> ratio_of(const std::vector<double>& logs) {
  if (logs.size() < 2) return std::nullopt;
  const stats::Interval ratio = stats::as_ratio(stats::trimmed_interval(logs, kAlpha));
  return model::Interval{ratio.estimate, ratio.low, ratio.high};
}

std::vector<SuiteTask> tasks_of(const AblationArm& arm) {
  std::vector<SuiteTask> tasks;
  for (const AblationCell& cell : arm.cells) tasks.push_back(cell.task);
  return tasks;
}

std::string name_of(const AblationArm& arm) {
  return arm.level + (arm.base ? " (base)" : "");
}

std::string interval_text(const std::optional<model::Interval>& interval) {
  return interval ? format_ratio(*interval) : "-";
}

std::string novelty_text(const std::optional<Novelty>& novelty) {
  return novelty ? fmt::format("{} of {}", novelty->beyond(), novelty->steps.size()) : "-";
}

/// By task: how many winners there are, and in how many a step is beyond the recipes.
TextTable novelty_table(const Ablation& ablation) {
  TextTable table({{"task"}, {"winners", Align::right}, {"with a step that no recipe could have made", Align::right}});
  for (const std::string& task : ablation.tasks) {
    std::map<std::string, bool> winners;  // by run: an arm that is the base of several factors counts once
    for (const AblationArm& arm : ablation.arms) {
      for (const AblationCell& cell : arm.cells) {
        if (cell.task.task == task && cell.novelty) winners[cell.task.run] = cell.novelty->beyond() > 0;
      }
    }
    const auto beyond = std::ranges::count_if(winners, [](const auto& winner) { return winner.second; });
    table.add({task, std::to_string(winners.size()), std::to_string(beyond)});
  }
  return table;
}

Json json_of(const AblationCell& cell) {
  const SuiteTask& task = cell.task;
  const std::optional<Novelty>& novelty = cell.novelty;
  return {
      {"task", task.task},
      {"seed", cell.seed},
      {"run", task.run},
      {"outcome", task.outcome},
      {"error", task.error},
      {"speedup", Json(task.speedup)},
      {"evaluations", task.evaluations},
      {"evaluations_to_95", Json(task.convergence.evaluations)},
      {"wall_seconds", task.wall_seconds},
      {"novelty", novelty ? Json{{"steps", novelty->steps.size()}, {"beyond_recipes", novelty->beyond()}} : Json()}};
}

}  // namespace

AblationFigures figures_of(const Ablation& ablation, const AblationArm& arm) {
  AblationFigures out;
  std::map<std::uint64_t, std::vector<double>> by_seed;
  std::map<std::pair<std::uint64_t, std::string>, double> own;
  for (const AblationCell& cell : arm.cells) {
    if (!cell.task.finished()) continue;
    const double speedup = speedup_of(cell.task);
    ++out.runs;
    out.improved += cell.task.speedup ? 1 : 0;
    out.evaluations += cell.task.evaluations;
    out.seconds += cell.task.wall_seconds;
    by_seed[cell.seed].push_back(std::log(speedup));
    own[{cell.seed, cell.task.task}] = std::log(speedup);
  }
  if (out.runs == 0) return out;
  out.evaluations /= out.runs;
  out.seconds /= out.runs;
  const SuiteFigures figures = figures_of(tasks_of(arm));
  out.speedup = figures.speedup;
  out.evaluations_to_gain = figures.evaluations;
  std::vector<double> means;
  for (const auto& [seed, logs] : by_seed) {
    double sum = 0;
    for (const double value : logs) sum += value;
    means.push_back(sum / static_cast<double>(logs.size()));
  }
  out.over_seeds = ratio_of(means);
  const AblationArm* const base = base_of(ablation, arm);
  if (base == nullptr || arm.base) return out;
  std::vector<double> differences;
  for (const AblationCell& cell : base->cells) {
    const auto mine = own.find({cell.seed, cell.task.task});
    if (cell.task.finished() && mine != own.end())
      differences.push_back(mine->second - std::log(speedup_of(cell.task)));
  }
  out.over_base = ratio_of(differences);
  return out;
}

Document document_of(const Ablation& ablation) {
  Document page("Ablations of " + ablation.suite);
  page.text(fmt::format("\n{} task{}, {} seed{}, each run with {}; one factor at a time.\n\n", ablation.tasks.size(),
                        ablation.tasks.size() == 1 ? "" : "s", ablation.seeds.size(),
                        ablation.seeds.size() == 1 ? "" : "s", ablation.budget));
  std::size_t missing = 0;
  for (const AblationArm& arm : ablation.arms) {
    if (!arm.left_out.empty()) continue;
    const auto finished =
        std::ranges::count_if(arm.cells, [](const AblationCell& cell) { return cell.task.finished(); });
    missing += ablation.tasks.size() * ablation.seeds.size() - static_cast<std::size_t>(finished);
  }
  if (missing > 0)
    page.text(
        fmt::format("Of each arm {} runs were to be made; {} of all arms' are not there or failed. Means are of those "
                    "that finished; ratios over the base arm are of tasks and seeds that both arms finished.\n\n",
                    ablation.tasks.size() * ablation.seeds.size(), missing));
  TextTable arms({{"factor"},
                  {"level"},
                  {"runs", Align::right},
                  {"improved", Align::right},
                  {"mean speed-up", Align::right},
                  {"over the seeds [95 %]", Align::right},
                  {"over the base arm [95 %]", Align::right},
                  {"evaluations", Align::right},
                  {"to 95 % of the gain", Align::right},
                  {"time", Align::right}});
  std::string left_out;
  for (const AblationArm& arm : ablation.arms) {
    if (!arm.left_out.empty()) {
      left_out += fmt::format("left out: {} {}: {}\n", arm.factor, arm.level, arm.left_out);
      continue;
    }
    const AblationFigures it = figures_of(ablation, arm);
    arms.add({arm.factor, name_of(arm), std::to_string(it.runs), std::to_string(it.improved),
              it.speedup ? format_ratio(*it.speedup) : "-", interval_text(it.over_seeds), interval_text(it.over_base),
              fmt::format("{:.1f}", it.evaluations),
              it.evaluations_to_gain ? fmt::format("{:.1f}", *it.evaluations_to_gain) : "-",
              format_seconds(it.seconds)});
  }
  page.table(std::move(arms));
  if (!left_out.empty()) page.text("\n" + left_out);
  page.heading("Every run");
  TextTable runs({{"factor"},
                  {"level"},
                  {"task"},
                  {"seed", Align::right},
                  {"speed-up [95 %]", Align::right},
                  {"evaluations", Align::right},
                  {"steps beyond recipes", Align::right},
                  {"outcome"},
                  {"run"}});
  for (const AblationArm& arm : ablation.arms) {
    for (const AblationCell& cell : arm.cells) {
      const SuiteTask& task = cell.task;
      runs.add({arm.factor, arm.level, task.task, std::to_string(cell.seed), interval_text(task.speedup),
                std::to_string(task.evaluations), novelty_text(cell.novelty),
                task.error.empty() ? task.outcome : task.error, task.run});
    }
  }
  page.table(std::move(runs));
  page.heading("Novelty");
  page.table(novelty_table(ablation));
  return page;
}

Json to_json(const Ablation& ablation) {
  Json arms = Json::array();
  for (const AblationArm& arm : ablation.arms) {
    const AblationFigures it = figures_of(ablation, arm);
    Json runs = Json::array();
    for (const AblationCell& cell : arm.cells) runs.push_back(json_of(cell));
    arms.push_back({{"factor", arm.factor},
                    {"level", arm.level},
                    {"base", arm.base},
                    {"left_out", arm.left_out.empty() ? Json() : Json(arm.left_out)},
                    {"finished", it.runs},
                    {"improved", it.improved},
                    {"speedup", Json(it.speedup)},
                    {"over_seeds", Json(it.over_seeds)},
                    {"over_base", Json(it.over_base)},
                    {"evaluations", it.evaluations},
                    {"evaluations_to_95", Json(it.evaluations_to_gain)},
                    {"wall_seconds", it.seconds},
                    {"runs", std::move(runs)}});
  }
  return {{"type", "ablation"},      {"schema", 1},
          {"suite", ablation.suite}, {"tasks", ablation.tasks},
          {"seeds", ablation.seeds}, {"budget", ablation.budget},
          {"arms", std::move(arms)}};
}

}  // namespace accelopt::report
