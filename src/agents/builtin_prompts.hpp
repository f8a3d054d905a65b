// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace accelopt::agents {

/// One file of prompts/ as it was when the program was built.
struct BuiltinPrompt {
  std::string_view name;  ///< relative to prompts/: "cpp/planner.system.txt"
  std::string_view text;
};

std::span<const BuiltinPrompt> builtin_prompts();

}  // namespace accelopt::agents
