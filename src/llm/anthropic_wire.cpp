// SPDX-License-Identifier: Apache-2.0
#include "llm/anthropic_wire.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/names.hpp"
#include "llm/wire_json.hpp"

namespace accelopt::llm {
namespace {

using base::Json;

constexpr const char* kAnthropicVersion = "2023-06-01";
/// The API wants a limit in every request. What an answer may take beside its thinking, tokens: a long kernel.
constexpr int kAnswerTokens = 16'000;
/// Least that the API takes as a thinking budget, and least that is left for the answer.
constexpr int kLeastThinking = 1'024;

/// Statuses of the API's error types: in a stream an error comes without a status of its own.
int status_of_type(const Json& error) {
  constexpr std::array<std::pair<std::string_view, int>, 9> kTypes{{{"invalid_request_error", 400},
                                                                    {"authentication_error", 401},
                                                                    {"billing_error", 402},
                                                                    {"permission_error", 403},
                                                                    {"not_found_error", 404},
                                                                    {"request_too_large", 413},
                                                                    {"rate_limit_error", 429},
                                                                    {"api_error", 500},
                                                                    {"overloaded_error", 529}}};
  const Json& type = member(error, "type");
  if (!type.is_string()) return 0;
  const auto found = std::ranges::find(kTypes, std::string_view(type.get_ref<const std::string&>()),
                                       [](const auto& entry) { return entry.first; });
  return found == kTypes.end() ? 0 : found->second;
}

/// What is not here ends no whole answer: "pause_turn", and "abort" of other servers of this API.
constexpr auto kAnthropicReasons =
    std::to_array<base::Named<Finish>>({{Finish::complete, "end_turn"},
                                        {Finish::complete, "stop_sequence"},
                                        {Finish::complete, "tool_use"},
                                        {Finish::cut_by_length, "max_tokens"},
                                        {Finish::cut_by_length, "model_context_window_exceeded"},
                                        {Finish::filtered, "refusal"}});

/// Reads the events message_start, content_block_start, content_block_delta, message_delta, message_stop and error, and
/// a whole message. Thinking blocks are dropped.
class AnthropicReader final : public AnswerReader {
 protected:
  tl::expected<void, WireProblem> take_value(const Json& value, std::string_view text) override {
    using Kind = WireProblem::Kind;
    const Json& error = member(value, "error");
    if (!error.is_null()) {
      return tl::make_unexpected(
          WireProblem{Kind::server_error, error_text(value), status_of_type(error), server_code(text)});
    }
    const Json& type = member(value, "type");
    if (type == "message_start") {
      take_message(member(value, "message"));
    } else if (type == "content_block_start") {
      if (const Json& block = member(value, "content_block"); member(block, "type") == "text") take_text(block);
    } else if (type == "content_block_delta") {
      if (const Json& delta = member(value, "delta"); member(delta, "type") == "text_delta") take_text(delta);
    } else if (type == "message_delta") {
      take_stop_reason(member(value, "delta"));
      take_usage(member(value, "usage"));
    } else if (type == "message_stop") {
      closed_ = true;
    } else if (type == "message" || member(value, "content").is_array()) {
      take_message(value);
    } else if (!type.is_string()) {
      return tl::make_unexpected(lacks("type", value, text));
    }
    return {};  // pings, and events that a later version of the API may add
  }

 private:
  void take_message(const Json& message) {
    if (const Json& model = member(message, "model"); model.is_string()) reply_.model = model.get<std::string>();
    if (const Json& content = member(message, "content"); content.is_array()) {
      for (const Json& block : content) {
        if (member(block, "type") == "text") take_text(block);
      }
    }
    take_usage(member(message, "usage"));
    take_stop_reason(message);
  }

  void take_text(const Json& block) {
    if (const Json& text = member(block, "text"); text.is_string()) reply_.text += text.get_ref<const std::string&>();
  }

  void take_stop_reason(const Json& message) {
    const Json& reason = member(message, "stop_reason");
    if (!reason.is_string()) return;
    const auto& said = reason.get_ref<const std::string&>();
    end(said, base::value_in(kAnthropicReasons, said));
  }

  /// Comes twice in a stream: what the prompt took at the start, the growing output at the end. The counts of the
  /// prompt exclude what went through the cache.
  void take_usage(const Json& usage) {
    if (!usage.is_object()) return;
    has_usage_ = true;
    model::Usage& total = reply_.usage;
    if (member(usage, "input_tokens").is_number()) {
      total.cached_input_tokens = count_of(member(usage, "cache_read_input_tokens"));
      total.input_tokens = count_of(member(usage, "input_tokens")) + total.cached_input_tokens +
                           count_of(member(usage, "cache_creation_input_tokens"));
    }
    total.output_tokens = std::max(total.output_tokens, count_of(member(usage, "output_tokens")));
    total.reasoning_tokens = std::min(
        std::max(total.reasoning_tokens, count_of(member(member(usage, "output_tokens_details"), "reasoning_tokens"))),
        total.output_tokens);
  }
};

class AnthropicWire final : public WireFormat {
 public:
  [[nodiscard]] std::string path(const std::string& /*model*/) const override { return "/messages"; }

