// SPDX-License-Identifier: Apache-2.0
#include "report/html/trend_plot.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/html/markup.hpp"
#include "report/html/plot.hpp"

namespace accelopt::report::html {
namespace {

constexpr double kTrendWidth = 860;
constexpr double kPanelHeight = 170;
constexpr double kTrendLeft = 60;
constexpr double kTrendRight = 20;
constexpr double kTrendTop = 46;
constexpr double kGap = 44;
constexpr int kTicks = 4;

struct Panel {
  const char* title;
  const char* unit;
  double (*of)(const ArmFigures&);
};
constexpr Panel kPanels[] = {
    {"seconds to resolve, restricted mean", "", [](const ArmFigures& figures) { return figures.seconds; }},
    {"evaluations to resolve, restricted mean", "", [](const ArmFigures& figures) { return figures.evaluations; }},
    {"share of the peak", " %", [](const ArmFigures& figures) { return 100 * figures.share; }},
};

/// A dash of its own for each arm, so that colour is not needed to tell them apart.
struct Style {
  const char* colour;
  const char* dash;
};
Style style_of(MemoryArm arm) {
  switch (arm) {
    case MemoryArm::cold:
      return {"#2b6cb0", "none"};
    case MemoryArm::warm:
      return {"#c05621", "7 3"};
    case MemoryArm::shuffled:
      break;
  }
  return {"#6b7280", "2 3"};
}

/// A pass with its place from left to right; first: of a group that is not alike the one before.
struct PassPlace {
  const SuitePass* pass;
  bool first;
};

double across(std::size_t at, std::size_t count) {
  const double room = kTrendWidth - kTrendLeft - kTrendRight;
  return kTrendLeft + room * (static_cast<double>(at) + 0.5) / static_cast<double>(count);
}

Markup label(double x, double y, const char* anchor, const std::string& words) {
  return element("text", Attributes{{"x", coordinate(x)}, {"y", coordinate(y)}, {"text-anchor", anchor}}, words);
}

Markup line(double x1, double y1, double x2, double y2, const char* colour) {
  return element("line",
                 Attributes{{"x1", coordinate(x1)},
                            {"y1", coordinate(y1)},
                            {"x2", coordinate(x2)},
                            {"y2", coordinate(y2)},
                            {"stroke", colour}},
                 Markup());
}

Markup arm_of(const Panel& panel, MemoryArm arm, const std::vector<PassPlace>& places, double top, const Axis& axis) {
  const Style style = style_of(arm);
  Markup marks;
  std::string path;
  for (std::size_t at = 0; at < places.size(); ++at) {
    const ArmFigures* figures = places[at].pass->find(arm);
    if (places[at].first && !path.empty()) path += " ";
    if (figures == nullptr || figures->tasks == 0) continue;
    const double value = panel.of(*figures);
    const double x = across(at, places.size());
    const double y = top + kPanelHeight * (1 - value / axis.range.high);
    const bool starts = path.empty() || path.back() == ' ';
    path += (starts ? "M" : "L") + coordinate(x) + " " + coordinate(y);
    marks +=
        element("circle", Attributes{{"cx", coordinate(x)}, {"cy", coordinate(y)}, {"r", "4"}, {"fill", style.colour}},
                element("title", fmt::format("{}, {}, pass of {}: {}{}", panel.title, to_string(arm),
                                             places[at].pass->created, short_number(value), panel.unit)));
  }
  Markup drawn;
  if (!path.empty())
    drawn += element("path",
                     Attributes{{"d", path},
                                {"fill", "none"},
                                {"stroke", style.colour},
                                {"stroke-width", "2"},
                                {"stroke-dasharray", style.dash}},
                     Markup());
  drawn += marks;
  return drawn;
}

Markup panel_of(const Panel& panel, const std::vector<PassPlace>& places, double top) {
  double highest = 0;
  for (const PassPlace& place : places) {
    for (const auto& [arm, figures] : place.pass->arms) highest = std::max(highest, panel.of(figures));
  }
  const Axis axis{.title = panel.title, .range = {0, highest > 0 ? 1.08 * highest : 1}, .unit = panel.unit};
  Markup drawn = label(kTrendLeft, top - 10, "start", panel.title);
  for (const double tick : ticks_of(axis, kTicks)) {
    const double y = top + kPanelHeight * (1 - tick / axis.range.high);
    drawn += line(kTrendLeft, y, kTrendWidth - kTrendRight, y, "#e5e7eb");
    drawn += label(kTrendLeft - 6, y + 4, "end", short_number(tick) + panel.unit);
  }
  for (std::size_t at = 1; at < places.size(); ++at) {
    if (!places[at].first) continue;
    const double x = (across(at - 1, places.size()) + across(at, places.size())) / 2;
    drawn += line(x, top, x, top + kPanelHeight, "#9ca3af");
  }
  for (const MemoryArm arm : kMemoryArms) drawn += arm_of(panel, arm, places, top, axis);
  return drawn;
}

Markup arm_names() {
  Markup drawn;
  double x = kTrendLeft;
  for (const MemoryArm arm : kMemoryArms) {
    const Style style = style_of(arm);
    drawn += element("path",
                     Attributes{{"d", fmt::format("M{} 16L{} 16", coordinate(x), coordinate(x + 30))},
                                {"stroke", style.colour},
                                {"stroke-width", "2"},
                                {"stroke-dasharray", style.dash}},
                     Markup());
    drawn += label(x + 36, 20, "start", std::string(to_string(arm)));
    x += 130;
  }
  return drawn;
}

}  // namespace

std::string trend_svg(const std::vector<ResolveLine>& lines) {
  const std::vector<AlikePasses> all = alike_passes(lines);
  std::vector<PassPlace> places;
  for (const AlikePasses& alike : all) {
    for (const SuitePass& pass : alike.passes) places.push_back({&pass, &pass == &alike.passes.front()});
  }
  const double height = kTrendTop + std::size(kPanels) * (kPanelHeight + kGap);
  Markup drawn = element("title", "Seconds and evaluations to resolve, and share of the peak, pass by pass");
  drawn += element("rect",
                   Attributes{{"width", coordinate(kTrendWidth)}, {"height", coordinate(height)}, {"fill", "#ffffff"}},
                   Markup());
  drawn += arm_names();
  double top = kTrendTop;
  for (const Panel& panel : kPanels) {
    drawn += panel_of(panel, places, top);
    top += kPanelHeight + kGap;
  }
  for (std::size_t at = 0; at < places.size(); ++at)
    drawn += label(across(at, places.size()), top - kGap + 18, "middle", places[at].pass->created.substr(0, 10));
  return element("svg",
                 Attributes{{"xmlns", "http://www.w3.org/2000/svg"},
                            {"viewBox", fmt::format("0 0 {} {}", coordinate(kTrendWidth), coordinate(height))},
                            {"width", coordinate(kTrendWidth)},
                            {"height", coordinate(height)},
                            {"font-family", "sans-serif"},
                            {"font-size", "12"},
                            {"fill", "#374151"}},
                 drawn)
             .source() +
         "\n";
}

}  // namespace accelopt::report::html
