// SPDX-License-Identifier: Apache-2.0
// benchmarks/TREND.md: what results say, and nothing that does not follow from them.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/text.hpp"
#include "report/resolve_times.hpp"
#include "report/text_table.hpp"

namespace accelopt::report {
namespace {

/// Warm over cold that we want with the family left out.
constexpr double kWanted = 0.7;

std::string number(std::optional<double> value, const char* unit = "") {
  return value ? fmt::format("{:.1f}{}", *value, unit) : "-";
}

std::string ratio_text(const std::optional<stats::Interval>& ratio) {
  return ratio ? fmt::format("{:.2f} [{:.2f}, {:.2f}]", ratio->estimate, ratio->low, ratio->high) : "-";
}

std::string settings_text(const base::Json& settings) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : settings.items())
    parts.push_back(name + " " + (value.is_string() ? value.get<std::string>() : base::canonical(value)));
  return base::joined(parts, ", ");
}

std::string pass_table(const AlikePasses& alike) {
  TextTable table({{"pass"},
                   {"memory"},
                   {"experiences", Align::right},
                   {"resolved", Align::right},
                   {"evaluations, mean", Align::right},
                   {"median", Align::right},
                   {"seconds, mean", Align::right},
                   {"median", Align::right},
                   {"share of peak", Align::right},
                   {"claims on optimal", Align::right},
                   {"dollars", Align::right}});
  for (const SuitePass& pass : alike.passes) {
    for (const auto& [arm, figures] : pass.arms) {
      table.add({fmt::format("{} ({})", pass.created.substr(0, 16), pass.round), std::string(to_string(arm)),
                 number(figures.experiences), fmt::format("{} of {}", figures.resolved, figures.tasks),
                 number(figures.evaluations), number(figures.median_evaluations), number(figures.seconds),
                 number(figures.median_seconds), fmt::format("{:.0f} %", 100 * figures.share),
                 fmt::format("{} of {}", figures.claims, figures.optimal),
                 figures.usd ? fmt::format("{:.2f}", *figures.usd) : "-"});
    }
  }
  return table.markdown();
}

std::string comparison(const AlikePasses& alike) {
  if (alike.warm.pairs + alike.warm.unresolved == 0) return "No pass has both a cold and a warm arm yet.\n";
  TextTable table({{"memory"},
                   {"evaluations over cold [95 %]", Align::right},
                   {"seconds over cold [95 %]", Align::right},
                   {"pairs", Align::right},
                   {"left out: neither resolved", Align::right}});
  const auto row = [&](const char* name, const ArmRatio& ratio) {
    table.add({name, ratio_text(ratio.evaluations), ratio_text(ratio.seconds), std::to_string(ratio.pairs),
               std::to_string(ratio.unresolved)});
  };
  row("warm, family left out", alike.warm);
  row("shuffled", alike.shuffled);
  std::string text = table.markdown() + "\n";
  if (!alike.warm.evaluations) {
    text += "Too few tasks were resolved to compare.\n";
  } else if (alike.warm.evaluations->high <= kWanted) {
    text += fmt::format("Memory saves evaluations: the interval lies below {:.1f}.\n", kWanted);
  } else {
    text += fmt::format("It is not shown that warm takes at most {:.1f} of the evaluations of cold.\n", kWanted);
  }
  return text;
}

/// Each task: what it came to in each arm, in the newest pass that has it.
std::string task_table(const std::vector<ResolveLine>& lines, const AlikePasses& alike) {
  const auto belongs = [&](const ResolveLine& line) {
    return std::ranges::find(alike.passes, line.suite_run, &SuitePass::suite_run) != alike.passes.end();
  };
  std::vector<std::string> order;
  std::map<std::string, std::map<MemoryArm, const ResolveLine*>> tasks;
  for (const ResolveLine& line : lines) {
    if (!belongs(line)) continue;
    if (!tasks.contains(line.task)) order.push_back(line.task);
    const ResolveLine*& newest = tasks[line.task][line.arm];
    if (newest == nullptr || newest->suite_run <= line.suite_run) newest = &line;
  }
  TextTable table({{"task"}, {"family"}, {"peak", Align::right}, {"cold"}, {"warm"}, {"shuffled"}});
  for (const std::string& task : order) {
    const auto& arms = tasks[task];
    const ResolveLine& any = *arms.begin()->second;
    std::vector<std::string> row{task, any.family, any.is_optimal() ? "-" : fmt::format("{:.1f}x", any.peak)};
    for (const MemoryArm arm : kMemoryArms) {
      const auto found = arms.find(arm);
      if (found == arms.end()) {
        row.emplace_back("-");
        continue;
      }
      const ResolveLine& line = *found->second;
      std::string cell = !line.error.empty() ? "error"
                         : line.is_better()  ? fmt::format("{:.1f}x", line.gain)
                                             : line.verdict;
      cell += fmt::format(" after {} in {:.0f} s", line.evaluations, line.seconds);
      row.push_back((line.resolved ? "resolved: " : "") + cell);
    }
    table.add(std::move(row));
  }
  return table.markdown();
}

}  // namespace

std::string trend_markdown(const std::vector<ResolveLine>& lines) {
  std::string text =
      "# Does it resolve tasks faster?\n\n"
      "Made from results/ by `accelopt bench benchmarks --history --plot`; README.md says what is measured. Means are "
      "restricted "
      "at the budget, medians are those of Kaplan and Meier: what was not resolved counts as not yet.\n\n"
      "![Evaluations, seconds and share of the peak, pass by pass](trend.svg)\n";
  for (const AlikePasses& alike : alike_passes(lines)) {
    text += fmt::format(
        "\n## {} {}, accelopt {}, {}\n\nPlayer: {}.\n\n{}\n{}\nTask by task, in the newest pass of each arm:\n\n{}",
        alike.suite, alike.suite_version, alike.program_version, alike.machine, settings_text(alike.settings),
        pass_table(alike), comparison(alike), task_table(lines, alike));
  }
  if (lines.empty()) text += "\nThere are no results yet.\n";
  return text;
}

}  // namespace accelopt::report
