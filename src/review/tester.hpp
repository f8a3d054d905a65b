// SPDX-License-Identifier: Apache-2.0
// Asks a model for behavioural tests of the base. It is shown nothing else.
#pragma once

#include <stop_token>
#include <string_view>
#include <vector>

#include "base/outcome.hpp"
#include "llm/chat_model.hpp"
#include "model/usage.hpp"
#include "refactor/generated_tests.hpp"
#include "review/questions.hpp"

namespace accelopt::review {

struct TestAnswer {
  std::vector<refactor::GeneratedTest> tests;  ///< none: there was no readable answer, asked twice
  model::Usage usage;
};

/// At most `count` tests. An unreadable answer is asked for once more with the reason. @error as ChatModel::chat.
base::Outcome<TestAnswer> ask_for_tests(llm::ChatModel& chat, const Subject& subject, int count,
                                        const std::stop_token& stop);

/// @error parse: it is no answer of that form; the message says what is wrong.
base::Result<std::vector<refactor::GeneratedTest>> read_tests(std::string_view answer, int count);

}  // namespace accelopt::review
