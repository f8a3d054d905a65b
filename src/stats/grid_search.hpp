// SPDX-License-Identifier: Apache-2.0
// Which points of a grid to try: first a spread that meets every value equally often, then what the tried ones promise.
// Pure and deterministic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace accelopt::stats {

/// A place on each axis of the grid, from 0.
using GridPoint = std::vector<int>;

/// `count` points (or all), so that each value of each axis, and then each pair of values, appears about as often as
/// the others; `seed` breaks ties. Indices into `points`.
std::vector<std::size_t> spread_points(std::span<const GridPoint> points, std::size_t count, std::uint64_t seed);

/// The `count` untried points (or all) with the best predicted scores, best first; ties by index. `scores` has an entry
/// a point: none is untried, higher is better, and not finite is a point that failed. The prediction is a sum of
/// effects of the values, fitted to the tried points, and what it misses near them.
std::vector<std::size_t> promising_points(std::span<const GridPoint> points,
                                          std::span<const std::optional<double>> scores, std::size_t count);

}  // namespace accelopt::stats
