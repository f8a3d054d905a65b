// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace accelopt::base {

/// error: the task cannot be used as it is. advice: it can, but proves or reports less than it could.
enum class Severity { error, advice };

/// What is wrong with a task, and where.
struct Problem {
  int line = 0;         ///< from 1; 0: it stands on no line
  std::string key;      ///< "inputs[0].shape"; empty: the file as a whole
  std::string message;  ///< the reason and what to write instead
  std::string file;     ///< path; empty: the task.toml that is being read
  Severity severity = Severity::error;
};

/// "suites/x/task.toml:14: inputs[0].shape: unknown axis ..."; `file` names the file of problems that name none.
std::string to_string(const Problem& problem, std::string_view file);

/// The known name that the given one was most likely meant to be; empty when none is close.
std::string_view nearest_name(std::string_view name, std::span<const std::string> known);

/// "a, b, c", or "none" when there is none.
std::string join_names(std::span<const std::string> names);

/// The text in double quotes.
std::string in_quotes(std::string_view text);

/// "unknown role "chekc"; did you mean "check"? known are race, check, held_out".
std::string unknown_name(std::string_view what, std::string_view name, std::span<const std::string> known);

}  // namespace accelopt::base