  [[nodiscard]] std::string body(const ChatRequest& request, const WireSettings& settings,
                                 const Dialect& dialect) const override {
    Json body = {{"model", settings.model}, {"stream", true}, {"messages", Json::array()}};
    std::string system;
    for (const Message& message : request.messages) {
      if (message.speaker == Speaker::system) {
        system += (system.empty() ? "" : "\n\n") + message.text;
      } else {
        const bool assistant = message.speaker == Speaker::assistant;
        body["messages"].push_back({{"role", assistant ? "assistant" : "user"}, {"content", message.text}});
      }
    }
    if (!system.empty()) body["system"] = system;
    const auto asked = request.max_output_tokens ? request.max_output_tokens : settings.max_output_tokens;
    int limit = asked.value_or(*usual_output_tokens(settings.reasoning));
    if (dialect.longest_output) limit = std::min(limit, *dialect.longest_output);
    body["max_tokens"] = limit;
    const bool thinks = add_thinking(body, settings.reasoning, dialect, limit);
    // A thinking model takes no other temperature than its own.
    const auto temperature = request.temperature ? request.temperature : settings.temperature;
    if (temperature && !thinks) body["temperature"] = *temperature;
    return base::canonical(body);
  }

  [[nodiscard]] std::vector<http::Header> headers(const Secret& key) const override {
    std::vector<http::Header> headers{{"anthropic-version", kAnthropicVersion}};
    if (!key.empty()) headers.push_back({"x-api-key", key.reveal()});
    return headers;
  }

  [[nodiscard]] std::unique_ptr<AnswerReader> reader() const override { return std::make_unique<AnthropicReader>(); }

  [[nodiscard]] std::optional<Dialect> other_dialect(std::string_view words, const Dialect& refused,
                                                     const WireSettings& settings) const override {
    Dialect other = refused;
    const auto names = [words](std::string_view part) { return words.find(part) != std::string_view::npos; };
    if (names("max_tokens") && names("maximum")) other.longest_output = named_maximum(words);
    if (names("thinking") && is_asked(settings.reasoning) && refused.thinking == ThinkingForm::usual) {
      // Newer models set their own budget and are told an effort; to leave thinking out is always understood.
      if (budget_tokens(settings.reasoning) == 0)
        other.thinking = ThinkingForm::leave_out;
      else if (names("adaptive"))
        other.thinking = ThinkingForm::other;
    }
    if (other == refused) return std::nullopt;
    return other;
  }

  [[nodiscard]] std::optional<int> usual_output_tokens(const Reasoning& reasoning) const override {
    return kAnswerTokens + (is_asked(reasoning) ? budget_tokens(reasoning) : 0);
  }

 private:
  /// Says how much to think; gives whether the model will.
  static bool add_thinking(Json& body, const Reasoning& reasoning, const Dialect& dialect, int limit) {
    if (!is_asked(reasoning) || dialect.thinking == ThinkingForm::leave_out) return false;
    const int budget = budget_tokens(reasoning);
    if (budget == 0) {
      body["thinking"] = {{"type", "disabled"}};
      return false;
    }
    if (dialect.thinking == ThinkingForm::other) {
      body["thinking"] = {{"type", "adaptive"}};
      const std::string word = effort_word(reasoning);
      body["output_config"] = {{"effort", word == "minimal" ? "low" : word}};
      return true;
    }
    // Part of the limit, of which the answer keeps its own part, or half where there is less.
    const int most = std::max(limit - std::min(kAnswerTokens, limit / 2), kLeastThinking);
    body["thinking"] = {{"type", "enabled"}, {"budget_tokens", std::clamp(budget, kLeastThinking, most)}};
    return true;
  }

  /// "max_tokens: 40000 > 8192, which is the maximum allowed ...": 8192.
  static std::optional<int> named_maximum(std::string_view words) {
    const std::size_t sign = words.find("> ");
    if (sign == std::string_view::npos) return std::nullopt;
    int most = 0;
    const char* begin = words.data() + sign + 2;
    const auto [end, problem] = std::from_chars(begin, words.data() + words.size(), most);
    return problem == std::errc() && end != begin && most > 0 ? std::optional(most) : std::nullopt;
  }
};

}  // namespace

const WireFormat& anthropic_wire() {
  static const AnthropicWire wire;
  return wire;
}

}  // namespace accelopt::llm
