// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace accelopt::model {

/// What `//@` lines in a C or C++ kernel declare.
struct CpuDirectives {
  std::vector<std::string> flags;  ///< of `//@ flags`, each on the allow-list
};

/// A malformed directive: where it stands and why it is refused.
struct DirectiveProblem {
  int line = 1;    ///< from 1
  int column = 1;  ///< from 1
  std::string message;
};

/// Reads the `//@` lines of a C or C++ kernel. The failing half says what a compiler would: line, column, reason.
tl::expected<CpuDirectives, DirectiveProblem> parse_cpu_directives(std::string_view source);

/// The compile flags that `//@ flags` may name.
const std::vector<std::string_view>& allowed_flags();

}  // namespace accelopt::model
