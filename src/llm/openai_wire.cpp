// SPDX-License-Identifier: Apache-2.0
#include "llm/openai_wire.hpp"

#include <algorithm>
#include <array>

#include "base/names.hpp"
#include "base/text.hpp"
#include "llm/wire_json.hpp"

namespace accelopt::llm {
namespace {

using base::Json;

/// How servers name the end of an answer, in small letters. What is not here ends no whole one: "abort" of SGLang and
/// vLLM, "error" of OpenRouter and Mistral, "insufficient_system_resource" of DeepSeek.
constexpr auto kOpenAiReasons = std::to_array<base::Named<Finish>>({{Finish::complete, "stop"},
                                                                    {Finish::complete, "stop_sequence"},
                                                                    {Finish::complete, "eos"},
                                                                    {Finish::complete, "eos_token"},
                                                                    {Finish::complete, "end_turn"},
                                                                    {Finish::complete, "complete"},
                                                                    {Finish::complete, "completed"},
                                                                    {Finish::complete, "tool_calls"},
                                                                    {Finish::complete, "function_call"},
                                                                    {Finish::cut_by_length, "length"},
                                                                    {Finish::cut_by_length, "max_tokens"},
                                                                    {Finish::cut_by_length, "model_length"},
                                                                    {Finish::filtered, "content_filter"},
                                                                    {Finish::filtered, "safety"}});

class OpenAiReader final : public AnswerReader {
 protected:
  tl::expected<void, WireProblem> take_value(const Json& value, std::string_view text) override {
    using Kind = WireProblem::Kind;
    if (const Json& error = member(value, "error"); !error.is_null()) {
      return tl::make_unexpected(
          WireProblem{Kind::server_error, error_text(value), status_of(error), server_code(text)});
    }
    if (member(value, "object") == "error")  // of older servers
      return tl::make_unexpected(
          WireProblem{Kind::server_error, error_text(value), status_of(value), server_code(text)});
    const Json& choices = member(value, "choices");
    const Json& usage = member(value, "usage");
    if (!choices.is_array() && !usage.is_object()) {
      return tl::make_unexpected(lacks("choices", value, text));
    }
    if (const Json& model = member(value, "model"); model.is_string()) reply_.model = model.get<std::string>();
    if (choices.is_array()) {
      for (const Json& choice : choices) take_choice(choice);
    }
    if (usage.is_object()) take_usage(usage);
    return {};
  }

 private:
  void take_choice(const Json& choice) {
    // One answer was asked for.
    if (const Json& index = member(choice, "index"); index.is_number() && index != 0) return;
    const Json& delta = member(choice, "delta");
    const Json& said = delta.is_object() ? delta : member(choice, "message");
    reply_.text += text_of(member(said, "content"));
    if (const Json& refusal = member(said, "refusal");
        refusal.is_string() && !refusal.get_ref<const std::string&>().empty()) {
      reply_.finish = Finish::filtered;
      reply_.text += refusal.get_ref<const std::string&>();  // why it is withheld
    }
    const Json& reason = member(choice, "finish_reason");
    const std::string word = reason.is_string() ? base::lower(reason.get_ref<const std::string&>()) : std::string();
    if (!word.empty()) end(word, base::value_in(kOpenAiReasons, word));
  }

  /// Some servers repeat it in every chunk, growing: the last one counts.
  void take_usage(const Json& usage) {
    has_usage_ = true;
    model::Usage& total = reply_.usage;
    total.input_tokens = count_of(member(usage, "prompt_tokens"));
    total.output_tokens = count_of(member(usage, "completion_tokens"));
    total.cached_input_tokens = std::max(count_of(member(member(usage, "prompt_tokens_details"), "cached_tokens")),
                                         count_of(member(usage, "prompt_cache_hit_tokens")));
    total.cached_input_tokens = std::min(total.cached_input_tokens, total.input_tokens);
    // Reasoning is part of the completion, except where the server's own sum says that it comes on top.
    const std::int64_t reasoning = count_of(member(member(usage, "completion_tokens_details"), "reasoning_tokens"));
    const std::int64_t sum = count_of(member(usage, "total_tokens"));
    if (reasoning > 0 && sum == total.input_tokens + total.output_tokens + reasoning) total.output_tokens += reasoning;
    total.reasoning_tokens = std::min(reasoning, total.output_tokens);
  }
};

class OpenAiWire final : public WireFormat {
 public:
  [[nodiscard]] std::string path(const std::string& /*model*/) const override { return "/chat/completions"; }

  [[nodiscard]] std::string body(const ChatRequest& request, const WireSettings& settings,
                                 const Dialect& dialect) const override {
    Json body;
    body["model"] = settings.model;
    body["stream"] = true;
    if (dialect.stream_usage == StreamUsage::ask) body["stream_options"] = {{"include_usage", true}};
    body["messages"] = Json::array();
    for (const Message& message : request.messages) {
      body["messages"].push_back({{"role", base::name_in(kSpeakerNames, message.speaker)}, {"content", message.text}});
    }
    if (const auto temperature = request.temperature ? request.temperature : settings.temperature) {
      body["temperature"] = *temperature;
    }
    if (const auto limit = request.max_output_tokens ? request.max_output_tokens : settings.max_output_tokens) {
      body[dialect.token_limit == TokenLimitName::max_tokens ? "max_tokens" : "max_completion_tokens"] = *limit;
    }
    if (is_asked(settings.reasoning) && dialect.thinking == ThinkingForm::usual) {
      body["reasoning_effort"] = effort_word(settings.reasoning);
    }
    return base::canonical(body);
  }

  [[nodiscard]] std::vector<http::Header> headers(const Secret& key) const override {
    if (key.empty()) return {};
    return {{"Authorization", "Bearer " + key.reveal()}};
  }

  [[nodiscard]] std::unique_ptr<AnswerReader> reader() const override { return std::make_unique<OpenAiReader>(); }

  [[nodiscard]] std::optional<Dialect> other_dialect(std::string_view words, const Dialect& refused,
                                                     const WireSettings& settings) const override {
    Dialect other = refused;
    const auto names = [words](std::string_view part) { return words.find(part) != std::string_view::npos; };
    if (names("stream_options")) other.stream_usage = StreamUsage::leave_out;
    if (names("max_completion_tokens")) other.token_limit = TokenLimitName::max_completion_tokens;
    // A model that cannot think needs no telling not to; one that was told to think is the user's to mend.
    if (names("reasoning_effort") && is_asked(settings.reasoning) && budget_tokens(settings.reasoning) == 0) {
      other.thinking = ThinkingForm::leave_out;
    }
    if (other == refused) return std::nullopt;
    return other;
  }

  [[nodiscard]] std::optional<int> usual_output_tokens(const Reasoning& /*reasoning*/) const override {
    return std::nullopt;
  }
};

}  // namespace

const WireFormat& openai_wire() {
  static const OpenAiWire wire;
  return wire;
}

}  // namespace accelopt::llm
