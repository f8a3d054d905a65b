// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace accelopt::packages {

/// One file of packages/ as it was when the program was built.
struct BuiltinTemplate {
  std::string_view name;  ///< relative to packages/: "cpp/test.cpp"
  std::string_view text;
};

std::span<const BuiltinTemplate> builtin_templates();

}  // namespace accelopt::packages
