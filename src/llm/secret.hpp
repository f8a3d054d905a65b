// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace accelopt::llm {

/// A key. It has no conversion to text, JSON or a stream, so that it cannot slip into a log, an error or a journal.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string text) : text_(std::move(text)) {}
  [[nodiscard]] bool empty() const { return text_.empty(); }
  /// The key itself: for the header that carries it, and for blotting it out of a server's words.
  [[nodiscard]] const std::string& reveal() const { return text_; }

 private:
  std::string text_;
};

/// A server's words with the key blotted out wherever it stands, also where it is escaped as in JSON or
/// percent-encoded: servers like to quote it. Of words that are shown cut, quoted() (wire_json.hpp) blots before it
/// cuts.
std::string blotted(std::string_view words, const Secret& secret);

/// Likewise of a prompt or an answer, which are code for the most part: a key of less than 16 bytes is left in, because
/// it is a placeholder ("EMPTY") rather than a secret, and the code would be spoilt.
std::string blotted_in_code(std::string text, const Secret& secret);

}  // namespace accelopt::llm
