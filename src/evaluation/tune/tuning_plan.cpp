// SPDX-License-Identifier: Apache-2.0
#include "evaluation/tune/tuning_plan.hpp"

#include <algorithm>

#include "base/hash.hpp"

namespace accelopt::evaluation {

Shares shares_of(std::size_t configurations, const TuningRules& rules) {
  if (configurations <= rules.whole) return {configurations, configurations, 0};
  const std::size_t all = std::clamp(configurations / rules.share, rules.whole, rules.most);
  return {all, (all + 1) / 2, std::max<std::size_t>(all / 6, 4)};
}

std::vector<stats::GridPoint> grid_of(const model::TuningSpace& space) {
  std::vector<stats::GridPoint> points;
  for (const model::TuningValues& values : space.configurations) {
    stats::GridPoint point;
    for (std::size_t name = 0; name < values.size(); ++name) {
      // In the order of size, whatever the order in the source: neighbours in value are neighbours on the grid.
      point.push_back(static_cast<int>(std::count_if(space.sets[name].begin(), space.sets[name].end(),
                                                     [&](std::int64_t other) { return other < values[name]; })));
    }
    points.push_back(std::move(point));
  }
  return points;
}

std::vector<std::size_t> first_wave(const model::Kernel& open, const std::vector<stats::GridPoint>& points,
                                    const TuningRules& rules) {
  return stats::spread_points(points, shares_of(points.size(), rules).first, base::derive_seed(0, open.id()));
}

}  // namespace accelopt::evaluation
