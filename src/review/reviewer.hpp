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
/// changes: two diffs of one text, and which is to be merged. texts: two texts, and which is easier to read.
enum class PairOf { changes, texts };
struct PairTask {
  const Subject* subject = nullptr;
  std::string first;
  std::string second;
  bool swapped = false;  ///< the second is shown first
  int draw = 0;
  PairOf of = PairOf::changes;
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

/// What both orders say of an old text and a new one: which both prefer. equal: neither, or an answer was unreadable.
struct ReadableOpinion {
  Better better = Better::equal;  ///< first: the old one
  model::Usage usage;
};
/// Asks which is easier to read, in both orders. @error as ask_all.
base::Outcome<ReadableOpinion> ask_readable(const Asking& asking, const Subject& subject, const std::string& old_text,
                                            const std::string& new_text);

}  // namespace accelopt::review
