// SPDX-License-Identifier: Apache-2.0
#include "stats/grid_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numeric>
#include <tuple>

#include "base/hash.hpp"
#include "base/result.hpp"

namespace accelopt::stats {
namespace {

constexpr int kFits = 20;           ///< rounds of fitting the effects one axis after the other
constexpr double kShrink = 1;       ///< pulls an effect towards 0 as so many points without one would
constexpr double kFarness = 1.5;    ///< how fast a tried point's influence falls with the distance
constexpr double kDoubt = 0.5;      ///< weight of "no deviation" beside the tried points'
constexpr double kNextValue = 0.5;  ///< distance of neighbouring values; others are 1 apart

int axis_size(std::span<const GridPoint> points, std::size_t axis) {
  int size = 0;
  for (const GridPoint& point : points) size = std::max(size, point[axis] + 1);
  return size;
}

double distance(const GridPoint& a, const GridPoint& b) {
  double sum = 0;
  for (std::size_t axis = 0; axis < a.size(); ++axis) {
    const int apart = std::abs(a[axis] - b[axis]);
    sum += apart == 0 ? 0 : apart == 1 ? kNextValue : 1;
  }
  return sum;
}

/// score = mean + an effect for the value on each axis + what is left near the tried points.
class Model {
 public:
  Model(std::span<const GridPoint> points, const std::vector<std::size_t>& tried, const std::vector<double>& scores)
      : points_(points), tried_(tried) {
    const std::size_t axes = points.front().size();
    for (std::size_t axis = 0; axis < axes; ++axis)
      effects_.emplace_back(static_cast<std::size_t>(axis_size(points, axis)), 0.0);
    mean_ = std::accumulate(scores.begin(), scores.end(), 0.0) / static_cast<double>(scores.size());
    for (int fit = 0; fit < kFits; ++fit) {
      for (std::size_t axis = 0; axis < axes; ++axis) fit_axis(axis, scores);
    }
    for (std::size_t i = 0; i < tried.size(); ++i) left_.push_back(scores[i] - additive(points[tried[i]]));
  }

  [[nodiscard]] double predict(const GridPoint& point) const {
    double weights = kDoubt;
    double sum = 0;
    for (std::size_t i = 0; i < tried_.size(); ++i) {
      const double weight = std::exp(-kFarness * distance(point, points_[tried_[i]]));
      weights += weight;
      sum += weight * left_[i];
    }
    return additive(point) + sum / weights;
  }

 private:
  [[nodiscard]] double additive(const GridPoint& point) const {
    double sum = mean_;
    for (std::size_t axis = 0; axis < point.size(); ++axis)
      sum += effects_[axis][static_cast<std::size_t>(point[axis])];
    return sum;
  }

  void fit_axis(std::size_t axis, const std::vector<double>& scores) {
    std::vector<double>& effects = effects_[axis];
    std::vector<double> sums(effects.size(), 0);
    std::vector<double> counts(effects.size(), kShrink);
    for (std::size_t i = 0; i < tried_.size(); ++i) {
      const GridPoint& point = points_[tried_[i]];
      const auto value = static_cast<std::size_t>(point[axis]);
      sums[value] += scores[i] - (additive(point) - effects[value]);
      counts[value] += 1;
    }
    for (std::size_t value = 0; value < effects.size(); ++value) effects[value] = sums[value] / counts[value];
  }

  std::span<const GridPoint> points_;
  const std::vector<std::size_t>& tried_;
  double mean_ = 0;
  std::vector<std::vector<double>> effects_;
  std::vector<double> left_;  ///< of the tried points
};

}  // namespace

std::vector<std::size_t> spread_points(std::span<const GridPoint> points, std::size_t count, std::uint64_t seed) {
  std::vector<std::size_t> chosen;
  if (points.empty()) return chosen;
  const std::size_t axes = points.front().size();
  std::map<std::array<int, 2>, int> values;  // axis and value: how often it was chosen
  std::map<std::array<int, 4>, int> pairs;
  std::vector<bool> used(points.size(), false);
  std::vector<std::uint64_t> lots(points.size());
  for (std::size_t i = 0; i < lots.size(); ++i) lots[i] = base::derive_seed(seed, std::to_string(i));
  const auto each = [axes](const GridPoint& point, auto on_value, auto on_pair) {
    for (std::size_t a = 0; a < axes; ++a) {
      on_value(std::array{static_cast<int>(a), point[a]});
      for (std::size_t b = a + 1; b < axes; ++b)
        on_pair(std::array{static_cast<int>(a), point[a], static_cast<int>(b), point[b]});
    }
  };
  const auto often = [](const auto& counts, const auto& key) {
    const auto found = counts.find(key);
    return found == counts.end() ? 0 : found->second;
  };
  while (chosen.size() < std::min(count, points.size())) {
    std::tuple<int, int, std::uint64_t> least{};
    std::size_t best = points.size();
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (used[i]) continue;
      int value_uses = 0;
      int pair_uses = 0;
      each(
          points[i], [&](const auto& key) { value_uses += often(values, key); },
          [&](const auto& key) { pair_uses += often(pairs, key); });
      const std::tuple<int, int, std::uint64_t> uses{value_uses, pair_uses, lots[i]};
      if (best != points.size() && uses >= least) continue;
      least = uses;
      best = i;
    }
    used[best] = true;
    chosen.push_back(best);
    each(
        points[best], [&](const auto& key) { ++values[key]; }, [&](const auto& key) { ++pairs[key]; });
  }
  return chosen;
}

std::vector<std::size_t> promising_points(std::span<const GridPoint> points,
                                          std::span<const std::optional<double>> scores, std::size_t count) {
  ACCELOPT_ASSERT(points.size() == scores.size(), "each point has an entry for its score");
  std::vector<std::size_t> tried;
  std::vector<double> known;
  std::vector<std::pair<double, std::size_t>> untried;
  double worst = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (scores[i] && std::isfinite(*scores[i])) worst = tried.empty() ? *scores[i] : std::min(worst, *scores[i]);
    if (scores[i]) tried.push_back(i);
  }
  for (const std::size_t i : tried) known.push_back(std::isfinite(*scores[i]) ? *scores[i] : worst);
  std::vector<std::size_t> result;
  if (tried.empty()) return result;
  const Model fitted(points, tried, known);
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!scores[i]) untried.emplace_back(fitted.predict(points[i]), i);
  }
  std::stable_sort(untried.begin(), untried.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [score, point] : untried) {
    if (result.size() == count) break;
    result.push_back(point);
  }
  return result;
}

}  // namespace accelopt::stats
