// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace accelopt::review {

/// One file as it was when the program was built.
struct BuiltinText {
  std::string_view name;  ///< relative to prompts/review/, or to calibration/
  std::string_view text;
};

std::span<const BuiltinText> builtin_prompts();
std::span<const BuiltinText> builtin_calibration();

}  // namespace accelopt::review
