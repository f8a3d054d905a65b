// SPDX-License-Identifier: Apache-2.0
// One try at one question over HTTP, whatever the API: sends the request, reads the answer as it arrives, and says of
// every failure whether it may pass and what to check.
#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include "base/text.hpp"
#include "http/url.hpp"
#include "llm/endpoint.hpp"
#include "llm/retry_after.hpp"
#include "llm/sse.hpp"
#include "llm/wire.hpp"
#include "llm/wire_json.hpp"

namespace accelopt::llm {
namespace {

using base::Error;
using base::ErrorCode;
using std::chrono::milliseconds;

/// An answer may be refused for its dialect once for each thing that servers differ in.
constexpr int kMostDialects = 4;
/// Of what a stream sends, at most this part may be text: the rest frames it.
constexpr std::size_t kStreamBytesAByteOfText = 8;
/// What OpenAI calls an account without credit, and one that may not be charged.
constexpr std::array<std::string_view, 3> kQuotaCodes{"insufficient_quota", "billing_hard_limit_reached",
                                                      "billing_not_active"};
/// What Anthropic says of one, in a 400 without a code of its own.
constexpr std::string_view kQuotaWords = "credit balance is too low";

/// What the server sent, read as it arrived.
struct Received {
  std::unique_ptr<AnswerReader> reader;
  std::size_t longest_text = 0;  ///< bytes, of a body that is no stream and of the answer itself
  SseReader events{};
  std::string body{};                        ///< of an answer that is not a stream
  std::optional<WireProblem> problem{};      ///< that ended the reading
  std::optional<WireProblem> passed_over{};  ///< why the first event that was passed over is no part of an answer
  bool accepted = false;                     ///< a 2xx: the server answers, and charges for it
  bool done = false;                         ///< the stream said so
  bool too_long = false;
};

bool is_stream(const http::Head& head) {
  return head.status == 200 &&
         http::find_header(head, "content-type").value_or("").find("text/event-stream") != std::string_view::npos;
}

bool begins_like_a_stream(std::string_view body) {
  return body.starts_with("data:") || body.starts_with("event:") || body.starts_with(':');
}

/// Whether the account has nothing left to pay with. "You exceeded your current quota" alone does not say so: it is
/// Gemini's text for the limits of a minute, too.
bool is_quota_exceeded(int status, std::string_view words, std::string_view code) {
  return status == 402 || std::ranges::find(kQuotaCodes, code) != kQuotaCodes.end() ||
         (status == 400 && words.find(kQuotaWords) != std::string_view::npos);
}

/// Takes events into the answer until the stream says it is done or one of them cannot be used.
http::Flow take_events(Received& received, const std::vector<std::string>& events) {
  for (const std::string& event : events) {
    if (event.starts_with("[DONE]")) {
      received.done = true;
      return http::Flow::enough;
    }
    if (base::trimmed(event).empty()) continue;
    if (auto taken = received.reader->take(event); !taken) {
      if (taken.error().kind == WireProblem::Kind::nothing_in_it) {
        if (!received.passed_over) received.passed_over = std::move(taken).error();
        continue;
      }
      received.problem = std::move(taken).error();
      return http::Flow::enough;
    }
    received.too_long = received.reader->reply().text.size() > received.longest_text;
    received.done = received.reader->closed();
    if (received.done || received.too_long) return http::Flow::enough;
  }
  return http::Flow::more;
}

http::Flow take_piece(Received& received, const http::Head& head, std::string_view piece) {
  received.accepted = head.status / 100 == 2;
  if (is_stream(head)) return take_events(received, received.events.feed(piece));
  received.body += piece;
  received.too_long = received.body.size() > received.longest_text;
  return received.too_long ? http::Flow::enough : http::Flow::more;
}

class HttpProvider final : public ChatProvider {
 public:
  HttpProvider(EndpointOptions options, http::Origin origin, http::Client& client, Clock& clock,
               std::shared_ptr<Gate> gate)
      : options_(std::move(options)),
        wire_(wire_format(options_.api)),
        host_(http::to_string(origin)),
        client_(client),
        clock_(clock),
        gate_(std::move(gate)) {}

