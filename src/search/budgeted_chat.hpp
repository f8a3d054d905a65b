// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "llm/chat_model.hpp"
#include "llm/price.hpp"
#include "search/budget.hpp"

namespace accelopt::search {

/// What a model's questions are paid with.
struct ChatTerms {
  std::optional<llm::Price> price;       ///< none: unknown
  std::optional<int> max_output_tokens;  ///< of one answer, where the model has a limit
  /// Keeps what a question used that got no answer, so that a resumed run has paid for it; may be empty.
  std::function<base::Result<void>(const llm::ChatRequest&, const model::Usage&)> keep_unanswered{};
};

/// A chat model that reserves what a question may take before it asks: the prompt's tokens, and for the answer the most
/// that answers of this role were so far and a half, or the model's limit if that is less. What the answer used takes
/// the place of the reservation; where a server tells no tokens, they are estimated from the texts and said to be
/// (Usage::estimated_calls). What a question used that got no answer is filed as well, and kept. A question in flight
/// is broken off when the budget's time is up. Both outlive it.
/// @error as the model, or as keep_unanswered; cancelled: the budget is used up.
std::unique_ptr<llm::ChatModel> make_budgeted_chat(llm::ChatModel& model, const ChatTerms& terms, Budget& budget);

}  // namespace accelopt::search
