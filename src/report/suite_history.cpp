// SPDX-License-Identifier: Apache-2.0
#include "report/suite_history.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "model/vocabulary.hpp"
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

std::string name_of_suite(const std::string& folder) {
  return printable(folder.substr(folder.find_last_of('/') + 1));
}

/// What a suite run was made with but for what it recalled: cold and warm differ in that.
Json comparable(const Json& settings) {
  Json out = settings;
  if (out.is_object()) out.erase("recall");
  return out;
}

/// The settings and versions that there are, each with its number: 1 is the first.
class SettingsNumbers {
 public:
  explicit SettingsNumbers(const std::vector<SuiteHistoryEntry>& history) {
    for (const SuiteHistoryEntry& entry : history) {
      if (entry.settings.is_object() && of(entry) == 0)
        known_.emplace_back(comparable(entry.settings), entry.program_version);
    }
  }
  /// 0: unknown.
  [[nodiscard]] int of(const SuiteHistoryEntry& entry) const {
    const auto found = std::ranges::find(known_, std::pair(comparable(entry.settings), entry.program_version));
    return found == known_.end() ? 0 : static_cast<int>(found - known_.begin()) + 1;
  }
  [[nodiscard]] std::string text_of(const SuiteHistoryEntry& entry) const {
    const int number = of(entry);
    return number == 0 ? "unknown" : std::to_string(number);
  }
  [[nodiscard]] const std::vector<std::pair<Json, std::string>>& known() const { return known_; }

 private:
  std::vector<std::pair<Json, std::string>> known_;
};

/// "recipes", or "planner: A, executor: B".
std::string agents_text(const Json& settings) {
  const auto agents = settings.find("agents");
  if (agents == settings.end() || !agents->is_object() || agents->empty()) return "unknown agents";
  std::string text;
  bool same = true;
  for (const auto& [role, who] : agents->items()) {
    same = same && who == agents->front();
    text += (text.empty() ? "" : ", ") + role + ": " + (who.is_string() ? who.get<std::string>() : who.dump());
  }
  return same && agents->front().is_string() ? agents->front().get<std::string>() : text;
}

/// "iterations 6, beam 3, ...": what is always told, and what is not the same in all that are shown.
std::string settings_text(const Json& settings, const std::vector<std::pair<Json, std::string>>& known) {
  static const std::set<std::string> kAlways = {"iterations", "beam", "plans", "attempts", "fixes", "patience"};
  std::string text;
  const auto tell = [&](const std::string& name, const Json& value) {
    std::string words = name;
    std::ranges::replace(words, '_', ' ');
    const std::string said = value.is_string() ? value.get<std::string>() : value.is_null() ? "none" : value.dump();
    text += (text.empty() ? "" : ", ") + words + " " + (said.empty() ? "none" : said);
  };
  for (const char* name : {"iterations", "beam", "plans", "attempts", "fixes", "patience"})
    if (settings.contains(name)) tell(name, settings[name]);
  for (const auto& setting : settings.items()) {
    const std::string& name = setting.key();
    const Json& value = setting.value();
    if (kAlways.contains(name) || name == "agents" || name == "device") continue;
    const auto reason = model::named<model::EndReason>(name);
    const bool limit = reason && is_budget(*reason) && !value.is_null();
    const bool differs =
        std::ranges::any_of(known, [&](const auto& other) { return other.first.value(name, Json()) != value; });
    if (limit || differs) tell(name, value);
  }
  return text;
}

std::string device_text(const Json& settings) {
  const auto device = settings.find("device");
  return device != settings.end() && device->is_string() ? device->get<std::string>() : "unknown device";
}

std::string legend_text(const std::vector<SuiteHistoryEntry>& history, const SettingsNumbers& numbers) {
  std::string text;
  int number = 0;
  for (const auto& [settings, version] : numbers.known()) {
    text += printable(fmt::format("settings {}: {}; {}; {}; accelopt {}", ++number, agents_text(settings),
                                  settings_text(settings, numbers.known()), device_text(settings), version)) +
            "\n";
  }
  const auto unknown = std::ranges::count_if(history, [&](const auto& entry) { return numbers.of(entry) == 0; });
  if (unknown > 0) {
    text += fmt::format("settings unknown: {} by an older accelopt, which did not keep them; compared with nothing\n",
                        unknown == 1 ? "one suite run" : fmt::format("{} suite runs", unknown));
  }
  return text;
}