  tl::expected<ChatReply, Failure> ask(const ChatRequest& request, std::stop_token stop) override {
    for (int tried = 1;; ++tried) {
      const Dialect dialect = current_dialect();
      Received received{.reader = wire_.reader(), .longest_text = options_.limits.body_bytes / kStreamBytesAByteOfText};
      const auto response = client_.send(
          to_http(request, dialect), stop,
          [&](const http::Head& head, std::string_view piece) { return take_piece(received, head, piece); });
      if (!response)
        return tl::make_unexpected(with_usage(of_transport(without_key(response.error())), request, received));
      const http::Head& head = response->head;
      const ServerLimits limits = parse_rate_headers(head, clock_.time_of_day());
      // Who names a time that nobody waits for has this question given up, and holds up no other.
      const auto refused_for = head.status == 429 ? too_long_reset(limits) : std::nullopt;
      if (gate_ && !refused_for) gate_->learn(limits);
      received.accepted = head.status / 100 == 2;
      if (received.too_long) return tl::make_unexpected(with_usage(of_length(received), request, received));
      if (received.accepted) return read_reply(request, head, received);
      const auto other = head.status == 400 || head.status == 422
                             ? wire_.other_dialect(server_words(received.body, options_.key), dialect, settings())
                             : std::nullopt;
      if (!other || tried >= kMostDialects) {
        const auto asked = patience(head, received.body);
        return tl::make_unexpected(of_status(head.status, received.body, asked ? asked : refused_for));
      }
      const std::scoped_lock lock(mutex_);
      dialect_ = *other;
    }
  }

  [[nodiscard]] std::string name() const override { return options_.model; }

 private:
  [[nodiscard]] Dialect current_dialect() {
    const std::scoped_lock lock(mutex_);
    return dialect_;
  }

  [[nodiscard]] WireSettings settings() const {
    return {options_.model, options_.temperature, options_.max_output_tokens, options_.reasoning};
  }

  [[nodiscard]] http::Request to_http(const ChatRequest& request, const Dialect& dialect) const {
    http::Request out{
        .method = http::Method::post,
        .url = options_.base_url + wire_.path(options_.model),
        .headers = {{"Content-Type", "application/json"}, {"Accept", "text/event-stream, application/json"}},
        .body = wire_.body(request, settings(), dialect),
        .limits = options_.limits,
        .connection = http::Connection::fresh,
        .ca_file = options_.ca_file,
        .secrets = {options_.key.reveal()}};
    for (http::Header& header : wire_.headers(options_.key)) out.headers.push_back(std::move(header));
    return out;
  }

  /// The answer of a 2xx, streamed or whole.
  tl::expected<ChatReply, Failure> read_reply(const ChatRequest& request, const http::Head& head,
                                              Received& received) const {
    if (!is_stream(head)) {
      if (begins_like_a_stream(received.body)) {  // a stream under another name
        static_cast<void>(take_events(received, received.events.feed(received.body)));
      } else {
        if (const auto wrong = wrong_kind(head, received.body)) return tl::make_unexpected(*wrong);
        if (auto taken = received.reader->take(received.body); !taken) received.problem = std::move(taken).error();
        received.done = true;
      }
    }
    if (!received.problem && !received.done) {
      static_cast<void>(take_events(received, received.events.finish()));
    }
    if (received.too_long) return tl::make_unexpected(with_usage(of_length(received), request, received));
    const bool finished = received.reader->finished();
    if (!received.problem && !finished && received.reader->reply().text.empty())
      received.problem = received.passed_over;
    if (received.problem) return tl::make_unexpected(with_usage(of_problem(*received.problem), request, received));
    const std::string& reason = received.reader->broken_off();
    // What was passed over may have said that something went wrong.
    if (!reason.empty() || (!finished && (!received.done || received.passed_over))) {
      const std::string why = reason.empty() ? "" : " (" + quoted(reason, options_.key) + ")";
      return tl::make_unexpected(with_usage(
          {{ErrorCode::unavailable, "the answer of " + host_ + " broke off before its end" + why + "; try again"},
           Again::yes},
          request, received));
    }
    ChatReply reply = received.reader->reply();
    reply.usage.calls = 1;
    complete(reply.usage, request, reply.text);
    reply.text = blotted_in_code(std::move(reply.text),
                                 options_.key);  // whoever keeps answers must not keep a key that a server repeats
    reply.model = reply.model.empty() ? options_.model : blotted(reply.model, options_.key);
    return reply;
  }

