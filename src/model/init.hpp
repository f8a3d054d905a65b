// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace accelopt::model {

/// How the elements of an input are drawn.
enum class InitKind { normal, abs_normal, uniform, integers, zeros, ones, constant, permutation, indptr, sorted };

/// `normal(mean, deviation)`, `abs_normal(mean, deviation)` (absolute value), `uniform(low, high)`, `integers(low,
/// high)` (low included, high not), `zeros`, `ones`, `constant(value)`, `permutation` (of 0..n-1 along the last axis),
/// `indptr(total)` (non-decreasing from 0 to total), `sorted(low, high)` (uniform, ascending along the last axis).
struct InitSpec {
  InitKind kind = InitKind::normal;
  double first = 0;   ///< mean, low, value or total
  double second = 1;  ///< deviation or high
};

/// @error parse: unknown generator or wrong number of arguments; the message lists the known ones.
base::Result<InitSpec> parse_init(std::string_view text);
std::string to_string(const InitSpec& spec);

/// A transformation of the declared init under which an operator is checked.
enum class Family { as_declared, positive, scaled_up, scaled_down, heavy, sparse, rows };
std::string_view to_string(Family family);
/// What `families = [...]` may name: positive, scaled (gives scaled_up and scaled_down), heavy, sparse, rows.
base::Result<std::vector<Family>> parse_family(std::string_view name);

}  // namespace accelopt::model
