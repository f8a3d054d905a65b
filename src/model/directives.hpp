// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace accelopt::model {

/// A name of `//@ tune` and the values that it may have.
struct TunedName {
  std::string name;
  std::vector<std::int64_t> values;  ///< in the order written, each once
  int line = 1;                      ///< of the name, from 1
  int column = 1;
  std::size_t set_begin = 0;  ///< offset of the `{` in the source
  std::size_t set_end = 0;    ///< behind the `}`
};

/// An integer expression of a directive, and where it stands.
struct PlacedExpression {
  std::string text;
  int line = 1;    ///< from 1
  int column = 1;  ///< from 1
};

/// What every language's kernels may declare.
struct TuneDirectives {
  std::vector<TunedName> tuned;            ///< of `//@ tune`, in order
  std::vector<PlacedExpression> required;  ///< of `//@ require`
};

/// What `//@` lines in a C or C++ kernel declare.
struct CpuDirectives : TuneDirectives {
  std::vector<std::string> flags;  ///< of `//@ flags`, each on the allow-list
};

/// A malformed directive: where it stands and why it is refused.
struct DirectiveProblem {
  int line = 1;    ///< from 1
  int column = 1;  ///< from 1
  std::string message;
};

/// Reads the `//@` lines of a C or C++ kernel; those within block comments and raw strings are none. The failing half
/// says what a compiler would: line, column, reason.
tl::expected<CpuDirectives, DirectiveProblem> parse_cpu_directives(std::string_view source);

/// The compile flags that `//@ flags` may name, as words of a text.
std::string_view allowed_flags();

}  // namespace accelopt::model
