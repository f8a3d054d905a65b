// SPDX-License-Identifier: Apache-2.0
// The special tokens of chat templates ("<|im_start|>"): in code that is shown to a model they are broken up, for some
// servers read them as the ends of messages. All other code is shown as it is.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace accelopt::agents {

/// A blank breaks up each bar of a token: "<|im_start|>" becomes "< |im_start| >". A text that was broken up before
/// stays as it is.
std::string with_broken_tokens(std::string_view text);

/// The tokens of the texts that a question showed, to read in its answer what was broken up there.
class ShownTokens {
 public:
  void add(std::string_view text);
  /// The answer's text with these tokens as they were, but for those that a text spells in both ways.
  [[nodiscard]] std::string restored(std::string_view text) const;

 private:
  std::map<std::string, std::string, std::less<>> originals_;  ///< by what they were broken up to
  std::set<std::string, std::less<>> broken_before_;
};

}  // namespace accelopt::agents
