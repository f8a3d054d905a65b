// SPDX-License-Identifier: Apache-2.0
// A model behind an HTTP endpoint: where it is, how it is spoken to, and what it may take.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "http/client.hpp"
#include "llm/chat_model.hpp"
#include "llm/clock.hpp"
#include "llm/gate.hpp"
#include "llm/price.hpp"
#include "llm/provider.hpp"
#include "llm/retry.hpp"
#include "llm/secret.hpp"

namespace accelopt::llm {

/// What an endpoint speaks. openai: chat completions (vLLM, SGLang, llama.cpp, Ollama, vendors); anthropic: the
/// Messages API; gemini: generateContent.
enum class Api { openai, anthropic, gemini };
std::string_view to_string(Api api);
/// @error invalid_argument: another name; the message lists the known ones.
base::Result<Api> parse_api(std::string_view name);
/// The vendor's own endpoint; empty where there is no such thing (openai: any server may be meant).
std::string_view default_base_url(Api api);

/// How much a model may think before it answers: an effort, a number of tokens, or whatever the server does by itself.
struct Reasoning {
  std::string effort{};         ///< "none", "minimal", "low", "medium", "high"; empty: not asked for
  std::optional<int> tokens{};  ///< in place of an effort; 0: none
  bool operator==(const Reasoning&) const = default;
};
/// Whether anything is asked for.
bool is_asked(const Reasoning& reasoning);
/// Tokens that the effort stands for where an API wants a number: none 0, minimal 1024, low 2048, medium 8192, high
/// 24576. Only for what is_asked.
int budget_tokens(const Reasoning& reasoning);
/// The effort that comes nearest where an API wants a word. Only for what is_asked.
std::string effort_word(const Reasoning& reasoning);
/// @error invalid_argument: an unknown effort or a negative number.
base::Result<void> check(const Reasoning& reasoning);

struct EndpointOptions {
  Api api = Api::openai;
  std::string base_url{};  ///< "http://localhost:8000/v1": what comes before the API's own path
  std::string model{};
  Secret key{};              ///< empty: none is sent
  std::string key_source{};  ///< where the key comes from, for messages: "OPENAI_API_KEY", "key_command"
  std::string ca_file{};     ///< certificates to trust in place of the machine's; empty: the machine's
  std::optional<double> temperature{};
  Reasoning reasoning{};
  std::optional<int> max_output_tokens{};  ///< of one answer, reasoning included
  int max_concurrency = 32;                ///< questions in flight; this and the next two: unless a gate is given
  std::optional<int> requests_per_minute{};
  std::optional<std::int64_t> tokens_per_minute{};
  std::optional<Price> price{};
  RetryPolicy retry{};
  /// A model that reasons may be silent for minutes, and the stall limit has to bear it. The bytes are those of a
  /// stream, most of which is framing; what it says may take an eighth of them.
  http::Limits limits{.connect = std::chrono::seconds(15),
                      .stall = std::chrono::minutes(5),
                      .total = std::chrono::minutes(30),
                      .body_bytes = std::size_t{256} << 20U};
};

/// The options as they are used: addresses without what every request adds, the vendor's own where none is given.
/// @error invalid_argument: an option is missing or out of range; the message names it.
base::Result<EndpointOptions> normalized(EndpointOptions options);

/// The provider alone: one try, no limit on what is in flight. Client and clock must outlive it; the gate, which may be
/// null, is told what the server says about its limits.
/// @error invalid_argument: as normalized.
base::Result<std::unique_ptr<ChatProvider>> make_endpoint_provider(EndpointOptions options, http::Client& client,
                                                                   Clock& clock, std::shared_ptr<Gate> gate = nullptr);

/// The model as a run uses it: provider, gate, retries. Models of one endpoint should be given the same gate.
/// @error invalid_argument: as normalized.
base::Result<std::unique_ptr<ChatModel>> make_endpoint_model(EndpointOptions options, http::Client& client,
                                                             Clock& clock, std::shared_ptr<Gate> gate = nullptr);

}  // namespace accelopt::llm
