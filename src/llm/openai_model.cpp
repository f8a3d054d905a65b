// SPDX-License-Identifier: Apache-2.0
#include "llm/openai_model.hpp"

#include <mutex>
#include <utility>

#include "http/url.hpp"
#include "llm/openai_wire.hpp"
#include "llm/retry_after.hpp"
#include "llm/sse.hpp"

namespace accelopt::llm {
namespace {

using base::Error;
using base::ErrorCode;
using base::fail;
using std::chrono::milliseconds;

constexpr std::string_view kPath = "/chat/completions";
/// An answer may be refused for its dialect once for each thing that servers differ in.
constexpr int kMostDialects = 3;

/// What the server sent, read as it arrived.
struct Received {
  ReplyReader reader;
  SseReader events;
  std::string body;                      ///< of an answer that is not a stream
  std::optional<WireProblem> problem{};  ///< that ended the reading
  bool done = false;                     ///< the stream said so
};

bool is_stream(const http::Head& head) {
  return head.status == 200 &&
         http::find_header(head, "content-type").value_or("").find("text/event-stream") != std::string_view::npos;
}

/// Takes events into the answer until the stream says it is done or one of them cannot be used.
http::Flow take_events(Received& received, const std::vector<std::string>& events) {
  for (const std::string& event : events) {
    if (event.starts_with("[DONE]")) {
      received.done = true;
      return http::Flow::enough;
    }
    if (auto taken = received.reader.take(event); !taken) {
      received.problem = std::move(taken).error();
      return http::Flow::enough;
    }
  }
  return http::Flow::more;
}

class OpenAiProvider final : public ChatProvider {
 public:
  OpenAiProvider(OpenAiOptions options, http::Origin origin, http::Client& client, Clock& clock)
      : options_(std::move(options)), host_(http::to_string(origin)), client_(client), clock_(clock) {}

