// SPDX-License-Identifier: Apache-2.0
#include "evaluation/verify/spread.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "evaluation/verify/dtype_codec.hpp"

namespace accelopt::evaluation {
namespace {

/// By how many times its bound the element is off; infinite where NaN, infinity or an integer is not as it must be.
double excess(const Expected& expected, const Bounds& bounds, std::size_t index, double got) {
  constexpr double kBeyondAll = std::numeric_limits<double>::infinity();
  if (!model::is_floating(expected.dtype)) return static_cast<double>(expected.integers[index]) == got ? 0 : kBeyondAll;
  const double wanted = expected.values[index];
  if (std::isnan(wanted) || std::isnan(got)) return std::isnan(wanted) && std::isnan(got) ? 0 : kBeyondAll;
  if (std::isinf(wanted) || std::isinf(got)) return wanted == got ? 0 : kBeyondAll;
  const double bound =
      std::max(bounds.rows[index / static_cast<std::size_t>(bounds.row_length)], std::abs(wanted) * bounds.relative);
  const double error = std::abs(got - wanted);
  return error == 0 ? 0 : bound > 0 ? error / bound : kBeyondAll;
}

/// Rows or columns that have something wrong in them.
struct Places {
  std::vector<char> wrong;
  std::size_t count = 0;
  std::size_t first = 0;
  std::size_t last = 0;

  explicit Places(std::size_t all) : wrong(all, 0) {}
  void add(std::size_t place) {
    first = count == 0 ? place : std::min(first, place);
    last = std::max(last, place);
    count += wrong[place] == 0 ? 1 : 0;
    wrong[place] = 1;
  }
};

/// "3 of 61 rows (2 to 60)"
std::string places_text(const Places& places, std::size_t all, const char* what) {
  return fmt::format("{} of {} {} ({} to {})", places.count, all, what, places.first, places.last);
}

}  // namespace

std::string spread_text(const Expected& expected, const Bounds& bounds, std::span<const std::byte> actual) {
  const std::size_t columns = expected.shape.empty() ? 1 : static_cast<std::size_t>(expected.shape.back());
  const std::size_t count = model::is_floating(expected.dtype) ? expected.values.size() : expected.integers.size();
  const std::size_t rows = columns == 0 ? 0 : count / columns;
  Places wrong_rows(rows);
  Places wrong_columns(columns);
  std::size_t wrong = 0;
  double worst = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double times = excess(expected, bounds, i, decode_element(expected.dtype, actual, i));
    worst = std::max(worst, times);
    if (times <= 1) continue;
    ++wrong;
    wrong_rows.add(i / columns);
    wrong_columns.add(i % columns);
  }
  const std::size_t block = wrong_rows.count * wrong_columns.count;
  const double filled = block == 0 ? 0 : 100.0 * static_cast<double>(wrong) / static_cast<double>(block);
  return fmt::format(
      "{} of {} elements are out of their bound, in {} and {}, {:.0f} % of where these cross; the largest "
      "error is {:.3g} times its bound",
      wrong, count, places_text(wrong_rows, rows, "rows"), places_text(wrong_columns, columns, "columns"), filled,
      worst);
}

}  // namespace accelopt::evaluation