std::string suite_runs_text(const std::vector<SuiteHistoryEntry>& history, const SettingsNumbers& numbers) {
  TextTable table({{"started"},
                   {"suite"},
                   {"settings"},
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
    table.add({entry.created, name_of_suite(entry.suite), numbers.text_of(entry), entry.state,
               fmt::format("{} of {}", totals.finished, entry.tasks.size()), std::to_string(totals.warm),
               ratio_text(figures.speedup), count_text(figures.evaluations), seconds_text(figures.seconds),
               usd_text(totals.usd), format_seconds(totals.wall_seconds)});
  }
  return table.render();
}

std::string tasks_text(const std::vector<SuiteHistoryEntry>& history, const SettingsNumbers& numbers) {
  TextTable table({{"task"},
                   {"started"},
                   {"settings"},
                   {"memory"},
                   {"speed-up [95 %]", Align::right},
                   {"evaluations to 95 %", Align::right},
                   {"time to 95 %", Align::right},
                   {"cost", Align::right},
                   {"time", Align::right},
                   {"outcome"}});
  std::vector<std::string> names;
  for (const SuiteHistoryEntry& entry : history) {
    for (const SuiteTask& task : entry.begun)
      if (std::ranges::find(names, task.task) == names.end()) names.push_back(task.task);
  }
  for (const std::string& name : names) {
    for (const SuiteHistoryEntry& entry : history) {
      for (const SuiteTask& task : entry.begun) {
        if (task.task != name) continue;
        const auto evaluations =
            task.convergence.evaluations
                ? fmt::format("{} of {}", *task.convergence.evaluations, task.evaluations)
                : (task.evaluations > 0 ? fmt::format("- of {}", task.evaluations) : std::string("-"));
        table.add({printable(name), entry.created, numbers.text_of(entry), memory_text(task),
                   task.speedup ? format_ratio(*task.speedup) : "-", evaluations,
                   seconds_text(task.convergence.seconds), usd_text(task.usd), format_seconds(task.wall_seconds),
                   outcome_text(task)});
      }
    }
  }
  return table.render();
}

std::string comparison_text(const std::vector<ColdAndWarm>& rows) {
  TextTable table({{"cold / warm"},
                   {"runs", Align::right},
                   {"speed-up", Align::right},
                   {"evaluations to 95 %", Align::right},
                   {"time to 95 %", Align::right},
                   {"cost a run", Align::right}});
  const auto both = [](const std::string& cold, const std::string& warm) { return cold + " / " + warm; };
  for (const ColdAndWarm& row : rows) {
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

std::string comparisons_text(const std::vector<SuiteHistoryEntry>& history) {
  std::string text;
  for (const AlikeRuns& runs : alike_runs(history)) {
    text += fmt::format("\nsettings {}, suite {}{}:\n", runs.number, name_of_suite(runs.suite),
                        runs.device.empty() ? "" : ", measured on " + printable(runs.device)) +
            comparison_text(runs.rows);
  }
  return text;
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

/// `tasks` and `tasks_with_both`.
Json json_of(const std::vector<ColdAndWarm>& rows) {
  Json out = {{"tasks", Json::array()}, {"tasks_with_both", nullptr}};
  for (const ColdAndWarm& row : rows) {
    Json line = {{"cold", json_of(row.cold)}, {"warm", json_of(row.warm)}};
    if (row.task.empty()) {
      out["tasks_with_both"] = line;
      continue;
    }
    line["task"] = row.task;
    out["tasks"].push_back(line);
  }
  return out;
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

std::vector<AlikeRuns> alike_runs(const std::vector<SuiteHistoryEntry>& history) {
  const SettingsNumbers numbers(history);
  std::vector<AlikeRuns> groups;
  std::vector<std::vector<SuiteHistoryEntry>> members;
  const auto group_of = [&](const SuiteHistoryEntry& entry, const std::string& device) {
    const int number = numbers.of(entry);
    const auto found = std::ranges::find_if(groups, [&](const AlikeRuns& group) {
      return group.number == number && group.suite == entry.suite && group.device == device;
    });
    if (found != groups.end()) return static_cast<std::size_t>(found - groups.begin());
    groups.push_back({.number = number,
                      .suite = entry.suite,
                      .program_version = entry.program_version,
                      .device = device,
                      .settings = comparable(entry.settings)});
    members.emplace_back();
    return groups.size() - 1;
  };
  for (const SuiteHistoryEntry& entry : history) {
    if (numbers.of(entry) == 0) continue;
    for (const SuiteTask& task : entry.begun) {
      if (!task.finished()) continue;
      const std::size_t group = group_of(entry, task.device);
      std::vector<SuiteHistoryEntry>& own = members[group];
      if (own.empty() || own.back().id != entry.id) {
        own.push_back(entry);
        own.back().begun.clear();
        groups[group].suite_runs.push_back(entry.id);
      }
      own.back().begun.push_back(task);
    }
  }
  for (std::size_t i = 0; i < groups.size(); ++i) groups[i].rows = cold_and_warm(members[i]);
  return groups;
}

std::string to_text(const std::vector<SuiteHistoryEntry>& history) {
  const SettingsNumbers numbers(history);
  return suite_runs_text(history, numbers) + "\n" + legend_text(history, numbers) + "\n" +
         tasks_text(history, numbers) + comparisons_text(history);
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
                 {"settings", entry.settings},
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
  const std::vector<AlikeRuns> groups = alike_runs(history);
  Json last = {{"type", "history"},
               {"schema", 1},
               {"suite_runs", history.size()},
               {"alike", Json::array()},
               {"tasks", Json::array()},
               {"tasks_with_both", nullptr}};
  for (const AlikeRuns& runs : groups) {
    Json line = json_of(runs.rows);
    line["suite"] = runs.suite;
    line["program_version"] = runs.program_version;
    line["device"] = runs.device;
    line["settings"] = runs.settings;
    line["suite_runs"] = runs.suite_runs;
    last["alike"].push_back(std::move(line));
  }
  // Over everything there is a comparison only where everything can be compared.
  const bool all_known = std::ranges::all_of(history, [](const auto& entry) { return entry.settings.is_object(); });
  if (groups.size() == 1 && all_known) last.update(json_of(groups.front().rows));
  lines.push_back(std::move(last));
  return lines;
}

}  // namespace accelopt::report
