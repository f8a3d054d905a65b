// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/names.hpp"
#include "base/outcome.hpp"
#include "model/usage.hpp"

namespace accelopt::llm {

enum class Speaker { system, user, assistant };
/// As recordings and most APIs name them.
inline constexpr auto kSpeakerNames = std::to_array<base::Named<Speaker>>(
    {{Speaker::user, "user"}, {Speaker::system, "system"}, {Speaker::assistant, "assistant"}});

struct Message {
  Speaker speaker = Speaker::user;
  std::string text;
};

/// One question. `label` is its identity in the run ("planner i0.b1.p2 try0"): equal prompts with other labels are
/// other questions.
struct ChatRequest {
  std::string label;
  std::vector<Message> messages;
  std::optional<double> temperature;
  std::optional<int> max_output_tokens;
  /// Called before chat() returns without an answer, with what the question used all the same. Not called where nothing
  /// was used.
  std::function<void(const model::Usage&)> on_unanswered{};
  /// Called with what a try used that gave no answer, before it is tried again; false: it is not. Not called where
  /// nothing was used.
  std::function<bool(const model::Usage&)> may_try_again{};
};

enum class Finish { complete, cut_by_length, filtered };

struct ChatReply {
  std::string text;
  Finish finish = Finish::complete;
  std::string model;   ///< as the server names it
  model::Usage usage;  ///< one call
};

/// A language model that answers chats. May be called from many threads at once.
class ChatModel {
 public:
  virtual ~ChatModel() = default;
  /// Blocks until the whole answer is there, retrying what can be retried.
  /// @error unauthenticated: 401 403; quota_exceeded: the account has no credit left; invalid_argument: 400 404 413
  /// 422;
  ///        rate_limited, unavailable: still failing after all retries;
  ///        timed_out: a stall or the total limit. Ending: `stop` was asked for. Put off: whoever answers has not yet.
  virtual base::Outcome<ChatReply> chat(const ChatRequest& request, std::stop_token stop) = 0;
  /// The name to record with what it writes.
  [[nodiscard]] virtual std::string name() const = 0;
};

}  // namespace accelopt::llm
