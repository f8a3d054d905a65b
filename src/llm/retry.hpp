// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "llm/chat_model.hpp"
#include "llm/clock.hpp"
#include "llm/provider.hpp"

namespace accelopt::llm {

/// How patient to be with a failing endpoint.
struct RetryPolicy {
  int max_tries = 8;          ///< in all, the first one included
  int max_tries_unheard = 4;  ///< of an endpoint from which nothing has ever come: it may not be there
  std::chrono::milliseconds first_wait{1'000};     ///< most that is waited before the second try; doubles with each
  std::chrono::milliseconds longest_wait{60'000};  ///< where the doubling ends
  /// A server that asks for more is given up on at once.
  std::chrono::milliseconds longest_retry_after = kLongestRetryAfter;
  /// Told before each wait for an endpoint never heard from, and before long ones.
  std::function<void(const std::string&)> notice{};
  std::uint64_t seed = 0;  ///< of the jitter: clients of one endpoint need different ones, or they come back in step
};

/// A model that tries a provider again where that may help: each wait is drawn evenly from zero to the doubling limit
/// (full jitter), and is never shorter than the server asked for. Retries are counted in the reply's usage, and so is
/// what tries used that broke off. The clock must outlive it.
std::unique_ptr<ChatModel> make_retrying_model(std::unique_ptr<ChatProvider> provider, RetryPolicy policy,
                                               Clock& clock);

}  // namespace accelopt::llm
