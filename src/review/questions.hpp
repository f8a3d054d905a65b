// SPDX-License-Identifier: Apache-2.0
// The reviewer's questions, filled in from its prompts. Pure functions.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "llm/chat_model.hpp"
#include "refactor/languages.hpp"

namespace accelopt::review {

/// What every question about one task has in common.
struct Subject {
  refactor::CodeLanguage language;
  std::string base;           ///< the code as it was, as it is shown
  std::string how_to_object;  ///< the forms of an objection, with the driver's text
  std::string objection_form{"\"cases\": ..."};
};

/// `change`: the diff as it is shown.
std::vector<llm::Message> opinion_question(const Subject& subject, const std::string& change);
std::vector<llm::Message> pair_question(const Subject& subject, const std::pair<std::string, std::string>& letters,
                                        const std::string& first_change, const std::string& second_change);

/// Which of two texts is easier to read.
std::vector<llm::Message> readable_question(const Subject& subject, const std::pair<std::string, std::string>& letters,
                                            const std::string& first_text, const std::string& second_text);

/// At most `count` tests of the base are asked for.
std::vector<llm::Message> tests_question(const Subject& subject, int count);
/// What is said to an answer that cannot be read.
std::string unreadable(std::string_view why);

/// Two letters for the question of this label; the same for the same seed and label.
std::pair<std::string, std::string> letters_of(std::uint64_t seed, std::string_view label);

/// The text of a prompt with its places filled in.
std::string filled_prompt(std::string_view name, const std::map<std::string, std::string>& places);
/// The text in a fence that is longer than any in it.
std::string fenced(std::string_view text, std::string_view language);
/// A hash of the prompts by which a reviewer is calibrated.
std::string prompts_hash();

}  // namespace accelopt::review
