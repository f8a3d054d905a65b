// SPDX-License-Identifier: Apache-2.0
#include "suites/nkibench/axis_names.hpp"

#include <algorithm>

namespace accelopt::suites::nkibench {
namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 31;  ///< an extent is no more either: no product overflows
constexpr const char* kOne = "one";  ///< an axis of one element that the operator does not have

std::vector<std::string> names(const std::string& axes, std::size_t way, std::size_t parts) {
  const std::string stem = axes + (way == 0 ? "" : std::string(1, static_cast<char>('a' + way)));
  std::vector<std::string> out;
  for (std::size_t i = 0; i < parts; ++i) out.push_back(parts == 1 ? stem : stem + std::to_string(i));
  return out;
}

}  // namespace

std::vector<std::string> AxisNames::names_of(const std::string& axes, const Shape& parts) {
  std::vector<Shape>& ways = ways_[axes];
  const auto known = std::find(ways.begin(), ways.end(), parts);
  const auto way = static_cast<std::size_t>(known - ways.begin());
  std::vector<std::string> out = names(axes, way, parts.size());
  if (known != ways.end()) return out;
  ways.push_back(parts);
  for (std::size_t i = 0; i < parts.size(); ++i) all_.emplace_back(out[i], parts[i]);
  return out;
}

base::Result<std::vector<std::string>> AxisNames::name(std::string_view axes, const Shape& shape) {
  std::string left;
  for (const char axis : axes) {
    if (extents_.at(axis) != 1) left += axis;
  }
  std::vector<std::string> out;
  std::size_t next = 0;
  for (std::size_t i = 0; i < shape.size();) {
    if (shape[i] == 1) {
      for (const std::string& name : names_of(kOne, {1})) out.push_back(name);
      ++i;
      continue;
    }
    std::string group;
    Shape parts;
    std::int64_t wanted = 1;
    std::int64_t there = 1;
    do {
      if (wanted <= there && next < left.size() && wanted <= kMostElements) {
        wanted *= extents_.at(left[next]);
        group += left[next++];
      } else if (there < wanted && i < shape.size() && there <= kMostElements) {
        there *= shape[i];
        parts.push_back(shape[i++]);
      } else {
        return base::fail(base::ErrorCode::unsupported,
                          "its reference reshapes an input to other axes than its operator's");
      }
    } while (wanted != there);
    for (const std::string& name : names_of(group, parts)) out.push_back(name);
  }
  if (next < left.size())
    return base::fail(base::ErrorCode::unsupported, "its reference reshapes an input to fewer elements");
  return out;
}

Shape AxisNames::shape_of(std::string_view axes) const {
  Shape out;
  for (const char axis : axes) {
    const auto ways = ways_.find(std::string(1, axis));
    if (ways == ways_.end()) {
      out.push_back(extents_.at(axis));
    } else {
      out.insert(out.end(), ways->second.front().begin(), ways->second.front().end());
    }
  }
  return out;
}

std::vector<std::string> AxisNames::parts(char axis) const {
  const auto found = ways_.find(std::string(1, axis));
  if (found == ways_.end() || found->second.size() != 1) return {};
  const bool joined = std::any_of(ways_.begin(), ways_.end(), [&](const auto& way) {
    return way.first != kOne && way.first.size() > 1 && way.first.find(axis) != std::string::npos;
  });
  return joined ? std::vector<std::string>() : names(found->first, 0, found->second.front().size());
}

}  // namespace accelopt::suites::nkibench
