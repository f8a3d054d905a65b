// SPDX-License-Identifier: Apache-2.0
// What the wire formats share: a request out, an answer in, piece by piece. Pure functions on text; no network.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "http/client.hpp"
#include "llm/chat_model.hpp"
#include "llm/endpoint.hpp"
#include "llm/json_repair.hpp"

namespace accelopt::llm {

/// Servers and models of one API differ in the name of the limit, in whether they know `stream_options`, in how they
/// are told to think, and in how long an answer may be.
enum class TokenLimitName { max_tokens, max_completion_tokens };
enum class StreamUsage { ask, leave_out };
enum class ThinkingForm { usual, other, leave_out };

struct Dialect {
  TokenLimitName token_limit = TokenLimitName::max_tokens;
  StreamUsage stream_usage = StreamUsage::ask;
  ThinkingForm thinking = ThinkingForm::usual;
  std::optional<int> longest_output{};  ///< tokens, as the server's refusal named it
  bool operator==(const Dialect&) const = default;
};

/// What is the same in every request to a model.
struct WireSettings {
  std::string model{};
  std::optional<double> temperature{};
  std::optional<int> max_output_tokens{};
  Reasoning reasoning{};
};

/// Why a piece of an answer cannot be used.
struct WireProblem {
  enum class Kind {
    malformed,
    nothing_in_it,  ///< a ping, or what a later version may add: an event of a stream that may be passed over
    server_error,
  };
  Kind kind = Kind::malformed;
  std::string words;   ///< ours and the server's, whole: to be quoted()
  int status = 0;      ///< that the server's error names, or 0
  std::string code{};  ///< of the server's error ("insufficient_quota"), or empty
};

/// Puts an answer together from the events of a stream, or from one whole answer: both are read the same way, so that a
/// server that does not stream is understood too. What a model reasons aloud is dropped.
class AnswerReader {
 public:
  virtual ~AnswerReader() = default;
  /// One JSON value of the answer. Bytes that are not UTF-8 and halves of characters (json_repair.hpp) are no problem.
  tl::expected<void, WireProblem> take(std::string_view json);
  /// Whether the model has said that it is done; usage may still follow.
  [[nodiscard]] bool finished() const { return finished_; }
  /// Why the answer is no whole one, in the server's words ("abort"): a reason that is not known to end whole ones.
  /// Empty: it is whole, or goes on.
  [[nodiscard]] const std::string& broken_off() const { return broken_off_; }
  /// Whether nothing more will come, by the API's own last event.
  [[nodiscard]] bool closed() const { return closed_; }
  /// Whether the server has reported usage; a token count that it left out is 0.
  [[nodiscard]] bool has_usage() const { return has_usage_; }
  /// The answer so far, as one call.
  [[nodiscard]] const ChatReply& reply() const { return reply_; }

 protected:
  virtual tl::expected<void, WireProblem> take_value(const base::Json& value, std::string_view json) = 0;
  /// The problem of a value without the member that every part of an answer has.
  static WireProblem lacks(const char* member, const base::Json& value, std::string_view json);
  /// Takes the reason why the answer ends, and what it means; no meaning: it has broken off.
  void end(std::string_view reason, std::optional<Finish> finish);

  ChatReply reply_;
  bool finished_ = false;
  std::string broken_off_;
  bool closed_ = false;
  bool has_usage_ = false;

 private:
  JsonRepair repair_;
};

/// One API's format. Stateless: may be used from many threads.
class WireFormat {
 public:
  virtual ~WireFormat() = default;
  /// What follows the base address, for a streamed answer of that model.
  [[nodiscard]] virtual std::string path(const std::string& model) const = 0;
  /// The body of a streaming request, as one line of JSON. The request's own temperature and limit win over the
  /// settings'.
  [[nodiscard]] virtual std::string body(const ChatRequest& request, const WireSettings& settings,
                                         const Dialect& dialect) const = 0;
  /// The headers that name the caller and the API's version; without a key only the latter.
  [[nodiscard]] virtual std::vector<http::Header> headers(const Secret& key) const = 0;
  [[nodiscard]] virtual std::unique_ptr<AnswerReader> reader() const = 0;
  /// A dialect that the server might accept, when its words about a refused request say what it does not know; none
  /// when it complains about something else.
  [[nodiscard]] virtual std::optional<Dialect> other_dialect(std::string_view server_words, const Dialect& refused,
                                                             const WireSettings& settings) const = 0;
  /// The limit on an answer's length that requests carry when the settings name none; none: the server's own.
  [[nodiscard]] virtual std::optional<int> usual_output_tokens(const Reasoning& reasoning) const = 0;
};

const WireFormat& wire_format(Api api);

/// The address without what every request adds: slashes, the API's path; with the version where none is given.
std::string base_address(Api api, std::string_view url);

}  // namespace accelopt::llm
