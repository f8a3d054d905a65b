// SPDX-License-Identifier: Apache-2.0
// Asks a model about changes: all questions at once, none of which depends on another's answer.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/outcome.hpp"
#include "llm/chat_model.hpp"
#include "model/usage.hpp"
#include "review/answers.hpp"
#include "review/decision.hpp"
#include "review/questions.hpp"

namespace accelopt::review {

/// One question that is to be asked, and how its answer is read.
struct OpinionTask {
  const Subject* subject = nullptr;
  std::string change;              ///< the diff as it is shown
  std::optional<Opinion> opinion;  ///< the answer; none: it could not be read, asked twice
};
struct PairTask {
  const Subject* subject = nullptr;
  std::string first;
  std::string second;
  bool swapped = false;  ///< the second is shown first
  int draw = 0;
  std::optional<PairAnswer> answer;  ///< as shown
};

struct Asking {
  llm::ChatModel* chat = nullptr;
  std::uint64_t seed = 0;  ///< of letters and labels
  std::stop_token stop{};
  int at_once = 8;
  std::function<void(std::size_t questions)> put_off = [](std::size_t) {};
  std::function<void(std::size_t done, std::size_t of)> progress = [](std::size_t, std::size_t) {};
};

/// Fills in the answers; an unreadable one is asked for once more with the reason.
/// Put off: so many answers are not there yet; each question has been put. As ChatModel::chat.
base::Outcome<model::Usage> ask_all(const Asking& asking, std::vector<OpinionTask>& opinions,
                                    std::vector<PairTask>& pairs);

}  // namespace accelopt::review
