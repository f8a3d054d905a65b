// SPDX-License-Identifier: Apache-2.0
// The templates of drivers and generators that a new task gets.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "refactor/task.hpp"

namespace accelopt::refactor {

/// {path}: the source; {stem}: it without its extension; {folder}: that holds it; {module}: {stem} with dots;
/// {function}; {receiver} and {call}: what the driver makes, and calls.
using Words = std::vector<std::pair<std::string, std::string>>;

/// Each word replaced by its value.
std::string with_words(std::string text, const Words& words);

/// How a language's driver is built and run, and its files.
struct DriverForm {
  std::string_view build;  ///< a line of [commands]
  std::string_view cases;
  std::string_view run;
  std::vector<NewFile> files;
};
DriverForm form_of(const CodeLanguage& language);

}  // namespace accelopt::refactor
