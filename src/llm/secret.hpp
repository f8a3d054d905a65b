// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
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

}  // namespace accelopt::llm
