// SPDX-License-Identifier: Apache-2.0
// The configurations of a kernel with `//@ tune`, and kernels with their values fixed. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/directives.hpp"
#include "model/solution.hpp"
#include "model/task.hpp"

namespace accelopt::model {

/// A value for each tuned name, in the names' order.
using TuningValues = std::vector<std::int64_t>;

/// What `//@ tune` and `//@ require` leave to choose from.
struct TuningSpace {
  std::vector<std::string> names;            ///< empty: nothing is tuned
  std::vector<TuningValues> sets;            ///< a name's values
  std::vector<TuningValues> configurations;  ///< those that every `require` accepts; the last name changes fastest
  std::int64_t combinations = 1;             ///< before `require`

  /// Some name has more than one value in the source: which one is meant is still to be found out.
  [[nodiscard]] bool open() const;
};

/// All configurations that the directives allow for this definition. Its constant axes may be named in `require`.
/// Refused: a name that the generated header or C itself uses; an unknown name or a variable axis in `require`; a
/// division by zero or an overflow; more than 65536 combinations, or 4096 configurations; none at all.
tl::expected<TuningSpace, DirectiveProblem> expand_tuning(const TuneDirectives& directives,
                                                          const Definition& definition);

/// `//@ tune` and `//@ require` of a solution's main file, read as its language wants the directives to be; none where
/// the language has none. Requires at least one source.
tl::expected<TuneDirectives, DirectiveProblem> tune_directives(const Solution& solution);

/// The solution with one value a tuned name: `//@ tune MR in {6}`. What is built, raced and kept of a configuration.
/// Where the language has a comment for values, as its last line, "# accelopt configuration: 6".
/// Requires such a comment, or well-formed directives with as many names as there are values.
Solution with_values(const Solution& solution, const TuningValues& values);

/// What such a comment in the last line holds, and the solution without it.
struct CommentedValues {
  TuningValues values;
  Solution open;
};
/// None: the language has no such comment, or the solution has none.
std::optional<CommentedValues> commented_values(const Solution& solution);

/// The solution for builds that know no directives: `#define MR 6` at the top of the main file in place of `//@ tune`
/// and `//@ require`. Device code keeps its directives, whose launches need the values, and its macros are defined
/// unless they are already. A solution that is open, malformed or not tuned stays as it is.
Solution standing_alone(const Solution& solution);

/// "-DMR=6", a tuned name each. Requires one value a name.
std::vector<std::string> macro_flags(const TuneDirectives& directives);

/// "MR=6 NR=16".
std::string configuration_text(const std::vector<std::string>& names, const TuningValues& values);

}  // namespace accelopt::model
