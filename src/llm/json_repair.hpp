// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace accelopt::llm {

/// U+FFFD in UTF-8: what stands for a character that cannot be read.
inline constexpr std::string_view kReplacement = "\xef\xbf\xbd";

/// Makes JSON of what some servers send in its place: they cut a text where it suits them, also within a character. A
/// token may end with the half of one, which is then escaped by itself: "\ud83d" here, "\ude80" in the next event.
class JsonRepair {
 public:
  /// Whether one of its strings begins with a character whose first half ended a string of an earlier text.
  enum class Begins { by_itself, with_joined };
  struct Repaired {
    std::string json;
    Begins begins = Begins::by_itself;
  };
  /// The text with every half of a character joined or replaced by U+FFFD, and so every byte that is not UTF-8.
  Repaired repair(std::string_view json);

 private:
  std::string half_;  ///< "\ud83d", where the latest text that was repaired ended a string with it
};

}  // namespace accelopt::llm
