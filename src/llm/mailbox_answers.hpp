// SPDX-License-Identifier: Apache-2.0
// The other side of a mailbox (mailbox_model.hpp): whoever answers its questions from within a program.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace accelopt::llm {

struct MailboxQuestion {
  std::string name;  ///< as mailbox_name gives it
  std::string role;  ///< "planner"
  std::string text;  ///< all messages, each below a line that says who speaks
};

/// Questions without an answer, oldest first; none where there is no such folder. @error io, permission_denied.
base::Result<std::vector<MailboxQuestion>> open_questions(const std::filesystem::path& folder);

/// Answers a question, word for word. @error not_found: nobody asks it; already_exists: it has an answer;
/// invalid_argument: the answer is blank; as base::write_file.
base::Result<void> answer_question(const std::filesystem::path& folder, const std::string& name,
                                   const std::string& text);

}  // namespace accelopt::llm