  /// Estimates what the server has not told, of the prompt or of the answer, and adds the price. No prompt is of no
  /// tokens, and no text either, whatever a server says.
  void complete(model::Usage& usage, const ChatRequest& request, const std::string& text) const {
    const bool no_input = usage.input_tokens == 0;
    const bool no_output = usage.output_tokens == 0 && !text.empty();
    if (no_input) {
      std::size_t bytes = 0;
      for (const Message& message : request.messages) bytes += message.text.size();
      usage.input_tokens = estimated_prompt_tokens(bytes, request.messages.size());
    }
    if (no_output) usage.output_tokens = estimated_tokens(text.size());
    if (no_input || no_output) usage.estimated_calls = 1;
    if (options_.price) usage.usd = cost_usd(usage, *options_.price);
  }

  /// A broken answer costs the prompt and the text that had come, or what the server has told where that is more: the
  /// answer's tokens are often told at its end alone. One that fell silent or was broken off from here costs the prompt
  /// although nothing had come: the server had the question. An error in place of an answer costs what the server says.
  [[nodiscard]] Failure with_usage(Failure failure, const ChatRequest& request, const Received& received) const {
    const ChatReply& so_far = received.reader->reply();
    const bool left = failure.error.code == ErrorCode::timed_out || failure.error.code == ErrorCode::cancelled;
    const bool is_error = received.problem && received.problem->kind == WireProblem::Kind::server_error;
    const bool begun = received.accepted && !(is_error && so_far.text.empty());
    if (!left && !begun && !received.reader->has_usage()) return failure;
    // Of an answer that is no stream, what broke off was not read.
    const std::string& text = begun && so_far.text.empty() ? received.body : so_far.text;
    failure.used = so_far.usage;
    if (const std::int64_t came = estimated_tokens(text.size()); failure.used.output_tokens < came) {
      failure.used.output_tokens = came;
      failure.used.estimated_calls = 1;
    }
    complete(failure.used, request, text);
    return failure;
  }

  /// A page instead of an answer: the address is wrong, and will be the next time.
  [[nodiscard]] std::optional<Failure> wrong_kind(const http::Head& head, const std::string& body) const {
    const std::string_view type = http::find_header(head, "content-type").value_or("");
    const std::size_t first = body.find_first_not_of(" \t\r\n");
    const bool looks_like_json = first != std::string::npos && (body[first] == '{' || body[first] == '[');
    if (looks_like_json || type.find("json") != std::string_view::npos) return std::nullopt;
    return Failure{{ErrorCode::invalid_argument,
                    host_ + " answers with " +
                        (type.empty() ? std::string("something unnamed") : server_words(type, options_.key)) +
                        " instead of an answer in the form of api = \"" + std::string(to_string(options_.api)) +
                        "\"; check base_url (" + options_.base_url + "), which often ends in /v1, and api"},
                   Again::never};
  }

  [[nodiscard]] std::optional<milliseconds> patience(const http::Head& head, const std::string& body) const {
    if (const auto in_ms = http::find_header(head, "retry-after-ms")) {
      if (const auto parsed = parse_retry_after(*in_ms, clock_.time_of_day())) return *parsed / 1000;
    }
    if (const auto value = http::find_header(head, "retry-after")) {
      return parse_retry_after(*value, clock_.time_of_day());
    }
    return server_patience(body);
  }

  /// When a used-up limit of the server is back, if that is later than anybody waits.
  [[nodiscard]] std::optional<milliseconds> too_long_reset(const ServerLimits& limits) const {
    std::optional<milliseconds> longest;
    for (const ServerWindow& window : {limits.requests, limits.tokens}) {
      if (window.remaining == 0 && window.reset > options_.retry.longest_retry_after)
        longest = std::max(longest, window.reset);
    }
    return longest;
  }

  [[nodiscard]] Error without_key(Error error) const {
    error.message = blotted(error.message, options_.key);
    return error;
  }

