// SPDX-License-Identifier: Apache-2.0
// What shells and `man` know of the program, made from the commands as they are declared.
#pragma once

#include <string>

#include "cli/command_line.hpp"

namespace accelopt::cli {

/// Scripts that complete commands, options and the values of options that have a list; other words are file names.
std::string bash_completion(const CommandFacts& program);
std::string zsh_completion(const CommandFacts& program);
std::string fish_completion(const CommandFacts& program);

/// A page for `man`, in the language of man(7).
std::string manual_page(const CommandFacts& program, const std::string& version);

}  // namespace accelopt::cli
