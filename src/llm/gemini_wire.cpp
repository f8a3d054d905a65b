// SPDX-License-Identifier: Apache-2.0
#include "llm/gemini_wire.hpp"

#include <algorithm>
#include <array>

#include "base/names.hpp"
#include "llm/wire_json.hpp"

namespace accelopt::llm {
namespace {

using base::Json;

/// What is not here ends no whole answer: "OTHER", "MALFORMED_FUNCTION_CALL".
constexpr auto kGeminiReasons = std::to_array<base::Named<Finish>>({{Finish::complete, "STOP"},
                                                                    {Finish::cut_by_length, "MAX_TOKENS"},
                                                                    {Finish::filtered, "SAFETY"},
                                                                    {Finish::filtered, "RECITATION"},
                                                                    {Finish::filtered, "LANGUAGE"},
                                                                    {Finish::filtered, "BLOCKLIST"},
                                                                    {Finish::filtered, "PROHIBITED_CONTENT"},
                                                                    {Finish::filtered, "SPII"}});

/// Reads chunks of a stream, one whole answer, or the list of chunks that a server without events sends. Thoughts are
/// dropped.
class GeminiReader final : public AnswerReader {
 protected:
  tl::expected<void, WireProblem> take_value(const Json& value, std::string_view text) override {
    if (!value.is_array()) return take_chunk(value, text);
    for (const Json& chunk : value) {
      if (auto taken = take_chunk(chunk, text); !taken) return taken;
    }
    return {};
  }

 private:
  tl::expected<void, WireProblem> take_chunk(const Json& chunk, std::string_view text) {
    using Kind = WireProblem::Kind;
    if (const Json& error = member(chunk, "error"); !error.is_null()) {
      return tl::make_unexpected(
          WireProblem{Kind::server_error, error_text(chunk), status_of(error), server_code(text)});
    }
    const Json& candidates = member(chunk, "candidates");
    const Json& usage = member(chunk, "usageMetadata");
    const Json& feedback = member(chunk, "promptFeedback");
    if (!candidates.is_array() && !usage.is_object() && !feedback.is_object()) {
      return tl::make_unexpected(lacks("candidates", chunk, text));
    }
    if (const Json& model = member(chunk, "modelVersion"); model.is_string()) reply_.model = model.get<std::string>();
    if (member(feedback, "blockReason").is_string()) {
      finished_ = true;
      reply_.finish = Finish::filtered;
    }
    if (candidates.is_array()) {
      for (const Json& candidate : candidates) take_candidate(candidate);
    }
    if (usage.is_object()) take_usage(usage);
    return {};
  }

  void take_candidate(const Json& candidate) {
    if (const Json& index = member(candidate, "index"); index.is_number() && index != 0) return;
    if (const Json& parts = member(member(candidate, "content"), "parts"); parts.is_array()) {
      for (const Json& part : parts) {
        const Json& said = member(part, "text");
        if (said.is_string() && member(part, "thought") != true) reply_.text += said.get_ref<const std::string&>();
      }
    }
    const Json& reason = member(candidate, "finishReason");
    if (!reason.is_string() || reason == "FINISH_REASON_UNSPECIFIED") return;
    const auto& said = reason.get_ref<const std::string&>();
    end(said, base::value_in(kGeminiReasons, said));
  }

  /// Repeated in every chunk, growing; thoughts are counted beside the answer's tokens.
  void take_usage(const Json& usage) {
    has_usage_ = true;
    model::Usage& total = reply_.usage;
    total.input_tokens = count_of(member(usage, "promptTokenCount"));
    total.cached_input_tokens = std::min(count_of(member(usage, "cachedContentTokenCount")), total.input_tokens);
    total.reasoning_tokens = count_of(member(usage, "thoughtsTokenCount"));
    total.output_tokens = count_of(member(usage, "candidatesTokenCount")) + total.reasoning_tokens;
  }
};

class GeminiWire final : public WireFormat {
 public:
  [[nodiscard]] std::string path(const std::string& model) const override {
    return "/" + std::string(model.find('/') == std::string::npos ? "models/" : "") + model +
           ":streamGenerateContent?alt=sse";
  }

  [[nodiscard]] std::string body(const ChatRequest& request, const WireSettings& settings,
                                 const Dialect& dialect) const override {
    Json body = {{"contents", Json::array()}};
    std::string system;
    for (const Message& message : request.messages) {
      if (message.speaker == Speaker::system) {
        system += (system.empty() ? "" : "\n\n") + message.text;
      } else {
        const bool assistant = message.speaker == Speaker::assistant;
        body["contents"].push_back(
            {{"role", assistant ? "model" : "user"}, {"parts", Json::array({{{"text", message.text}}})}});
      }
    }
    if (!system.empty()) body["systemInstruction"] = {{"parts", Json::array({{{"text", system}}})}};
    Json config = Json::object();
    if (const auto temperature = request.temperature ? request.temperature : settings.temperature) {
      config["temperature"] = *temperature;
    }
    if (const auto limit = request.max_output_tokens ? request.max_output_tokens : settings.max_output_tokens) {
      config["maxOutputTokens"] = *limit;
    }
    if (is_asked(settings.reasoning) && dialect.thinking != ThinkingForm::leave_out) {
      // Models of the first kind take a budget, later ones a level.
      config["thinkingConfig"] = dialect.thinking == ThinkingForm::usual
                                     ? Json{{"thinkingBudget", budget_tokens(settings.reasoning)}}
                                     : Json{{"thinkingLevel", level(settings.reasoning)}};
    }
    if (!config.empty()) body["generationConfig"] = config;
    return base::canonical(body);
  }

  [[nodiscard]] std::vector<http::Header> headers(const Secret& key) const override {
    if (key.empty()) return {};
    return {{"x-goog-api-key", key.reveal()}};
  }

  [[nodiscard]] std::unique_ptr<AnswerReader> reader() const override { return std::make_unique<GeminiReader>(); }

  [[nodiscard]] std::optional<Dialect> other_dialect(std::string_view words, const Dialect& refused,
                                                     const WireSettings& settings) const override {
    if (!is_asked(settings.reasoning)) return std::nullopt;
    const auto names = [words](std::string_view part) { return words.find(part) != std::string_view::npos; };
    if (!names("thinking") && !names("Thinking") && !names("Budget")) return std::nullopt;
    Dialect other = refused;
    if (refused.thinking == ThinkingForm::usual && (names("thinking_level") || names("thinkingLevel")))
      other.thinking = ThinkingForm::other;
    else if (budget_tokens(settings.reasoning) == 0)  // a model that only thinks, or that cannot
      other.thinking = ThinkingForm::leave_out;
    if (other == refused) return std::nullopt;
    return other;
  }

  [[nodiscard]] std::optional<int> usual_output_tokens(const Reasoning& /*reasoning*/) const override {
    return std::nullopt;
  }

 private:
  static std::string level(const Reasoning& reasoning) {
    const std::string word = effort_word(reasoning);
    return word == "none" ? "minimal" : word;
  }
};

}  // namespace

const WireFormat& gemini_wire() {
  static const GeminiWire wire;
  return wire;
}

}  // namespace accelopt::llm
