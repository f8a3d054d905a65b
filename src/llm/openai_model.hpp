// SPDX-License-Identifier: Apache-2.0
// Models behind an endpoint that speaks OpenAI's chat completions: vLLM, SGLang, llama.cpp, Ollama, and vendors.
#pragma once

#include <memory>
#include <optional>
#include <string>

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

struct OpenAiOptions {
  std::string base_url{};  ///< "http://localhost:8000/v1": what comes before /chat/completions
  std::string model{};
  Secret key{};              ///< empty: none is sent
  std::string key_source{};  ///< where the key comes from, for messages: "OPENAI_API_KEY"
  std::optional<double> temperature{};
  std::string reasoning{};  ///< effort: "minimal" "low" "medium" "high"; empty: the server's default
  std::optional<int> max_output_tokens{};
  int max_concurrency = 32;  ///< questions in flight; ignored where a gate is given
  std::optional<Price> price{};
  RetryPolicy retry{};
  /// A model that reasons may be silent for minutes, and the stall limit has to bear it.
  http::Limits limits{.connect = std::chrono::seconds(15),
                      .stall = std::chrono::minutes(5),
                      .total = std::chrono::minutes(30),
                      .body_bytes = std::size_t{32} << 20U};
};

/// The provider alone: one try, no limit on what is in flight. Client and clock must outlive it.
/// @error invalid_argument: an option is missing or out of range; the message names it.
base::Result<std::unique_ptr<ChatProvider>> make_openai_provider(OpenAiOptions options, http::Client& client,
                                                                 Clock& clock);

/// The model as a run uses it: provider, gate, retries. Models of one endpoint should be given the same gate.
/// @error invalid_argument: an option is missing or out of range; the message names it.
base::Result<std::unique_ptr<ChatModel>> make_openai_model(OpenAiOptions options, http::Client& client, Clock& clock,
                                                           std::shared_ptr<Gate> gate = nullptr);

}  // namespace accelopt::llm
