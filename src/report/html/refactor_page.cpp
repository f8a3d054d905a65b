// SPDX-License-Identifier: Apache-2.0
#include "report/html/refactor_page.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "model/measure.hpp"
#include "report/format.hpp"
#include "report/html/diff_table.hpp"
#include "report/html/page.hpp"
#include "report/html/plot.hpp"

namespace accelopt::report::html {
namespace {

/// Characters of a commit's name that people read.
constexpr std::size_t kShortCommit = 12;

std::string ratio_or_none(const std::optional<model::Interval>& ratio) {
  return ratio ? format_ratio(*ratio) : "-";
}

const model::Measure& measure_of(const RefactorStory& story) {
  return model::measure_of(story.goal);
}

std::string name_of(const RefactorWorkload& workload) {
  return fmt::format("{}, n={}", workload.workload, workload.size);
}

std::string verdict_words(std::string verdict) {
  std::ranges::replace(verdict, '_', ' ');
  return verdict;
}

/// An axis over at least a decade, so that it has ticks to be read by.
Axis log_axis(std::string title, double low, double high) {
  const double wider = std::max(1.15, std::sqrt(10 * low / high));
  return {std::move(title), {low / wider, high * wider}, Scale::log, ""};
}

/// Whether all of the interval is on one side of no change.
Mark mark_of_ratio(const model::Interval& ratio) {
  return ratio.low > 1 ? Mark::confirmed : ratio.high < 1 ? Mark::slower : Mark::tie;
}

Markup header_of(const RefactorStory& story) {
  Markup out = element("h1", fmt::format("{}: the refactoring {}", story.task, story.run));
  out += element("p", {{"class", "answer"}}, answer_of(story));
  out += element(
      "p", {{"class", "soft"}},
      fmt::format("Begun {}; {}; seed {}; accelopt {}. Ratios are {}: over 1 is {}; brackets hold 95 % intervals.",
                  story.created, verdict_words(story.verdict), story.seed, story.program_version,
                  measure_of(story).ratio, measure_of(story).better));
  return out;
}

Markup asked(const RefactorStory& story) {
  Table table{"What was to be changed, and what holds it", {{"what"}, {"value"}}, {}};
  for (const std::string& scope : story.scope) table.rows.push_back(cells({"may change", scope}));
  table.rows.push_back(cells({"goal", std::string(measure_of(story).wanted)}));
  table.rows.push_back(cells({"language", story.language}));
  table.rows.push_back(cells({"base", story.base.substr(0, kShortCommit)}));
  table.rows.push_back(cells({"tests of the base that hold it", std::to_string(story.tests)}));
  for (const std::string& test : story.flaky) table.rows.push_back(cells({"flaky test, set aside", test}));
  for (const std::string& test : story.not_passing)
    table.rows.push_back(cells({"does not pass on the base, and holds nothing", test}));
  return to_markup(table);
}

Markup text_figures(const RefactorStory& story) {
  const base::Json& it = story.readability;
  if (it.is_null()) return {};
  Table table{"Figures of the text, by function",
              {{"function"},
               {"cognitive complexity", Align::right},
               {"deepest nesting", Align::right},
               {"statements", Align::right}},
              {}};
  const auto row = [&](const std::string& name, const base::Json& of) {
    const auto cell = [&](const char* figure) {
      const auto value = [&](const char* side) {
        return of.value(base::Json::json_pointer(fmt::format("/{}/{}", side, figure)), 0);
      };
      return fmt::format("{} -> {}", value("before"), value("after"));
    };
    table.rows.push_back(cells({name, cell("cognitive"), cell("nesting"), cell("statements")}));
  };
  for (const base::Json& one : it.value("functions", base::Json::array())) row(base::text_at(one, "name"), one);
  row("all of these", it);
  Markup out = to_markup(table);
  const std::string reason = base::text_at(it, "reason");
  if (!reason.empty()) out += element("p", "It is not simpler: " + reason + ".");
  const std::string preference = base::text_at(it, "preference");
  const std::string reviewer = base::text_at(it, "reviewer");
  out += element("p", preference == "unasked"  ? "No reviewer was asked which of the two is easier to read."
                      : preference == "after"  ? reviewer + " prefers the new code in both orders."
                      : preference == "before" ? reviewer + " prefers the old code in both orders."
                                               : reviewer + " prefers neither in both orders.");
  return out;
}

Markup ratios(const RefactorStory& story) {
  if (story.workloads.empty()) return {};
  std::vector<std::string> names;
  std::vector<double> values;
  const model::Measure& measure = measure_of(story);
  const bool by_memory = measure.goal == "memory";
  const bool by_text = measure.goal == "readability";  // each size has its time, a guard
  Table table{by_memory ? "Confirmed peaks of memory by family of inputs and size"
                        : "Confirmed times by family of inputs and size",
              {{"inputs"},
               {"size", Align::right},
               {"role"},
               {"before", Align::right},
               {"after", Align::right},
               {fmt::format("{} [95 %]", measure.by_workload), Align::right},
               {"start-up"}},
              {}};
  for (const RefactorWorkload& one : story.workloads) {
    names.push_back(name_of(one));
    values.insert(values.end(), {one.ratio.low, one.ratio.high});
    const auto amount = [](double ms, const std::optional<double>& bytes) {
      return bytes ? format_bytes(*bytes) : format_ns(ms * 1e6);
    };
    table.rows.push_back(cells({one.workload, std::to_string(one.size), verdict_words(one.role),
                                amount(one.old_ms, one.old_peak_bytes), amount(one.new_ms, one.new_peak_bytes),
                                format_ratio(one.ratio), one.timed ? "left out" : "prevails, counted in the ratio"}));
  }
  Plot plot("by-size",
            ratio_axis(measure.goal == "readability" ? std::string(measure.by_workload)
                                                     : fmt::format("{}, {}", measure.gain, measure.ratio),
                       values),
            {}, names);
  plot.reference(1, "no change");
  double row = 0;
  for (const RefactorWorkload& one : story.workloads) {
    const Mark mark = mark_of_ratio(one.ratio);
    plot.interval(mark, row, one.ratio);
    plot.mark(mark, one.ratio.estimate, row, fmt::format("{}: {}", name_of(one), format_ratio(one.ratio)));
    row += 1;
  }
  Markup out = plot.finish("Ratio by inputs and size",
                           fmt::format("Each size's confirmed ratio with its 95 % interval: a diamond is certainly {}, "
                                       "a triangle certainly {}, a circle neither.",
                                       by_text ? "faster" : measure.better, by_text ? "slower" : measure.worse));
  out += to_markup(table);
  out += element(
      "p", {{"class", "soft"}},
      fmt::format(
          "Start-up, which is credited to nobody: {} before, {} after.",
          story.old_start_up_bytes ? format_bytes(*story.old_start_up_bytes) : format_ns(story.old_start_up_ms * 1e6),
          story.new_start_up_bytes ? format_bytes(*story.new_start_up_bytes) : format_ns(story.new_start_up_ms * 1e6)));
  if (story.time)
    out += element("p", fmt::format("Processor time is a guard: old / new {}.", format_ratio(*story.time)));
  return out;
}

/// How the times of one family grow; nothing for a family of one size.
Markup growth_of(const std::string& family, const std::vector<const RefactorWorkload*>& sizes, std::size_t number) {
  if (sizes.size() < 2) return {};
  double low = sizes.front()->new_ms;
  double high = low;
  for (const RefactorWorkload* one : sizes) {
    low = std::min({low, one->old_ms, one->new_ms});
    high = std::max({high, one->old_ms, one->new_ms});
  }
  const auto [least, most] = std::ranges::minmax(sizes, {}, &RefactorWorkload::size);
  Plot plot(fmt::format("growth-{}", number),
            log_axis("size n", static_cast<double>(least->size), static_cast<double>(most->size)),
            log_axis("processor time, ms", low, high));
  for (const RefactorWorkload* one : sizes) {
    const auto size = static_cast<double>(one->size);
    plot.mark(Mark::baseline, size, one->old_ms,
              fmt::format("before, n={}: {}", one->size, format_ns(one->old_ms * 1e6)));
    plot.mark(Mark::best, size, one->new_ms, fmt::format("after, n={}: {}", one->size, format_ns(one->new_ms * 1e6)));
  }
  return plot.finish("Time by size, inputs " + family,
                     "Medians of the processor time without start-up, before (squares) and after (circles); the "
                     "numbers stand in the table of confirmed times.");
}

Markup growth(const RefactorStory& story) {
  if (story.growth.empty() && measure_of(story).better != "faster") return {};
  std::map<std::string, std::vector<const RefactorWorkload*>> families;
  for (const RefactorWorkload& one : story.workloads) {
    if (one.timed && one.size > 0 && one.old_ms > 0 && one.new_ms > 0) families[one.workload].push_back(&one);
  }
  Markup out;
  std::size_t number = 0;
  for (const auto& [family, sizes] : families) out += growth_of(family, sizes, ++number);
  Table table{"Exponents of the growth",
              {{"inputs"},
               {"sizes", Align::right},
               {"before", Align::right},
               {"after", Align::right},
               {"difference [95 %]", Align::right},
               {"lower complexity"}},
              {}};
  for (const RefactorGrowth& one : story.growth) {
    table.rows.push_back(
        cells({one.workload, fmt::format("{:.0f} to {:.0f}", one.from_size, one.to_size),
               fmt::format("{:.2f}", one.old_exponent), fmt::format("{:.2f}", one.new_exponent),
               fmt::format("{:.2f} [{:.2f}, {:.2f}]", one.difference.estimate, one.difference.low, one.difference.high),
               one.claimed ? "shown" : "not shown: " + one.reason}));
  }
  out += to_markup(table);
  if (!story.complexity_claimed && !story.complexity_reason.empty())
    out += element("p", "A lower complexity is not claimed: " + story.complexity_reason + ".");
  return out;
}

Markup tried(const RefactorStory& story) {
  std::vector<std::string> names;
  std::vector<double> values;
  Table table{"Proposals in the order in which they were tried",
              {{"number", Align::right},
               {"strategy"},
               {"added to"},
               {"fate"},
               {"short race [95 %]", Align::right},
               {"over the best until then", Align::right},
               {"why"}},
              {}};
  for (const RefactorTrial& trial : story.trials) {
    const std::string number = std::to_string(table.rows.size() + 1);
    const std::string fate = trial.failed_gate.empty() ? verdict_words(trial.verdict) : "failed " + trial.failed_gate;
    table.rows.push_back(cells({number, trial.strategy, trial.built_on.empty() ? "the base" : trial.built_on, fate,
                                ratio_or_none(trial.ratio), ratio_or_none(trial.over_best), trial.why}));
    if (!trial.ratio) continue;
    names.push_back("proposal " + number);
    values.insert(values.end(), {trial.ratio->low, trial.ratio->high});
  }
  Markup out;
  if (!names.empty()) {
    Plot plot("proposals", ratio_axis(fmt::format("{} over the base, short race", measure_of(story).gain), values), {},
              names);
    plot.reference(1, "base");
    double row = 0;
    for (const RefactorTrial& trial : story.trials) {
      if (!trial.ratio) continue;
      const Mark mark = trial.verdict == measure_of(story).better ? Mark::faster
                        : trial.ratio->high < 1                   ? Mark::slower
                                                                  : Mark::tie;
      plot.interval(mark, row, *trial.ratio);
      plot.mark(mark, trial.ratio->estimate, row, fmt::format("{}: {}", trial.strategy, format_ratio(*trial.ratio)));
      row += 1;
    }
    out += plot.finish("Ratios of the proposals", "Proposals that were right enough to be raced, with 95 % intervals.");
  }
  out += to_markup(table);
  return out;
}

/// A table for each file of the diff.
Markup change(const RefactorStory& story) {
  Markup out;
  if (!story.strategy.empty()) out += element("p", story.strategy);
  const std::string_view mark = "diff --git ";
  std::string_view rest = story.diff;
  while (!rest.empty()) {
    const std::size_t next = rest.find("\n" + std::string(mark), 1);
    const std::string_view file = rest.substr(0, next == rest.npos ? rest.npos : next + 1);
    rest.remove_prefix(file.size());
    const std::size_t name = file.find(" b/");
    const std::string path(name == file.npos ? file.substr(0, file.find('\n'))
                                             : file.substr(name + 3, file.find('\n', name) - name - 3));
    out += diff_table(file, "Before and after, " + path, "before", "after");
  }
  return out;
}

Markup gates(const RefactorStory& story) {
  Table table{"Gates, cheapest first", {{"gate"}, {"outcome"}, {"found"}, {"time", Align::right}}, {}};
  for (const RefactorGate& gate : story.gates) {
    Markup facts;
    for (const std::string& fact : gate.facts) facts += element("p", fact);
    auto row = cells({gate.name, gate.passed ? "passed" : "failed", "", format_seconds(gate.seconds)});
    row[2] = facts;
    table.rows.push_back(std::move(row));
  }
  Markup out = to_markup(table);
  if (!out.empty()) {
    out += element("p", {{"class", "soft"}},
                   "The first gate that fails ends it. Old and new code run as processes in a sandbox, without a "
                   "network, on inputs that are drawn anew for every pair; their results must be equal in each.");
  }
  return out;
}

Markup outcome(const RefactorStory& story) {
  Table table{"What it left", {{"what"}, {"value"}}, {}};
  const auto add = [&](const char* what, const std::string& value) {
    if (!value.empty()) table.rows.push_back(cells({what, value}));
  };
  add("branch", story.branch.starts_with("refs/heads/") ? story.branch.substr(11) : story.branch);
  add("commit", story.commit);
  add("experience", story.experience);
  Markup out = to_markup(table);
  out += element("p", "To repeat it:");
  out += element(
      "pre", element("code", story.commit.empty() && !story.trials.empty()
                                 ? fmt::format("accelopt refactor run --seed {} TASK", story.seed)
                                 : fmt::format("accelopt refactor check --seed {} {} TASK", story.seed,
                                               story.commit.empty() ? "CHANGE"
                                                                    : "--of " + story.commit.substr(0, kShortCommit))));
  return out;
}

}  // namespace

std::string refactor_page(const RefactorStory& story) {
  Markup body;
  const std::vector<std::tuple<std::string, std::string, Markup>> parts{
      {"asked", "What was asked", asked(story)},
      {"text", "The figures of the text", text_figures(story)},
      {"figures", story.readability.is_null() ? "The figures" : "Times, which are a guard", ratios(story)},
      {"growth", "How the time grows", growth(story)},
      {"change", "The change", change(story)},
      {"tried", "What was tried", tried(story)},
      {"gates", "What was checked", gates(story)},
      {"outcome", "What it left, and how to repeat it", outcome(story)},
  };
  Markup items;
  for (const auto& [id, title, content] : parts) {
    if (content.empty()) continue;
    items += element("li", element("a", {{"href", "#" + id}}, title));
    body += section(id, title, content);
  }
  Markup header = header_of(story);
  header += element("nav", {{"aria-label", "Contents"}}, element("ul", items));
  return page(fmt::format("{}: {}", story.task, story.run), header, body);
}

}  // namespace accelopt::report::html