  tl::expected<ChatReply, Failure> ask(const ChatRequest& request, std::stop_token stop) override {
    for (int tried = 1;; ++tried) {
      const Dialect dialect = current_dialect();
      Received received;
      const auto response =
          client_.send(to_http(request, dialect), stop, [&](const http::Head& head, std::string_view piece) {
            if (is_stream(head)) return take_events(received, received.events.feed(piece));
            received.body += piece;
            return http::Flow::more;
          });
      if (!response) return tl::make_unexpected(of_transport(response.error()));
      const http::Head& head = response->head;
      if (head.status / 100 == 2) return read_reply(head, received);
      const auto other =
          head.status == 400 || head.status == 422 ? other_dialect(server_words(received.body), dialect) : std::nullopt;
      if (!other || tried >= kMostDialects) {
        return tl::make_unexpected(of_status(head.status, received.body, patience(head)));
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

  [[nodiscard]] http::Request to_http(const ChatRequest& request, const Dialect& dialect) const {
    const WireSettings settings{options_.model, options_.temperature, options_.max_output_tokens, options_.reasoning};
    http::Request out{
        .method = http::Method::post,
        .url = options_.base_url + std::string(kPath),
        .headers = {{"Content-Type", "application/json"}, {"Accept", "text/event-stream, application/json"}},
        .body = request_body(request, settings, dialect),
        .limits = options_.limits,
        .connection = http::Connection::fresh};
    if (!options_.key.empty()) out.headers.push_back({"Authorization", "Bearer " + options_.key.reveal()});
    return out;
  }

  /// The answer of a 2xx, streamed or whole.
  tl::expected<ChatReply, Failure> read_reply(const http::Head& head, Received& received) const {
    if (!is_stream(head)) {
      if (received.body.starts_with("data:")) {  // a stream under another name
        static_cast<void>(take_events(received, received.events.feed(received.body)));
      } else {
        if (const auto wrong = wrong_kind(head, received.body)) return tl::make_unexpected(*wrong);
        if (auto taken = received.reader.take(received.body); !taken) received.problem = std::move(taken).error();
        received.done = true;
      }
    }
    if (!received.problem && !received.done) {
      static_cast<void>(take_events(received, received.events.finish()));
    }
    if (received.problem) return tl::make_unexpected(of_problem(*received.problem));
    if (!received.done && !received.reader.finished()) {
      return tl::make_unexpected(Failure{
          {ErrorCode::unavailable, "the answer of " + host_ + " broke off before its end; try again"}, Again::yes});
    }
    ChatReply reply = received.reader.reply();
    reply.usage.calls = 1;
    if (reply.model.empty()) reply.model = options_.model;
    if (options_.price && received.reader.has_usage()) reply.usage.usd = cost_usd(reply.usage, *options_.price);
    return reply;
  }

  /// A page instead of an answer: the address is wrong, and will be the next time.
  [[nodiscard]] std::optional<Failure> wrong_kind(const http::Head& head, const std::string& body) const {
    const std::string_view type = http::find_header(head, "content-type").value_or("");
    const std::size_t first = body.find_first_not_of(" \t\r\n");
    const bool looks_like_json = first != std::string::npos && body[first] == '{';
    if (looks_like_json || type.find("json") != std::string_view::npos) return std::nullopt;
    return Failure{
        {ErrorCode::invalid_argument,
         host_ + " answers with " + (type.empty() ? std::string("something unnamed") : blot(server_words(type))) +
             " instead of a chat completion; check base_url (" + options_.base_url + "), which often ends in /v1"},
        Again::never};
  }

  [[nodiscard]] std::optional<milliseconds> patience(const http::Head& head) const {
    const auto value = http::find_header(head, "retry-after");
    if (!value) return std::nullopt;
    return parse_retry_after(*value, clock_.time_of_day());
  }

  /// The text with the key blotted out: servers like to quote it.
  [[nodiscard]] std::string blot(std::string text) const {
    const std::string& key = options_.key.reveal();
    if (key.empty()) return text;
    for (std::size_t at = 0; (at = text.find(key, at)) != std::string::npos;) text.replace(at, key.size(), "[key]");
    return text;
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

  [[nodiscard]] Failure of_problem(const WireProblem& problem) const {
    if (problem.kind == WireProblem::Kind::server_error) {
      return of_status_words(problem.status == 0 ? 500 : problem.status, blot(problem.words), {}, std::nullopt);
    }
    return {{ErrorCode::unavailable, "the answer of " + host_ + " cannot be read: " + blot(problem.words) +
                                         "; check that base_url is that of a chat-completions server"},
            Again::yes};
  }

  [[nodiscard]] Failure of_status(int status, const std::string& body, std::optional<milliseconds> retry_after) const {
    return of_status_words(status, blot(server_words(body)), server_code(body), retry_after);
  }

  [[nodiscard]] Failure of_status_words(int status, const std::string& words, const std::string& code,
                                        std::optional<milliseconds> retry_after) const {
    const std::string said = host_ + " (model " + options_.model + ") answers " + std::to_string(status) +
                             (words.empty() ? "" : ": " + words);
    const std::string key = options_.key.empty()
                                ? std::string("no key was sent; set key_env or key_command of this model")
                                : "check the key" +
                                      (options_.key_source.empty() ? std::string() : " in " + options_.key_source) +
                                      " and that it may use this model";
    switch (status) {
      case 401:
      case 403:
        return {{ErrorCode::unauthenticated, said + "; " + key}, Again::never};
      case 402:
        return {{ErrorCode::rate_limited, said + "; check the account's balance"}, Again::never};
      case 404:
        return {{ErrorCode::invalid_argument,
                 said + "; check base_url (" + options_.base_url + ") and that the server has this model"},
                Again::never};
      case 429:
        if (code == "insufficient_quota") {
          return {{ErrorCode::rate_limited, said + "; check the account's balance and limits"}, Again::never};
        }
        return {{ErrorCode::rate_limited, said + "; lower max_concurrency or wait"}, Again::yes, retry_after};
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

  OpenAiOptions options_;
  std::string host_;
  http::Client& client_;
  Clock& clock_;
  std::mutex mutex_;
  Dialect dialect_;
};

base::Result<void> check(const OpenAiOptions& options) {
  if (options.model.empty()) return fail(ErrorCode::invalid_argument, "no model is named; set model");
  if (options.temperature && !(*options.temperature >= 0 && *options.temperature <= 2)) {
    return fail(ErrorCode::invalid_argument, options.model + ": temperature must be from 0 to 2");
  }
  if (options.max_output_tokens && *options.max_output_tokens < 1) {
    return fail(ErrorCode::invalid_argument, options.model + ": max_output_tokens must be at least 1");
  }
  if (options.max_concurrency < 1) {
    return fail(ErrorCode::invalid_argument, options.model + ": max_concurrency must be at least 1");
  }
  return {};
}

}  // namespace

base::Result<std::unique_ptr<ChatProvider>> make_openai_provider(OpenAiOptions options, http::Client& client,
                                                                 Clock& clock) {
  TRY(check(options));
  while (options.base_url.ends_with('/')) options.base_url.pop_back();
  if (options.base_url.ends_with(kPath)) options.base_url.resize(options.base_url.size() - kPath.size());
  auto origin = http::origin_of(options.base_url);
  if (!origin)
    return tl::make_unexpected(base::with_context(std::move(origin).error(), "base_url of " + options.model));
  return std::make_unique<OpenAiProvider>(std::move(options), std::move(*origin), client, clock);
}

base::Result<std::unique_ptr<ChatModel>> make_openai_model(OpenAiOptions options, http::Client& client, Clock& clock,
                                                           std::shared_ptr<Gate> gate) {
  const RetryPolicy retry = options.retry;
  if (!gate) gate = std::make_shared<Gate>(options.max_concurrency, clock);
  TRY_ASSIGN(auto provider, make_openai_provider(std::move(options), client, clock));
  return make_retrying_model(make_limited_provider(std::move(provider), std::move(gate)), retry, clock);
}

}  // namespace accelopt::llm
