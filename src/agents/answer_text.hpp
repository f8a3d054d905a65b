// SPDX-License-Identifier: Apache-2.0
// The text of an answer in its parts: what was thought aloud, lines, fenced blocks.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace accelopt::agents {

/// The answer without what a model thought aloud: what stands in <think>...</think>, and all before a </think> that
/// nothing opens; likewise with thinking, thought, thoughts and reasoning. A tag in quotation marks is code.
/// Empty where a thought never ended.
std::string without_thoughts(std::string_view text);

/// Without their ends, and without a byte order mark at their beginning, which hides a fence or a title.
std::vector<std::string_view> lines_of(std::string_view text);

/// A line that opens or closes a code block.
struct FenceLine {
  std::size_t indent = 0;
  char mark = '`';
  std::size_t length = 0;
  std::string_view info;
};
std::optional<FenceLine> fence_line(std::string_view line);

/// A fenced block; its lines end with LF, and are moved left as far as its fence stands to the right.
struct FencedBlock {
  std::string info;  ///< in small letters
  std::string text;
  bool closed = false;
};
std::vector<FencedBlock> blocks_of(std::string_view text);

/// A JSON object with the control characters in its strings escaped: models write line ends there as they are.
std::string with_escapes(std::string_view object);

}  // namespace accelopt::agents
