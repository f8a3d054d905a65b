// SPDX-License-Identifier: Apache-2.0
// One try at one question. Providers know their wire format and nothing of patience: retrying (retry.hpp) and the limit
// on what is in flight (gate.hpp) are put around them, the same for every provider.
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>

#include "base/result.hpp"
#include "llm/chat_model.hpp"

namespace accelopt::llm {

/// A server that asks for more patience than this is given up: nobody waits for it.
inline constexpr std::chrono::milliseconds kLongestRetryAfter{600'000};

/// A run that seems to stand still for longer than this should say why.
inline constexpr std::chrono::milliseconds kWorthANotice{10'000};

/// Whether the same question may be tried again after a failure.
enum class Again {
  never,  ///< it would fail the same way
  once,   ///< it cost a whole time limit: one more try is all it gets
  yes,
};

/// Why one try gave no answer.
struct Failure {
  base::Error error;
  Again again = Again::never;
  std::optional<std::chrono::milliseconds> retry_after{};  ///< the server asked for this much patience
  bool answered = true;                                    ///< false: nothing at all came from the server
  model::Usage used{};  ///< by a try that broke off: told by the server, or estimated
};

class ChatProvider {
 public:
  virtual ~ChatProvider() = default;
  /// Asks once and blocks until the whole answer is there. May be called from many threads at once.
  virtual tl::expected<ChatReply, Failure> ask(const ChatRequest& request, std::stop_token stop) = 0;
  /// The model's name.
  [[nodiscard]] virtual std::string name() const = 0;
};

}  // namespace accelopt::llm
