// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace accelopt::suites::flashinfer_trace {

/// What a Python source says of one of its functions. Reads the text alone; nothing is run.
struct PythonFunction {
  std::vector<std::string> parameters;  ///< those that may be passed by position
  bool takes_any = false;               ///< `*args`: any number may be passed
  bool returns_value = false;           ///< a `return` with a value stands in its body
  std::string_view body;                ///< of the source
};

/// The function that the source defines at its top level; none: it defines no such function.
std::optional<PythonFunction> find_function(std::string_view source, std::string_view name);

}  // namespace accelopt::suites::flashinfer_trace
