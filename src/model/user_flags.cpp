// SPDX-License-Identifier: Apache-2.0
#include "model/user_flags.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "base/text.hpp"
#include "model/directives.hpp"

namespace accelopt::model {
namespace {

constexpr const char* kFileName = "user-build.flags";

}  // namespace

bool is_user_flag(std::string_view flag) {
  static constexpr std::string_view kOthers =
      "-fno-finite-math-only -O0 -O -Og -Os -Oz -Ofast -mavx -mavx2 -mfma -mf16c -mbmi -mbmi2 -mpopcnt -mlzcnt -msse3 "
      "-mssse3 -msse4.1 "
      "-msse4.2 -mavx512f -mavx512vl -mavx512bw -mavx512dq -mavx512cd -mavx512vnni";
  for (const std::string_view named : {"-march=", "-mtune=", "-mcpu="}) {
    if (!flag.starts_with(named)) continue;
    const std::string_view name = flag.substr(named.size());
    return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '-' || c == '.' || c == '+' || c == '_';
    });
  }
  return base::has_word(allowed_flags(), flag) || base::has_word(kOthers, flag);
}

Solution with_user_flags(Solution solution, const std::vector<std::string>& flags) {
  std::string text;
  for (const std::string& flag : flags) text += flag + "\n";
  solution.sources.push_back({kFileName, text});
  return solution;
}

base::Result<std::vector<std::string>> user_flags_of(const Solution& solution) {
  std::vector<std::string> flags;
  for (const SourceFile& file : solution.sources) {
    if (file.name != kFileName) continue;
    std::istringstream lines(file.text);
    for (std::string flag; std::getline(lines, flag);) {
      if (!is_user_flag(flag)) {
        return base::fail(base::ErrorCode::invalid_argument, "not a flag of a user's build: " + flag);
      }
      flags.push_back(flag);
    }
  }
  return flags;
}

}  // namespace accelopt::model
