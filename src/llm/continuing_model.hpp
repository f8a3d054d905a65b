// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "llm/chat_model.hpp"

namespace accelopt::llm {

/// What is done about an answer that was cut at the limit of its length.
struct ContinuePolicy {
  int most_parts = 3;                      ///< questions for one answer in all, the first one included
  std::optional<int> max_output_tokens{};  ///< the limit that requests without one of their own are under, where known
  int most_output_tokens = 128'000;        ///< a limit is doubled up to here
};

/// A model that has the rest of a cut answer said: a follow-up question with what there is asks it to go on, and the
/// parts are joined. An answer of which nothing was said, because reasoning took the whole limit, is asked for again
/// with twice the limit, where the limit is known. What is cut even so, or whose rest the server refuses to be asked
/// for, stays `cut_by_length`, for whoever asked to refuse: no part is ever passed off as a whole. Each part is a
/// question of its own to the inner model, labelled "LABEL part1", ...; the reply's usage is that of all of them. The
/// inner model must outlive it.
std::unique_ptr<ChatModel> make_continuing_model(ChatModel& model, ContinuePolicy policy = {});

/// `first` with what a model said when it was asked to go on: an unfinished last line that it began again is not
/// repeated, and a code fence that it opened although one is open is left out.
std::string join_parts(std::string first, std::string_view rest);

}  // namespace accelopt::llm
