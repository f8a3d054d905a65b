// SPDX-License-Identifier: Apache-2.0
// The chat-completions format: what is sent, what comes back. Pure functions on text; no network.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "base/result.hpp"
#include "llm/chat_model.hpp"

namespace accelopt::llm {

/// Servers differ in the name of the limit and in whether they know `stream_options`.
enum class TokenLimitName { max_tokens, max_completion_tokens };
enum class StreamUsage { ask, leave_out };

struct Dialect {
  TokenLimitName token_limit = TokenLimitName::max_tokens;
  StreamUsage stream_usage = StreamUsage::ask;
  bool operator==(const Dialect&) const = default;
};

/// What is the same in every request to a model.
struct WireSettings {
  std::string model{};
  std::optional<double> temperature{};
  std::optional<int> max_output_tokens{};
  std::string reasoning{};  ///< reasoning effort; empty: the server's default
};

/// The body of a streaming request, as one line of JSON. The request's own temperature and limit win over the
/// settings'.
std::string request_body(const ChatRequest& request, const WireSettings& settings, const Dialect& dialect);

/// A dialect that the server might accept, when its words about a refused request (status 400 or 422) say what it does
/// not know; none when it complains about something else.
std::optional<Dialect> other_dialect(std::string_view server_words, const Dialect& refused);

/// What a server says in an error's body: `error.message`, `error`, `message` or `detail`, else the text itself; one
/// line of printable characters, at most 300 bytes.
std::string server_words(std::string_view body);

/// Machine-readable reason in an error's body (`error.code`, else `error.type`), or empty.
std::string server_code(std::string_view body);

/// Why a piece of an answer cannot be used.
struct WireProblem {
  enum class Kind { malformed, server_error };
  Kind kind = Kind::malformed;
  std::string words;  ///< ours or the server's, tamed
  int status = 0;     ///< that the server's error names, or 0
};

/// Puts an answer together from the chunks of a stream, or from one whole answer: both are read the same way, so that a
/// server that does not stream is understood too. What a model reasons aloud (`reasoning_content`) is dropped.
class ReplyReader {
 public:
  /// One JSON object of the answer.
  tl::expected<void, WireProblem> take(std::string_view json);
  /// Whether the model has said that it is done.
  [[nodiscard]] bool finished() const { return finished_; }
  /// Whether the server has reported usage; without it the reply's token counts are 0.
  [[nodiscard]] bool has_usage() const { return has_usage_; }
  /// The answer so far, as one call.
  [[nodiscard]] ChatReply reply() const { return reply_; }

 private:
  void take_choice(const base::Json& choice);
  void take_usage(const base::Json& usage);

  ChatReply reply_;
  bool finished_ = false;
  bool has_usage_ = false;
};

}  // namespace accelopt::llm
