// SPDX-License-Identifier: Apache-2.0
#include "evaluation/verify/ties.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "evaluation/verify/dtype_codec.hpp"

namespace accelopt::evaluation {
namespace {

/// Where a row's indices lie, and the values that they name.
struct Rows {
  std::size_t indices = 1;  ///< of a row
  std::size_t values = 1;

  Rows(const Expected& expected, const Expected& named) {
    if (expected.shape.size() == named.shape.size()) indices = static_cast<std::size_t>(expected.shape.back());
    values = static_cast<std::size_t>(named.shape.back());
  }
  [[nodiscard]] bool names_one(std::int64_t index) const {
    return index >= 0 && static_cast<std::uint64_t>(index) < values;
  }
  /// Place of the value that the row's index names.
  [[nodiscard]] std::size_t place(std::size_t at, std::int64_t index) const {
    return at / indices * values + static_cast<std::size_t>(index);
  }
};

/// Finds indices that a row names twice. Rows come one after the other.
class Seen {
 public:
  explicit Seen(const Rows& rows) : rows_(rows), last_row_(rows.indices > 1 ? rows.values : 0) {}

  bool again(std::size_t at, std::int64_t index) {
    if (last_row_.empty() || !rows_.names_one(index)) return false;
    const std::size_t row = at / rows_.indices + 1;
    std::size_t& last = last_row_[static_cast<std::size_t>(index)];
    return std::exchange(last, row) == row;
  }

 private:
  const Rows& rows_;
  std::vector<std::size_t> last_row_;  ///< in which each index was seen last, counted from 1
};

Comparison refused(NumericalRule rule, std::size_t at, std::int64_t wanted, std::int64_t index) {
  Comparison out;
  out.violated = rule;
  out.mismatch.index = static_cast<std::int64_t>(at);
  out.mismatch.expected = static_cast<double>(wanted);
  out.mismatch.actual = static_cast<double>(index);
  return out;
}

}  // namespace

Comparison compare_choices(const Expected& expected, const Choices& choices, std::span<const std::byte> actual) {
  if (actual.size() != expected.integers.size() * model::size_of(expected.dtype)) {
    Comparison out;
    out.violated = NumericalRule::size;
    return out;
  }
  const Rows rows(expected, choices.values);
  const std::vector<std::int64_t> indices = decode_integers(expected.dtype, actual);
  Seen seen(rows);
  for (std::size_t at = 0; at < indices.size(); ++at) {
    const std::int64_t index = indices[at];
    const std::int64_t wanted = expected.integers[at];
    if (seen.again(at, index)) return refused(NumericalRule::repeated, at, wanted, index);
    if (index == wanted) continue;
    if (!rows.names_one(index) || !rows.names_one(wanted)) return refused(NumericalRule::exact, at, wanted, index);
    const std::size_t right = rows.place(at, wanted);
    const double value = choices.values.values[right];
    const double other = choices.values.values[rows.place(at, index)];
    const double bound = std::max(choices.bounds.rows[right / static_cast<std::size_t>(choices.bounds.row_length)],
                                  std::abs(value) * choices.bounds.relative);
    const double difference = std::abs(other - value);
    if (other == value || (std::isfinite(value) && difference <= bound)) continue;
    Comparison out = refused(NumericalRule::ties, at, wanted, index);
    out.normwise_error = out.mismatch.normwise_error = difference;
    out.mismatch.normwise_bound = bound;
    return out;
  }
  return {};
}

std::string refuse_choices(const Expected& expected, const Expected& values) {
  const Rows rows(expected, values);
  Seen seen(rows);
  for (std::size_t at = 0; at < expected.integers.size(); ++at) {
    const std::int64_t index = expected.integers[at];
    const std::string place = "index " + std::to_string(index) + " at element " + std::to_string(at);
    if (seen.again(at, index)) return place + " appears twice in its row; with ties a row's indices are distinct";
    if (!rows.names_one(index)) continue;
    if (std::isnan(values.values[rows.place(at, index)])) {
      return place + " names a value that is NaN; does the reference write the tensor that ties names?";
    }
  }
  return "";
}

}  // namespace accelopt::evaluation
