// SPDX-License-Identifier: Apache-2.0
#include "report/html/candidate_tree.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "report/format.hpp"
#include "report/html/plot.hpp"

namespace accelopt::report::html {
namespace {

using model::Identity;

constexpr double kColumnWidth = 168;  ///< width of an iteration's
constexpr double kNodeHeight = 22;
constexpr double kLabelWidth = 122;  ///< where a candidate's label ends, from its symbol
constexpr double kMarkWidth = 8;
constexpr double kTreeTop = 34;
constexpr double kTreeLeft = 14;

struct Place {
  double x = 0;
  double y = 0;
};

/// Where each node stands: children in the order of their parents, so that edges cross little.
class Layout {
 public:
  explicit Layout(const RunStory& story) {
    std::map<int, std::vector<const StoryAttempt*>> columns;
    for (const StoryAttempt& attempt : story.attempts) columns[attempt.identity.iteration].push_back(&attempt);
    places_[Identity{}] = {kTreeLeft, kTreeTop};
    for (auto& [iteration, attempts] : columns) {
      std::ranges::stable_sort(attempts, [&](const StoryAttempt* a, const StoryAttempt* b) {
        return places_[a->parent].y < places_[b->parent].y;
      });
      double y = kTreeTop;
      for (const StoryAttempt* attempt : attempts) {
        places_[attempt->identity] = {kTreeLeft + kColumnWidth * (iteration + 1), y};
        lowest_ = std::max(lowest_, y);
        y += kNodeHeight;
      }
      columns_ = std::max(columns_, iteration + 2);
    }
  }

  [[nodiscard]] Place at(const Identity& identity) const {
    const auto found = places_.find(identity);
    return found == places_.end() ? Place{kTreeLeft, kTreeTop} : found->second;
  }
  [[nodiscard]] double width() const { return kTreeLeft + kColumnWidth * columns_; }
  [[nodiscard]] double height() const { return lowest_ + kNodeHeight; }
  [[nodiscard]] int columns() const { return columns_; }

 private:
  std::map<Identity, Place> places_;
  double lowest_ = kTreeTop;
  int columns_ = 1;
};

std::string label_of(const StoryAttempt& attempt) {
  const Identity& id = attempt.identity;
  std::string label = fmt::format("b{} p{} a{}", id.parent, id.plan, id.attempt);
  if (id.fix > 0) label += fmt::format(" f{}", id.fix);
  if (attempt.score) return label + "  " + format_ratio(attempt.score->estimate);
  return attempt.ratio ? label + "  " + format_ratio(attempt.ratio->estimate) : label;
}

std::string tip_of(const StoryAttempt& attempt) {
  std::string tip = fmt::format("{}: {}", model::to_string(attempt.identity), attempt.plan.title);
  if (attempt.ratio) tip += "; against its parent " + format_ratio(*attempt.ratio);
  if (attempt.score) tip += "; against the baseline " + format_ratio(*attempt.score);
  return tip;
}

Mark tree_mark(const StoryAttempt& attempt) {
  if (attempt.is_winner) return Mark::confirmed;
  if (attempt.note == model::kKnownAlready) return Mark::known;
  return mark_of(attempt.status, attempt.verdict);
}

/// Edges run in the gaps between the columns of labels; past a column in between they run between two rows.
Markup edge(const Place& from, const Place& to, std::string_view style) {
  const double begin = from.x <= kTreeLeft ? from.x : from.x + kLabelWidth;
  const double gap = from.x + kColumnWidth - kMarkWidth;
  std::string path = fmt::format("M{} {}", coordinate(begin), coordinate(from.y));
  if (gap < to.x - kColumnWidth / 2) {
    const double between = to.y - kNodeHeight / 2;
    path += fmt::format("L{} {}", coordinate(gap), coordinate(between));
    path += fmt::format("L{} {}", coordinate(to.x - kColumnWidth + kLabelWidth), coordinate(between));
  }
  path += fmt::format("L{} {}", coordinate(to.x), coordinate(to.y));
  return empty_element("path", {{"class", std::string(style)}, {"d", path}});
}

}  // namespace

Markup candidate_tree(const RunStory& story) {
  const Layout layout(story);
  std::set<Identity> thick;
  if (const StoryAttempt* winner = story.winner()) {
    for (const StoryAttempt* step : story.lineage(*winner)) thick.insert(step->identity);
  }
  Markup edges;
  Markup lineage;
  Markup nodes;
  for (int column = 0; column < layout.columns(); ++column) {
    nodes += element("text", {{"class", "axis"}, {"x", coordinate(kTreeLeft + kColumnWidth * column - 6)}, {"y", "14"}},
                     column == 0 ? std::string("baseline") : fmt::format("iteration {}", column));
  }
  nodes += symbol(Mark::baseline, layout.at({}).x, layout.at({}).y, "the baseline");
  for (const StoryAttempt& attempt : story.attempts) {
    const Place place = layout.at(attempt.identity);
    const bool on_the_way = thick.contains(attempt.identity);
    (on_the_way ? lineage : edges) += edge(layout.at(attempt.parent), place, on_the_way ? "edge way" : "edge");
    nodes += symbol(tree_mark(attempt), place.x, place.y, tip_of(attempt));
    nodes += element("text",
                     {{"class", attempt.score ? "node kept" : "node"},
                      {"paint-order", "stroke"},
                      {"x", coordinate(place.x + 10)},
                      {"y", coordinate(place.y + 4)}},
                     label_of(attempt));
  }
  edges += lineage;
  edges += nodes;
  return figure(
      "tree", layout.width(), layout.height(), "The candidates and their parents",
      "Each column is an iteration, each symbol an attempt, joined to the parent that it changes; b, p, a and f number "
      "parent, plan, attempt and fix. A bold figure is the speed-up over the baseline, by the play-off that gave the "
      "candidate a place; any other is over its parent. The thick line leads to the winner.",
      edges, Size::natural);
}

}  // namespace accelopt::report::html