  [[nodiscard]] static Failure of_transport(Error error) {
    switch (error.code) {
      case ErrorCode::unavailable:
        return {.error = std::move(error), .again = Again::yes, .answered = false};
      case ErrorCode::timed_out:
        return {std::move(error), Again::once};
      // A model that rambles without end: asking again costs as much again. To whoever asks, it gave no answer.
      case ErrorCode::exhausted:
        return {{ErrorCode::unavailable, error.message + "; set max_output_tokens"}, Again::never};
      case ErrorCode::permission_denied:
        return {{ErrorCode::invalid_argument, std::move(error.message)}, Again::never};
      default:
        return {std::move(error), Again::never};
    }
  }

  [[nodiscard]] Failure of_length(const Received& received) const {
    return {
        {ErrorCode::unavailable, "the answer of " + host_ + " is longer than " + std::to_string(received.longest_text) +
                                     " bytes and was refused; set max_output_tokens"},
        Again::never};
  }

  [[nodiscard]] Failure of_problem(const WireProblem& problem) const {
    if (problem.kind == WireProblem::Kind::server_error) {
      return of_status_words(problem.status == 0 ? 500 : problem.status, quoted(problem.words, options_.key),
                             problem.code, std::nullopt);
    }
    return {
        {ErrorCode::unavailable, "the answer of " + host_ + " cannot be read: " + quoted(problem.words, options_.key) +
                                     "; check that base_url is that of a server that speaks api = \"" +
                                     std::string(to_string(options_.api)) + "\""},
        Again::yes};
  }

  [[nodiscard]] Failure of_status(int status, const std::string& body, std::optional<milliseconds> retry_after) const {
    const std::string words = server_words(body, options_.key);
    // Gemini's way of refusing a key.
    const bool names_key = status == 400 && (words.find("API key not valid") != std::string::npos ||
                                             body.find("API_KEY_INVALID") != std::string::npos);
    return of_status_words(names_key ? 401 : status, words, server_code(body), retry_after);
  }

  [[nodiscard]] Failure of_status_words(int status, const std::string& words, const std::string& code,
                                        std::optional<milliseconds> retry_after) const {
    const std::string said = host_ + " (model " + options_.model + ") answers " + std::to_string(status) +
                             (words.empty() ? "" : ": " + words);
    if (is_quota_exceeded(status, words, code)) {
      return {{ErrorCode::quota_exceeded, said + "; check the account's balance and limits"}, Again::never};
    }
    switch (status) {
      case 401:
      case 403:
        return {without_key({ErrorCode::unauthenticated, said + "; " + key_advice()}), Again::never};
      case 404:
        return {{ErrorCode::invalid_argument,
                 said + "; check base_url (" + options_.base_url + ") and that the server has this model"},
                Again::never};
      case 413:
        return {{ErrorCode::invalid_argument,
                 said + "; the prompt is too long for it: choose a model that takes a longer one"},
                Again::never};
      case 429:
        return {{ErrorCode::rate_limited, said + "; set requests_per_minute or lower max_concurrency, or wait"},
                Again::yes,
                retry_after};
      case 408:
      case 409:
      case 425:
        return {{ErrorCode::unavailable, said + "; try again later"}, Again::yes, retry_after};
      default:
        break;
    }
    if (status >= 500) return {{ErrorCode::unavailable, said + "; try again later"}, Again::yes, retry_after};
    return {{ErrorCode::invalid_argument, said + "; check the settings of this model"}, Again::never};
  }

  [[nodiscard]] std::string key_advice() const {
    if (options_.key.empty()) return "no key was sent; set key_env or key_command of this model";
    return "check the key" + (options_.key_source.empty() ? std::string() : " in " + options_.key_source) +
           " and that it may use this model";
  }

  EndpointOptions options_;
  const WireFormat& wire_;
  std::string host_;
  http::Client& client_;
  Clock& clock_;
  std::shared_ptr<Gate> gate_;
  std::mutex mutex_;
  Dialect dialect_;
};

}  // namespace

base::Result<std::unique_ptr<ChatProvider>> make_endpoint_provider(EndpointOptions options, http::Client& client,
                                                                   Clock& clock, std::shared_ptr<Gate> gate) {
  TRY_ASSIGN(options, normalized(std::move(options)));
  TRY_ASSIGN(http::Origin origin, http::origin_of(options.base_url));
  return std::make_unique<HttpProvider>(std::move(options), std::move(origin), client, clock, std::move(gate));
}

}  // namespace accelopt::llm
