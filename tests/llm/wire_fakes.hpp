// SPDX-License-Identifier: Apache-2.0
// Answers in the wire format of each API, as the vendors document them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "fakes/socket_server.hpp"
#include "llm/endpoint.hpp"

namespace accelopt::llm {

/// What an answer says. The counts are the whole: the cached ones are part of the input, the thoughts of the output.
struct WireAnswer {
  std::vector<std::string> pieces{"Hel", "lo, ", "world"};
  std::string thought{};
  Finish finish = Finish::complete;
  int input_tokens = 1000;
  int cached_tokens = 400;
  int output_tokens = 200;
  int reasoning_tokens = 50;  ///< part of them
};

inline std::string joined(const WireAnswer& answer) {
  std::string text;
  for (const std::string& piece : answer.pieces) text += piece;
  return text;
}

inline std::string event(const base::Json& data, const std::string& name = "") {
  return (name.empty() ? "" : "event: " + name + "\n") + "data: " + data.dump() + "\n\n";
}

inline std::string openai_stream(const WireAnswer& a) {
  const auto chunk = [](const base::Json& delta, const base::Json& finish) {
    return event({{"id", "c"},
                  {"object", "chat.completion.chunk"},
                  {"model", "served-model"},
                  {"choices", {{{"index", 0}, {"delta", delta}, {"finish_reason", finish}}}}});
  };
  std::string out = chunk({{"role", "assistant"}, {"content", ""}}, nullptr);
  if (!a.thought.empty()) out += chunk({{"reasoning_content", a.thought}}, nullptr);
  for (const std::string& piece : a.pieces) out += chunk({{"content", piece}}, nullptr);
  const char* reason = a.finish == Finish::complete        ? "stop"
                       : a.finish == Finish::cut_by_length ? "length"
                                                           : "content_filter";
  out += chunk(base::Json::object(), reason);
  out += event({{"object", "chat.completion.chunk"},
                {"model", "served-model"},
                {"choices", base::Json::array()},
                {"usage",
                 {{"prompt_tokens", a.input_tokens},
                  {"completion_tokens", a.output_tokens},
                  {"total_tokens", a.input_tokens + a.output_tokens},
                  {"prompt_tokens_details", {{"cached_tokens", a.cached_tokens}}},
                  {"completion_tokens_details", {{"reasoning_tokens", a.reasoning_tokens}}}}}});
  return out + "data: [DONE]\n\n";
}

inline std::string anthropic_stream(const WireAnswer& a) {
  const int fresh = a.input_tokens - a.cached_tokens - 100;
  std::string out = event({{"type", "message_start"},
                           {"message",
                            {{"id", "msg"},
                             {"type", "message"},
                             {"role", "assistant"},
                             {"model", "served-model"},
                             {"content", base::Json::array()},
                             {"stop_reason", nullptr},
                             {"usage",
                              {{"input_tokens", fresh},
                               {"cache_creation_input_tokens", 100},
                               {"cache_read_input_tokens", a.cached_tokens},
                               {"output_tokens", 1}}}}}},
                          "message_start");
  out += event({{"type", "ping"}}, "ping");
  int index = 0;
  const auto block = [&](const char* type, const char* delta, const char* key, const std::vector<std::string>& pieces) {
    out += event({{"type", "content_block_start"}, {"index", index}, {"content_block", {{"type", type}, {key, ""}}}},
                 "content_block_start");
    for (const std::string& piece : pieces) {
      out += event({{"type", "content_block_delta"}, {"index", index}, {"delta", {{"type", delta}, {key, piece}}}},
                   "content_block_delta");
    }
    out += event({{"type", "content_block_stop"}, {"index", index++}}, "content_block_stop");
  };
  if (!a.thought.empty()) block("thinking", "thinking_delta", "thinking", {a.thought});
  block("text", "text_delta", "text", a.pieces);
  const char* reason = a.finish == Finish::complete        ? "end_turn"
                       : a.finish == Finish::cut_by_length ? "max_tokens"
                                                           : "refusal";
  out += event(
      {{"type", "message_delta"},
       {"delta", {{"stop_reason", reason}, {"stop_sequence", nullptr}}},
       {"usage",
        {{"output_tokens", a.output_tokens}, {"output_tokens_details", {{"reasoning_tokens", a.reasoning_tokens}}}}}},
      "message_delta");
  return out + event({{"type", "message_stop"}}, "message_stop");
}

inline std::string gemini_stream(const WireAnswer& a) {
  const auto chunk = [&](const base::Json& part, const char* finish) {
    base::Json candidate = {{"index", 0}, {"content", {{"role", "model"}, {"parts", base::Json::array({part})}}}};
    if (finish != nullptr) candidate["finishReason"] = finish;
    return event({{"candidates", base::Json::array({candidate})},
                  {"modelVersion", "served-model"},
                  {"usageMetadata",
                   {{"promptTokenCount", a.input_tokens},
                    {"cachedContentTokenCount", a.cached_tokens},
                    {"candidatesTokenCount", finish == nullptr ? 1 : a.output_tokens - a.reasoning_tokens},
                    {"thoughtsTokenCount", a.reasoning_tokens}}}});
  };
  std::string out;
  if (!a.thought.empty()) out += chunk({{"text", a.thought}, {"thought", true}}, nullptr);
  for (const std::string& piece : a.pieces) out += chunk({{"text", piece}}, nullptr);
  const char* reason = a.finish == Finish::complete        ? "STOP"
                       : a.finish == Finish::cut_by_length ? "MAX_TOKENS"
                                                           : "SAFETY";
  return out + chunk({{"text", ""}}, reason);
}

/// The events of a streamed answer.
inline std::string wire_stream(Api api, const WireAnswer& answer) {
  switch (api) {
    case Api::openai:
      return openai_stream(answer);
    case Api::anthropic:
      return anthropic_stream(answer);
    case Api::gemini:
      return gemini_stream(answer);
  }
  return {};
}

/// The same in one piece, of a server that does not stream.
inline std::string wire_whole(Api api, const WireAnswer& a) {
  switch (api) {
    case Api::openai:
      return base::Json{{"model", "served-model"},
                        {"choices", {{{"message", {{"content", joined(a)}}}, {"finish_reason", "stop"}}}},
                        {"usage", {{"prompt_tokens", a.input_tokens}, {"completion_tokens", a.output_tokens}}}}
          .dump();
    case Api::anthropic:
      return base::Json{{"type", "message"},
                        {"model", "served-model"},
                        {"stop_reason", "end_turn"},
                        {"content", base::Json::array({{{"type", "text"}, {"text", joined(a)}}})},
                        {"usage", {{"input_tokens", a.input_tokens}, {"output_tokens", a.output_tokens}}}}
          .dump();
    case Api::gemini: {
      const base::Json candidate = {{"content", {{"parts", base::Json::array({{{"text", joined(a)}}})}}},
                                    {"finishReason", "STOP"}};
      return base::Json{
          {"modelVersion", "served-model"},
          {"candidates", base::Json::array({candidate})},
          {"usageMetadata", {{"promptTokenCount", a.input_tokens}, {"candidatesTokenCount", a.output_tokens}}}}
          .dump();
    }
  }
  return {};
}

/// An error's body.
inline std::string wire_error(Api api, int status, const std::string& message) {
  switch (api) {
    case Api::openai:
      return base::Json{{"error", {{"message", message}, {"type", "some_error"}}}}.dump();
    case Api::anthropic:
      return base::Json{{"type", "error"}, {"error", {{"type", "api_error"}, {"message", message}}}}.dump();
    case Api::gemini:
      return base::Json{{"error", {{"code", status}, {"message", message}, {"status", "SOME_STATUS"}}}}.dump();
  }
  return {};
}

/// An error in the middle of a stream.
inline std::string wire_error_event(Api api, const std::string& message) {
  switch (api) {
    case Api::openai:
      return event({{"error", {{"message", message}}}});
    case Api::anthropic:
      return event({{"type", "error"}, {"error", {{"type", "overloaded_error"}, {"message", message}}}}, "error");
    case Api::gemini:
      return event({{"error", {{"code", 503}, {"message", message}, {"status", "UNAVAILABLE"}}}});
  }
  return {};
}

}  // namespace accelopt::llm
