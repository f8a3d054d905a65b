// SPDX-License-Identifier: Apache-2.0
#include "cli/estimate_text.hpp"

#include <array>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "report/format.hpp"
#include "report/text_table.hpp"

namespace accelopt::cli {

using search::Range;

namespace {

std::string number(double value) {
  return report::format_count(static_cast<std::int64_t>(std::llround(value)));
}

std::string show(const std::string& name, double value) {
  if (name == "usd") return report::format_usd(value);
  if (name == "device_seconds" || name == "wall_seconds") return report::format_seconds(value);
  return number(value);
}

constexpr std::array kTitles{
    std::pair{"calls", "calls of models"},
    std::pair{"tokens", "tokens"},
    std::pair{"usd", "cost"},
    std::pair{"evaluations", "evaluations"},
    std::pair{"device_seconds", "device"},
    std::pair{"wall_seconds", "wall time"},
};

std::string title_of(const std::string& name) {
  for (const auto& [key, title] : kTitles) {
    if (name == key) return title;
  }
  return name;
}

}  // namespace

std::string describe(const search::Estimate& estimate) {
  report::TextTable table(
      {{"estimate"}, {"from", report::Align::right}, {"expected", report::Align::right}, {"to", report::Align::right}});
  const auto add = [&](const std::string& name, const std::optional<Range>& range) {
    if (!range)
      table.add({title_of(name), "unknown", "unknown", "unknown"});
    else
      table.add({title_of(name), show(name, range->low), show(name, range->expected), show(name, range->high)});
  };
  if (estimate.all_calls.high > 0) {
    add("calls", estimate.all_calls);
    add("tokens", estimate.tokens);
    add("usd", estimate.usd);
  }
  add("evaluations", estimate.evaluations);
  add("device_seconds", estimate.device_seconds);
  add("wall_seconds", estimate.wall_seconds);
  std::string text = table.render();
  if (!estimate.usd) text += "the cost is unknown: a model's price is not known (price in accelopt.toml)\n";
  return text + "rests on " + estimate.basis + "\n";
}

std::string estimate_line(const search::Estimate& estimate) {
  std::string text;
  const auto add = [&](const std::string& name, const std::optional<Range>& range) {
    const std::string value = range ? fmt::format("{} ({} to {})", show(name, range->expected), show(name, range->low),
                                                  show(name, range->high))
                                    : "unknown";
    text += fmt::format("{}{} {}", text.empty() ? "estimate: " : ", ", title_of(name), value);
  };
  if (estimate.all_calls.high > 0) {
    add("calls", estimate.all_calls);
    add("tokens", estimate.tokens);
    add("usd", estimate.usd);
  }
  add("evaluations", estimate.evaluations);
  add("wall_seconds", estimate.wall_seconds);
  return text;
}

std::string describe(const std::vector<search::Comparison>& comparisons) {
  report::TextTable table({{"estimate and truth"},
                           {"from", report::Align::right},
                           {"expected", report::Align::right},
                           {"to", report::Align::right},
                           {"it was", report::Align::right}});
  for (const search::Comparison& comparison : comparisons) {
    const std::string& name = comparison.name;
    if (!comparison.predicted || (comparison.predicted->high == 0 && comparison.actual == 0.0)) continue;
    const std::string was = comparison.actual ? show(name, *comparison.actual) : "unknown";
    table.add({title_of(name), show(name, comparison.predicted->low), show(name, comparison.predicted->expected),
               show(name, comparison.predicted->high),
               was + (comparison.inside() || !comparison.actual ? "" : " (!)")});
  }
  return table.render();
}

std::string beside_text(const std::vector<search::Comparison>& comparisons) {
  std::string text;
  for (const search::Comparison& comparison : comparisons) {
    const std::string& name = comparison.name;
    if (!comparison.predicted || !comparison.actual || (comparison.predicted->high == 0 && *comparison.actual == 0))
      continue;
    text += fmt::format("{}{} {} of {}{}", text.empty() ? "used, against the estimate: " : ", ", title_of(name),
                        show(name, *comparison.actual), show(name, comparison.predicted->expected),
                        comparison.inside() ? "" : " (!)");
  }
  return text.empty() ? text : text + "\n";
}

}  // namespace accelopt::cli
