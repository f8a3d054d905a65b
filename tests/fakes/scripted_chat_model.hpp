// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "llm/chat_model.hpp"

namespace accelopt::fakes {

/// A language model that answers from a script and remembers what it was asked. May be called from many threads at
/// once.
class ScriptedChatModel final : public llm::ChatModel {
 public:
  /// Gives the answer to a request; `turn` counts the requests of the same role (the label's first word) from 0.
  using Script = std::function<base::Result<llm::ChatReply>(const llm::ChatRequest& request, std::size_t turn)>;

  /// Answers by role.
  using Answers = std::map<std::string, std::vector<std::string>>;

  explicit ScriptedChatModel(Script script) : script_(std::move(script)) {}

  /// For each role its answers in order, the last one again and again; a role that is not named is an error.
  explicit ScriptedChatModel(Answers answers)
      : ScriptedChatModel([answers = std::move(answers)](const llm::ChatRequest& request,
                                                         std::size_t turn) -> base::Result<llm::ChatReply> {
          const auto found = answers.find(role_of(request));
          if (found == answers.end() || found->second.empty()) {
            return base::fail(base::ErrorCode::unavailable, "the script has no answer for " + request.label);
          }
          return text_reply(found->second[std::min(turn, found->second.size() - 1)]);
        }) {}

  base::Outcome<llm::ChatReply> chat(const llm::ChatRequest& request, std::stop_token stop) override {
    if (stop.stop_requested()) return base::fail(base::ErrorCode::cancelled, "stopped");
    std::size_t turn = 0;
    {
      const std::scoped_lock lock(mutex_);
      requests_.push_back(request);
      turn = turns_[role_of(request)]++;
    }
    return script_(request, turn);
  }
  [[nodiscard]] std::string name() const override { return "scripted"; }

  /// Every request so far, in order of arrival.
  [[nodiscard]] std::vector<llm::ChatRequest> requests() const {
    const std::scoped_lock lock(mutex_);
    return requests_;
  }
  /// How often that role was asked.
  [[nodiscard]] std::size_t calls(const std::string& role) const {
    const std::scoped_lock lock(mutex_);
    const auto found = turns_.find(role);
    return found == turns_.end() ? 0 : found->second;
  }

  /// A complete answer of that text: one call, 100 tokens in, 10 out, 0.001 dollars.
  static llm::ChatReply text_reply(std::string text) {
    llm::ChatReply reply;
    reply.text = std::move(text);
    reply.model = "scripted";
    reply.usage.calls = 1;
    reply.usage.input_tokens = 100;
    reply.usage.output_tokens = 10;
    reply.usage.usd = 0.001;
    return reply;
  }
  /// The first word of the request's label: "planner".
  static std::string role_of(const llm::ChatRequest& request) {
    return request.label.substr(0, request.label.find(' '));
  }

 private:
  Script script_;
  mutable std::mutex mutex_;
  std::vector<llm::ChatRequest> requests_;
  std::map<std::string, std::size_t> turns_;
};

}  // namespace accelopt::fakes
