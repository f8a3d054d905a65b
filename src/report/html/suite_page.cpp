// SPDX-License-Identifier: Apache-2.0
#include "report/html/suite_page.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "report/format.hpp"
#include "report/html/page.hpp"
#include "report/html/plot.hpp"

namespace accelopt::report::html {
namespace {

std::string suite_name(const std::string& folder) {
  return std::filesystem::path(folder).filename().string();
}

std::string mean_text(const std::optional<double>& ratio) {
  return ratio ? format_ratio(*ratio) : "-";
}

std::string seconds_or_none(const std::optional<double>& seconds) {
  return seconds ? format_seconds(*seconds) : "-";
}

int finished_tasks(const SuiteHistoryEntry& entry) {
  return static_cast<int>(std::ranges::count_if(entry.begun, [](const SuiteTask& task) { return task.finished(); }));
}

/// "warm (12)", "cold": of one task's run.
std::string memory_of(const SuiteTask& task) {
  return task.warm() ? fmt::format("warm ({})", task.convergence.recalled) : "cold";
}

/// The confirmed speed-up of each task of one suite run.
Markup tasks_plot(const SuiteHistoryEntry& entry) {
  std::vector<std::string> names;
  std::vector<double> values;
  Table table{"Tasks of suite run " + entry.id,
              {{"task"},
               {"run"},
               {"state"},
               {"speed-up [95 %]", Align::right},
               {"evaluations", Align::right},
               {"to 95 % of the gain", Align::right},
               {"time", Align::right},
               {"memory"},
               {"cost", Align::right}},
              {}};
  for (const SuiteTask& task : entry.begun) {
    const auto& until = task.convergence.evaluations;
    table.rows.push_back(
        cells({task.task, task.run, task.run.empty() ? task.error : task.state + ", " + task.outcome,
               task.speedup      ? format_ratio(*task.speedup)
               : task.finished() ? "no gain"
                                 : "-",
               std::to_string(task.evaluations), until ? std::to_string(*until) : "-",
               format_seconds(task.wall_seconds), memory_of(task), task.usd ? format_usd(*task.usd) : "unknown"}));
    if (!task.speedup) continue;
    names.push_back(task.task);
    values.insert(values.end(), {task.speedup->low, task.speedup->high});
  }
  Markup out;
  if (!names.empty()) {
    Plot plot("tasks", ratio_axis("confirmed speed-up over the baseline", values), {}, names);
    plot.reference(1, "baseline");
    double row = 0;
    for (const SuiteTask& task : entry.begun) {
      if (!task.speedup) continue;
      plot.interval(Mark::confirmed, row, *task.speedup);
      plot.mark(Mark::confirmed, task.speedup->estimate, row,
                fmt::format("{}: {}", task.task, format_ratio(*task.speedup)));
      row += 1;
    }
    out += plot.finish("Speed-up by task",
                       "Each task's confirmed speed-up with its 95 % interval; tasks without a gain have no mark.");
  }
  out += to_markup(table);
  return out;
}

/// Suite runs that are alike, one after the other: the mean of their speed-ups.
Markup over_time(const std::vector<SuiteHistoryEntry>& history, const AlikeRuns& alike, int number) {
  struct Step {
    const SuiteHistoryEntry* entry;
    SuiteFigures figures;
    bool warm;
  };
  std::vector<Step> steps;
  std::vector<double> values;
  Table table{fmt::format("Suite runs of set {} over time", number),
              {{"suite run"}, {"begun"}, {"memory"}, {"finished", Align::right}, {"mean speed-up", Align::right}},
              {}};
  for (const SuiteHistoryEntry& entry : history) {
    if (std::ranges::find(alike.suite_runs, entry.id) == alike.suite_runs.end()) continue;
    std::vector<SuiteTask> own;
    std::ranges::copy_if(entry.begun, std::back_inserter(own),
                         [&](const SuiteTask& task) { return task.finished() && task.device == alike.device; });
    const SuiteFigures figures = figures_of(own);
    if (!figures.speedup) continue;
    const auto warm = std::ranges::count_if(own, &SuiteTask::warm);
    steps.push_back({&entry, figures, warm > 0});
    values.push_back(*figures.speedup);
    table.rows.push_back(cells({entry.id, entry.created, fmt::format("{} of {} warm", warm, own.size()),
                                std::to_string(figures.runs), format_ratio(*figures.speedup)}));
  }
  if (steps.empty()) return {};
  Plot plot(fmt::format("over-time-{}", number),
            {"suite run", {0, static_cast<double>(steps.size() + 1)}, Scale::linear, ""},
            ratio_axis("geometric mean of the speed-ups", values));
  plot.reference(1, "baselines");
  double x = 1;
  for (const Step& step : steps) {
    plot.mark(
        step.warm ? Mark::best : Mark::tie, x, *step.figures.speedup,
        fmt::format("{}: {}, {}", step.entry->id, format_ratio(*step.figures.speedup), step.warm ? "warm" : "cold"));
    x += 1;
  }
  Markup out = plot.finish(
      fmt::format("Mean speed-up over time, set {}", number),
      "The geometric mean over the finished tasks of each suite run, where a task without a gain counts as 1; "
      "filled: the memory was warm for a task at least, hollow: cold for all.");
  out += to_markup(table);
  return out;
}

Markup cold_beside_warm(const AlikeRuns& alike, int number) {
  Table table{fmt::format("Memory cold and warm, set {}", number),
              {{"task"},
               {"runs, cold / warm", Align::right},
               {"speed-up", Align::right},
               {"evaluations to 95 %", Align::right},
               {"time to 95 %", Align::right}},
              {}};
  const auto count = [](const std::optional<double>& value) { return value ? fmt::format("{:.1f}", *value) : "-"; };
  for (const ColdAndWarm& row : alike.rows) {
    if (row.cold.runs == 0 || row.warm.runs == 0) continue;
    table.rows.push_back(cells({row.task.empty() ? "tasks that have both" : row.task,
                                fmt::format("{} / {}", row.cold.runs, row.warm.runs),
                                mean_text(row.cold.speedup) + " / " + mean_text(row.warm.speedup),
                                count(row.cold.evaluations) + " / " + count(row.warm.evaluations),
                                seconds_or_none(row.cold.seconds) + " / " + seconds_or_none(row.warm.seconds)}));
  }
  return to_markup(table);
}

Markup sets_of(const std::vector<SuiteHistoryEntry>& history) {
  Markup out;
  int number = 0;
  for (const AlikeRuns& alike : alike_runs(history)) {
    ++number;
    const Markup plot = over_time(history, alike, number);
    if (plot.empty()) continue;
    out += element("h3", fmt::format("Set {}: {} on {}", number, suite_name(alike.suite), alike.device));
    out += plot;
    out += cold_beside_warm(alike, number);
    Table settings{fmt::format("Settings of set {}", number), {{"setting"}, {"value"}}, {}};
    if (alike.settings.is_object()) {
      for (const auto& [name, value] : alike.settings.items()) {
        // Where it was measured may name folders and machines of whoever made it.
        if (name == "device" || value.is_null()) continue;
        settings.rows.push_back(cells({name, value.is_string() ? value.get<std::string>() : value.dump()}));
      }
    }
    out += folded("Its settings", to_markup(settings));
  }
  return out;
}

Markup all_suite_runs(const std::vector<SuiteHistoryEntry>& history) {
  Table table{"Suite runs, oldest first",
              {{"suite run"},
               {"suite"},
               {"begun"},
               {"accelopt"},
               {"state"},
               {"finished", Align::right},
               {"mean speed-up", Align::right}},
              {}};
  for (const SuiteHistoryEntry& entry : history) {
    table.rows.push_back(cells({entry.id, suite_name(entry.suite), entry.created, entry.program_version, entry.state,
                                fmt::format("{} of {}", finished_tasks(entry), entry.tasks.size()),
                                mean_text(figures_of(entry.begun).speedup)}));
  }
  Markup out = to_markup(table);
  return out;
}

std::string answer_of_suite(const SuiteHistoryEntry& last) {
  const SuiteFigures figures = figures_of(last.begun);
  if (!figures.speedup)
    return fmt::format("The last suite run of {} has no finished task ({}).", suite_name(last.suite), last.state);
  return fmt::format(
      "The last suite run of {} made its {} finished tasks {} as fast as their baselines, in the geometric mean.",
      suite_name(last.suite), figures.runs, format_ratio(*figures.speedup));
}

}  // namespace

std::string suite_page(const std::vector<SuiteHistoryEntry>& history) {
  Markup header = element("h1", "Suites over time");
  Markup body;
  if (history.empty()) {
    header += element("p", "There is no suite run on record.");
    return page("Suites over time", header, body);
  }
  const SuiteHistoryEntry& last = history.back();
  header += element("p", {{"class", "answer"}}, answer_of_suite(last));
  header += element("p", {{"class", "soft"}},
                    "Ratios are baseline time / best time: over 1 is faster; brackets hold 95 % intervals. Only suite "
                    "runs that are alike "
                    "in settings, program and device are compared.");
  body += section("last", "The last suite run", tasks_plot(last));
  body += section("sets", "Suite runs that are alike", sets_of(history));
  body += section("all", "All suite runs", all_suite_runs(history));
  return page("Suites over time: " + suite_name(last.suite), header, body);
}

}  // namespace accelopt::report::html
