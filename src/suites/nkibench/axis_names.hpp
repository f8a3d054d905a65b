// SPDX-License-Identifier: Apache-2.0
// An operator's axes in the shapes that a kernel takes them in: M = 4096 as (32, 128) is M0, M1.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace accelopt::suites::nkibench {

using Extents = std::map<char, std::int64_t>;
using Shape = std::vector<std::int64_t>;

class AxisNames {
 public:
  explicit AxisNames(Extents extents) : extents_(std::move(extents)) {}

  /// Names for the shape of a tensor with these axes. @error unsupported: it is not made by splitting and joining axes.
  base::Result<std::vector<std::string>> name(std::string_view axes, const Shape& shape);
  /// The first way in which each axis was split.
  [[nodiscard]] Shape shape_of(std::string_view axes) const;
  /// The names that the axis has wherever it stands; empty: it has not the same in all tensors.
  [[nodiscard]] std::vector<std::string> parts(char axis) const;
  /// Of every name, in the order in which they came up.
  [[nodiscard]] const std::vector<std::pair<std::string, std::int64_t>>& all() const { return all_; }

 private:
  std::vector<std::string> names_of(const std::string& axes, const Shape& parts);

  Extents extents_;
  std::map<std::string, std::vector<Shape>> ways_;  ///< of an axis, or of several as one
  std::vector<std::pair<std::string, std::int64_t>> all_;
};

}  // namespace accelopt::suites::nkibench
