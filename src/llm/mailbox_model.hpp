// SPDX-License-Identifier: Apache-2.0
// A folder as a model: one file a question, one file an answer. Whoever can read and write files can play the model.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "llm/chat_model.hpp"
#include "llm/clock.hpp"

namespace accelopt::llm {

/// What is done while there is no answer.
enum class Unanswered {
  wait,     ///< looks for it again and again until it is there
  put_off,  ///< the question is put off
};

struct MailboxOptions {
  std::filesystem::path folder{};
  std::string name = "mailbox";  ///< who answers, for the record
  Unanswered unanswered = Unanswered::wait;
  std::chrono::milliseconds look_every{200};  ///< while it waits
  /// Told of an answer's file that is there and holds nothing: at once where the question is put off, and once where
  /// it still does after kBlankPatience. Called from any thread.
  std::function<void(const std::filesystem::path&)> blank{};
};

/// How long a file may stay empty before somebody is told: a writer that opens it first fills it within this time.
constexpr std::chrono::seconds kBlankPatience{2};

/// Writes the question to FOLDER/NAME.question.md and takes the answer from FOLDER/NAME.answer.md, where NAME is the
/// question's label and a part of the hash of its messages: the same question always has the same name, so an answer is
/// found by a later run too, and never taken for another question. Both are written at once and never half: whoever
/// answers writes to another name and renames. A file that holds nothing but white space, or still grows while the
/// model waits, is no answer yet. The model's errors: permission_denied, exhausted, io, not_found: the folder cannot be
/// used. @error the same, of the folder.
base::Result<std::unique_ptr<ChatModel>> make_mailbox_model(MailboxOptions options, Clock& clock);

/// The name that a question's files begin with.
std::string mailbox_name(const ChatRequest& request);

}  // namespace accelopt::llm
