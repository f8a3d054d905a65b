// SPDX-License-Identifier: Apache-2.0
#include "report/html/ablation_page.hpp"

#include <fmt/format.h>

#include "report/format.hpp"
#include "report/html/page.hpp"
#include "report/html/plot.hpp"

namespace accelopt::report::html {
namespace {

struct Row {
  const AblationArm* arm;
  AblationFigures figures;
};

std::string name_of(const AblationArm& arm) {
  return arm.factor + ": " + arm.level + (arm.base ? " (base)" : "");
}

/// A plot has little room for a row's name.
std::string row_name(const AblationArm& arm) {
  constexpr std::size_t kRoom = 24;
  const std::string whole = arm.factor + ": " + arm.level;
  return whole.size() <= kRoom ? whole : arm.level;
}

std::string text_of(const std::optional<model::Interval>& interval) {
  return interval ? format_ratio(*interval) : "-";
}

/// One figure of each arm that has it, with its interval.
Markup intervals_plot(const std::vector<Row>& rows, std::optional<model::Interval> AblationFigures::*figure,
                      const std::string& name, const std::string& axis, const std::string& title,
                      const std::string& description) {
  std::vector<std::string> names;
  std::vector<double> values;
  for (const Row& row : rows) {
    const auto& interval = row.figures.*figure;
    if (!interval) continue;
    names.push_back(row_name(*row.arm));
    values.insert(values.end(), {interval->low, interval->high});
  }
  if (names.empty()) return {};
  Plot plot(name, ratio_axis(axis, values), {}, names);
  plot.reference(1, "equal");
  double place = 0;
  for (const Row& row : rows) {
    const auto& interval = row.figures.*figure;
    if (!interval) continue;
    const Mark mark = interval->low > 1 ? Mark::faster : interval->high < 1 ? Mark::slower : Mark::tie;
    plot.interval(mark, place, *interval);
    plot.mark(mark, interval->estimate, place, fmt::format("{}: {}", name_of(*row.arm), format_ratio(*interval)));
    place += 1;
  }
  return plot.finish(title, description);
}

Markup arms_table(const std::vector<Row>& rows) {
  Table table{"Each arm in figures",
              {{"factor"},
               {"level"},
               {"runs", Align::right},
               {"improved", Align::right},
               {"mean speed-up", Align::right},
               {"over the seeds [95 %]", Align::right},
               {"over the base arm [95 %]", Align::right},
               {"evaluations", Align::right},
               {"to 95 % of the gain", Align::right},
               {"time", Align::right}},
              {}};
  for (const Row& row : rows) {
    const AblationFigures& it = row.figures;
    table.rows.push_back(cells(
        {row.arm->factor, row.arm->level + (row.arm->base ? " (base)" : ""), std::to_string(it.runs),
         std::to_string(it.improved), it.speedup ? format_ratio(*it.speedup) : "-", text_of(it.over_seeds),
         text_of(it.over_base), fmt::format("{:.1f}", it.evaluations),
         it.evaluations_to_gain ? fmt::format("{:.1f}", *it.evaluations_to_gain) : "-", format_seconds(it.seconds)}));
  }
  return to_markup(table);
}

Markup runs_table(const Ablation& ablation) {
  Table table{"Every run",
              {{"factor"},
               {"level"},
               {"task"},
               {"seed", Align::right},
               {"speed-up [95 %]", Align::right},
               {"evaluations", Align::right},
               {"steps beyond recipes", Align::right},
               {"outcome"},
               {"run"}},
              {}};
  for (const AblationArm& arm : ablation.arms) {
    for (const AblationCell& cell : arm.cells) {
      const SuiteTask& task = cell.task;
      table.rows.push_back(
          cells({arm.factor, arm.level, task.task, std::to_string(cell.seed), text_of(task.speedup),
                 std::to_string(task.evaluations),
                 cell.novelty ? fmt::format("{} of {}", cell.novelty->beyond(), cell.novelty->steps.size()) : "-",
                 task.error.empty() ? task.outcome : task.error, task.run}));
    }
  }
  return to_markup(table);
}

}  // namespace

std::string ablation_page(const Ablation& ablation) {
  std::vector<Row> rows;
  Markup left_out;
  for (const AblationArm& arm : ablation.arms) {
    if (arm.left_out.empty())
      rows.push_back({&arm, figures_of(ablation, arm)});
    else
      left_out += element("li", fmt::format("{} {}: {}", arm.factor, arm.level, arm.left_out));
  }
  Markup header = element("h1", "Ablations of " + ablation.suite);
  header += element("p", fmt::format("{} tasks, {} seeds, each run with {}; one factor at a time.",
                                     ablation.tasks.size(), ablation.seeds.size(), ablation.budget));
  Markup arms = intervals_plot(rows, &AblationFigures::over_base, "over-base", "speed-up over the base arm's",
                               "Each arm over its base arm",
                               "The confirmed speed-ups over those of the factor's base arm, paired by task and seed, "
                               "with 95 % intervals. A run "
                               "without a gain counts as 1.");
  arms += intervals_plot(rows, &AblationFigures::over_seeds, "over-seeds", "mean confirmed speed-up",
                         "Each arm's mean speed-up",
                         "The geometric mean over the tasks, with its 95 % interval over the seeds.");
  arms += arms_table(rows);
  if (!left_out.empty()) arms += element("ul", left_out);
  Markup body = section("arms", "Arms", arms);
  body += section("runs", "Runs", runs_table(ablation));
  return page("Ablations of " + ablation.suite, header, body);
}

}  // namespace accelopt::report::html
