// SPDX-License-Identifier: Apache-2.0
// Runs whose roles are played by whoever started them from within a program: the mailbox behind another door.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/run.hpp"
#include "base/result.hpp"
#include "llm/mailbox_answers.hpp"

namespace accelopt::app {

/// Has the caller play the roles of a run that is about to begin: `flags` name a mailbox of the run's own.
void let_client_answer(AgentFlags& flags, const std::filesystem::path& workspace, const std::string& client);

/// The questions of a run that nobody has answered yet, oldest first. @error invalid_argument: its roles are played by
/// others; as Journal::find_run and llm::open_questions.
base::Result<std::vector<llm::MailboxQuestion>> questions_of_run(const std::filesystem::path& workspace,
                                                                 const std::string& run);

/// @error as questions_of_run and llm::answer_question.
base::Result<void> answer_question_of_run(const std::filesystem::path& workspace, const std::string& run,
                                          const std::string& question, const std::string& text);

}  // namespace accelopt::app
