// SPDX-License-Identifier: Apache-2.0
#include "llm/openai_wire.hpp"

#include <algorithm>

namespace accelopt::llm {
namespace {

using base::Json;

constexpr std::size_t kLongestServerWords = 300;

std::string_view to_string(Speaker speaker) {
  switch (speaker) {
    case Speaker::system:
      return "system";
    case Speaker::user:
      return "user";
    case Speaker::assistant:
      return "assistant";
  }
  return "user";
}

/// The member of an object, or null: for JSON that a stranger wrote.
const Json& member(const Json& object, const char* key) {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(key);
  return found == object.end() ? kNull : *found;
}

std::int64_t count_of(const Json& value) {
  if (!value.is_number()) return 0;
  constexpr double kMost = 1e15;
  const double number = value.get<double>();
  if (!(number > 0)) return 0;
  return static_cast<std::int64_t>(std::min(number, kMost));
}

/// Text as a string, or as a list of parts with a `text` each.
std::string text_of(const Json& content) {
  if (content.is_string()) return content.get<std::string>();
  std::string text;
  if (content.is_array()) {
    for (const Json& part : content) {
      if (const Json& piece = member(part, "text"); piece.is_string()) text += piece.get_ref<const std::string&>();
    }
  }
  return text;
}

/// One line of printable ASCII, cut to its length.
std::string tame(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (out.size() >= kLongestServerWords) return out + "...";
    const bool printable = c >= ' ' && c <= '~';
    const char shown = printable ? c : (c == '\n' || c == '\t' || c == '\r' ? ' ' : '?');
    if (shown == ' ' && (out.empty() || out.back() == ' ')) continue;
    out += shown;
  }
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

Json parse_or_null(std::string_view text) {
  Json value = Json::parse(text, nullptr, false);
  return value.is_discarded() ? Json() : value;
}

std::string words_of(const Json& value) {
  const Json& error = member(value, "error");
  for (const Json* candidate :
       {&member(error, "message"), &error, &member(value, "message"), &member(value, "detail")}) {
    if (candidate->is_string()) return tame(candidate->get_ref<const std::string&>());
  }
  // FastAPI's `detail`, and whatever else is structured.
  for (const Json* candidate : {&error, &member(value, "detail")}) {
    if (!candidate->is_null()) return tame(base::canonical(*candidate));
  }
  return {};
}

int status_of(const Json& value) {
  for (const char* key : {"code", "status"}) {
    const Json& status = member(value, key);
    if (status.is_number_integer() && status >= 400 && status <= 599) return status.get<int>();
  }
  return 0;
}

}  // namespace

std::string request_body(const ChatRequest& request, const WireSettings& settings, const Dialect& dialect) {
  Json body;
  body["model"] = settings.model;
  body["stream"] = true;
  if (dialect.stream_usage == StreamUsage::ask) body["stream_options"] = {{"include_usage", true}};
  body["messages"] = Json::array();
  for (const Message& message : request.messages) {
    body["messages"].push_back({{"role", to_string(message.speaker)}, {"content", message.text}});
  }
  if (const auto temperature = request.temperature ? request.temperature : settings.temperature) {
    body["temperature"] = *temperature;
  }
  if (const auto limit = request.max_output_tokens ? request.max_output_tokens : settings.max_output_tokens) {
    body[dialect.token_limit == TokenLimitName::max_tokens ? "max_tokens" : "max_completion_tokens"] = *limit;
  }
  if (!settings.reasoning.empty()) body["reasoning_effort"] = settings.reasoning;
  return base::canonical(body);
}

std::optional<Dialect> other_dialect(std::string_view words, const Dialect& refused) {
  Dialect other = refused;
  if (words.find("stream_options") != std::string_view::npos) other.stream_usage = StreamUsage::leave_out;
  if (words.find("max_completion_tokens") != std::string_view::npos) {
    other.token_limit = TokenLimitName::max_completion_tokens;
  }
  if (other == refused) return std::nullopt;
  return other;
}

std::string server_words(std::string_view body) {
  const Json value = parse_or_null(body);
  std::string words = words_of(value);
  return words.empty() ? tame(body) : words;
}

std::string server_code(std::string_view body) {
  const Json value = parse_or_null(body);
  const Json& error = member(value, "error");
  for (const char* key : {"code", "type"}) {
    if (const Json& code = member(error, key); code.is_string()) return tame(code.get_ref<const std::string&>());
  }
  return {};
}

tl::expected<void, WireProblem> ReplyReader::take(std::string_view text) {
  using Kind = WireProblem::Kind;
  const Json value = Json::parse(text, nullptr, false);
  if (value.is_discarded())
    return tl::make_unexpected(WireProblem{Kind::malformed, "it is not JSON: " + tame(text), 0});
  if (const Json& error = member(value, "error"); !error.is_null()) {
    return tl::make_unexpected(WireProblem{Kind::server_error, words_of(value), status_of(error)});
  }
  const Json& choices = member(value, "choices");
  const Json& usage = member(value, "usage");
  if (!choices.is_array() && !usage.is_object()) {
    return tl::make_unexpected(WireProblem{Kind::malformed, "it has no 'choices': " + tame(text), 0});
  }
  if (const Json& model = member(value, "model"); model.is_string()) reply_.model = model.get<std::string>();
  if (choices.is_array()) {
    for (const Json& choice : choices) take_choice(choice);
  }
  if (usage.is_object()) take_usage(usage);
  return {};
}

void ReplyReader::take_choice(const Json& choice) {
  if (const Json& index = member(choice, "index"); index.is_number() && index != 0) return;  // one answer was asked for
  const Json& delta = member(choice, "delta");
  const Json& said = delta.is_object() ? delta : member(choice, "message");
  reply_.text += text_of(member(said, "content"));
  if (const Json& refusal = member(said, "refusal");
      refusal.is_string() && !refusal.get_ref<const std::string&>().empty()) {
    reply_.finish = Finish::filtered;
  }
  const Json& reason = member(choice, "finish_reason");
  if (!reason.is_string()) return;
  finished_ = true;
  if (reason == "length" || reason == "max_tokens") reply_.finish = Finish::cut_by_length;
  if (reason == "content_filter" || reason == "safety") reply_.finish = Finish::filtered;
}

void ReplyReader::take_usage(const Json& usage) {
  // Some servers repeat it in every chunk, growing: the last one counts.
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
}

}  // namespace accelopt::llm
