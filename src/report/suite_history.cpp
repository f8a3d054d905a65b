// SPDX-License-Identifier: Apache-2.0
#include "report/suite_history.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "report/format.hpp"
#include "report/text_table.hpp"
#include "report/text_width.hpp"

namespace accelopt::report {
namespace {

using base::Json;

/// The geometric mean of values over 0.
class GeometricMean {
 public:
  void add(double value) {
    sum_ += std::log(value);
    ++count_;
  }
  [[nodiscard]] std::optional<double> value() const {
    return count_ == 0 ? std::nullopt : std::optional(std::exp(sum_ / count_));
  }

 private:
  double sum_ = 0;
  int count_ = 0;
};

std::string memory_text(const SuiteTask& task) {
  return task.warm() ? fmt::format("warm ({})", task.convergence.recalled) : "cold";
}

/// "12": a mean is shown with a digit behind the point only below ten.
std::string count_text(const std::optional<double>& count) {
  if (!count) return "-";
  return *count < 10 && std::abs(*count - std::round(*count)) > 0.05 ? fmt::format("{:.1f}", *count)
                                                                     : fmt::format("{:.0f}", *count);
}

std::string seconds_text(const std::optional<double>& seconds) {
  return seconds ? format_seconds(*seconds) : "-";
}

std::string usd_text(const std::optional<double>& usd) {
  return usd ? format_usd(*usd) : "unknown";
}

std::string ratio_text(const std::optional<double>& ratio) {
  return ratio ? format_ratio(*ratio) : "-";
}

std::string outcome_text(const SuiteTask& task) {
  if (!task.error.empty()) return printable("failed: " + task.error);
  return task.finished() ? task.outcome : task.state;
}

/// What the whole of a suite run took.
struct Totals {
  int finished = 0;
  int warm = 0;
  double wall_seconds = 0;
  std::optional<double> usd = 0;
};

Totals totals_of(const SuiteHistoryEntry& entry) {
  Totals out;
  for (const SuiteTask& task : entry.begun) {
    out.finished += task.finished() ? 1 : 0;
    out.warm += task.warm() ? 1 : 0;
    out.wall_seconds += task.wall_seconds;
    out.usd = out.usd && (task.usd || task.run.empty()) ? std::optional(*out.usd + task.usd.value_or(0)) : std::nullopt;
  }
  return out;
}

std::string suite_runs_text(const std::vector<SuiteHistoryEntry>& history) {
  TextTable table({{"started"},
                   {"suite"},
                   {"state"},
                   {"tasks", Align::right},
                   {"warm", Align::right},
                   {"speed-up", Align::right},
                   {"evaluations to 95 %", Align::right},
                   {"time to 95 %", Align::right},
                   {"cost", Align::right},
                   {"time", Align::right}});
  for (const SuiteHistoryEntry& entry : history) {
    const SuiteFigures figures = figures_of(entry.begun);
    const Totals totals = totals_of(entry);
    const std::string name = entry.suite.substr(entry.suite.find_last_of('/') + 1);
    table.add({entry.created, printable(name), entry.state,
               fmt::format("{} of {}", totals.finished, entry.tasks.size()), std::to_string(totals.warm),
               ratio_text(figures.speedup), count_text(figures.evaluations), seconds_text(figures.seconds),
               usd_text(totals.usd), format_seconds(totals.wall_seconds)});
  }
  return table.render();
}

std::string tasks_text(const std::vector<SuiteHistoryEntry>& history) {
  TextTable table({{"task"},
                   {"started"},
                   {"memory"},
                   {"speed-up [95 %]", Align::right},
                   {"evaluations to 95 %", Align::right},
                   {"time to 95 %", Align::right},
                   {"cost", Align::right},
                   {"time", Align::right},
                   {"outcome"}});
  std::vector<std::string> names;
  for (const ColdAndWarm& row : cold_and_warm(history)) names.push_back(row.task);
  for (const std::string& name : names) {
    for (const SuiteHistoryEntry& entry : history) {
      for (const SuiteTask& task : entry.begun) {
        if (task.task != name) continue;
        const auto evaluations =
            task.convergence.evaluations
                ? fmt::format("{} of {}", *task.convergence.evaluations, task.evaluations)
                : (task.evaluations > 0 ? fmt::format("- of {}", task.evaluations) : std::string("-"));
        table.add({printable(name), entry.created, memory_text(task), task.speedup ? format_ratio(*task.speedup) : "-",
                   evaluations, seconds_text(task.convergence.seconds), usd_text(task.usd),
                   format_seconds(task.wall_seconds), outcome_text(task)});
      }
    }
  }
  return table.render();
}

std::string comparison_text(const std::vector<SuiteHistoryEntry>& history) {
  TextTable table({{"cold / warm"},
                   {"runs", Align::right},
                   {"speed-up", Align::right},
                   {"evaluations to 95 %", Align::right},
                   {"time to 95 %", Align::right},
                   {"cost a run", Align::right}});
  const auto both = [](const std::string& cold, const std::string& warm) { return cold + " / " + warm; };
  for (const ColdAndWarm& row : cold_and_warm(history)) {
    const auto usd = [](const SuiteFigures& side) { return side.runs == 0 ? "-" : usd_text(side.usd); };
    table.add({row.task.empty() ? "tasks with both" : printable(row.task),
               both(std::to_string(row.cold.runs), std::to_string(row.warm.runs)),
               both(ratio_text(row.cold.speedup), ratio_text(row.warm.speedup)),
               both(count_text(row.cold.evaluations), count_text(row.warm.evaluations)),
               both(seconds_text(row.cold.seconds), seconds_text(row.warm.seconds)),
               both(usd(row.cold), usd(row.warm))});
  }
  return table.render();
}

/// A side of the last row: the tasks' own figures, each task once. Of figures that one side lacks neither counts.
void add_overall(std::vector<ColdAndWarm>& rows) {
  ColdAndWarm overall;
  bool any = false;
  for (const auto member : {&SuiteFigures::speedup, &SuiteFigures::evaluations, &SuiteFigures::seconds}) {
    GeometricMean cold;
    GeometricMean warm;
    for (const ColdAndWarm& row : rows) {
      if (!(row.cold.*member) || !(row.warm.*member)) continue;
      cold.add(*(row.cold.*member));
      warm.add(*(row.warm.*member));
    }
    overall.cold.*member = cold.value();
    overall.warm.*member = warm.value();
  }
  for (const auto side : {&ColdAndWarm::cold, &ColdAndWarm::warm}) {
    double usd = 0;
    bool known = true;
    int tasks = 0;
    for (const ColdAndWarm& row : rows) {
      if (row.cold.runs == 0 || row.warm.runs == 0) continue;
      any = true;
      ++tasks;
      (overall.*side).runs += (row.*side).runs;
      known = known && (row.*side).usd.has_value();
      usd += (row.*side).usd.value_or(0);
    }
    if (known && tasks > 0) (overall.*side).usd = usd / tasks;
  }
  if (any) rows.push_back(overall);
}

Json json_of(const SuiteFigures& figures) {
  return {{"runs", figures.runs},
          {"speedup", Json(figures.speedup)},
          {"evaluations_to_95", Json(figures.evaluations)},
          {"seconds_to_95", Json(figures.seconds)},
          {"usd", Json(figures.usd)}};
}

Json json_of(const SuiteTask& task) {
  const auto known = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  return {{"task", task.task},
          {"run", known(task.run)},
          {"state", known(task.state)},
          {"outcome", known(task.outcome)},
          {"error", known(task.error)},
          {"device", known(task.device)},
          {"memory", task.warm() ? "warm" : "cold"},
          {"recalled", task.convergence.recalled},
          {"speedup", Json(task.speedup)},
          {"evaluations", task.evaluations},
          {"evaluations_to_95", Json(task.convergence.evaluations)},
          {"seconds_to_95", Json(task.convergence.seconds)},
          {"usd", Json(task.usd)},
          {"wall_seconds", task.wall_seconds}};
}

}  // namespace

SuiteFigures figures_of(const std::vector<SuiteTask>& runs) {
  SuiteFigures out;
  GeometricMean speedup;
  GeometricMean evaluations;
  GeometricMean seconds;
  double usd = 0;
  bool known = true;
  for (const SuiteTask& run : runs) {
    if (!run.finished()) continue;
    ++out.runs;
    speedup.add(run.speedup ? run.speedup->estimate : 1);
    if (run.convergence.evaluations) evaluations.add(std::max(1, *run.convergence.evaluations));
    if (run.convergence.seconds && *run.convergence.seconds > 0) seconds.add(*run.convergence.seconds);
    known = known && run.usd.has_value();
    usd += run.usd.value_or(0);
  }
  out.speedup = speedup.value();
  out.evaluations = evaluations.value();
  out.seconds = seconds.value();
  if (out.runs > 0 && known) out.usd = usd / out.runs;
  return out;
}

std::vector<ColdAndWarm> cold_and_warm(const std::vector<SuiteHistoryEntry>& history) {
  std::vector<std::string> names;
  std::map<std::string, std::pair<std::vector<SuiteTask>, std::vector<SuiteTask>>> runs;
  for (const SuiteHistoryEntry& entry : history) {
    for (const SuiteTask& task : entry.begun) {
      if (!runs.contains(task.task)) names.push_back(task.task);
      auto& [cold, warm] = runs[task.task];
      (task.warm() ? warm : cold).push_back(task);
    }
  }
  std::vector<ColdAndWarm> rows;
  for (const std::string& name : names)
    rows.push_back({name, figures_of(runs[name].first), figures_of(runs[name].second)});
  add_overall(rows);
  return rows;
}

std::string to_text(const std::vector<SuiteHistoryEntry>& history) {
  return suite_runs_text(history) + "\n" + tasks_text(history) + "\n" + comparison_text(history);
}

std::vector<Json> to_json_lines(const std::vector<SuiteHistoryEntry>& history) {
  std::vector<Json> lines;
  for (const SuiteHistoryEntry& entry : history) {
    const SuiteFigures figures = figures_of(entry.begun);
    const Totals totals = totals_of(entry);
    Json line = {{"type", "suite_run"},
                 {"schema", 1},
                 {"suite_run", entry.id},
                 {"suite", entry.suite},
                 {"created", entry.created},
                 {"program_version", entry.program_version},
                 {"state", entry.state},
                 {"tasks", entry.tasks},
                 {"finished", totals.finished},
                 {"warm", totals.warm},
                 {"geometric_mean", Json(figures.speedup)},
                 {"evaluations_to_95", Json(figures.evaluations)},
                 {"seconds_to_95", Json(figures.seconds)},
                 {"usd", Json(totals.usd)},
                 {"wall_seconds", totals.wall_seconds},
                 {"runs", Json::array()}};
    for (const SuiteTask& task : entry.begun) line["runs"].push_back(json_of(task));
    lines.push_back(std::move(line));
  }
  Json last = {{"type", "history"},
               {"schema", 1},
               {"suite_runs", history.size()},
               {"tasks", Json::array()},
               {"tasks_with_both", nullptr}};
  for (const ColdAndWarm& row : cold_and_warm(history)) {
    Json line = {{"cold", json_of(row.cold)}, {"warm", json_of(row.warm)}};
    if (row.task.empty()) {
      last["tasks_with_both"] = line;
      continue;
    }
    line["task"] = row.task;
    last["tasks"].push_back(line);
  }
  lines.push_back(std::move(last));
  return lines;
}

}  // namespace accelopt::report
