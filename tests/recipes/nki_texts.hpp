// SPDX-License-Identifier: Apache-2.0
// What the tests of recipes for NKI share.
#pragma once

#include <string>

#include "recipes/nki_recipes.hpp"

namespace accelopt::recipes {

inline KernelSource kernel_of(const std::string& text) {
  return {.source = text, .task_header = "", .language = model::Language("nki")};
}

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace accelopt::recipes
