// SPDX-License-Identifier: Apache-2.0
#include "review/questions.hpp"

#include <algorithm>

#include "base/hash.hpp"
#include "base/result.hpp"
#include "review/builtin_texts.hpp"

namespace accelopt::review {
namespace {

std::string_view prompt(std::string_view name) {
  const auto files = builtin_prompts();
  const auto found = std::ranges::find(files, name, &BuiltinText::name);
  ACCELOPT_ASSERT(found != files.end(), "a prompt of the reviewer was not built in");
  return found->text;
}

}  // namespace

std::string filled_prompt(std::string_view name, const std::map<std::string, std::string>& places) {
  const std::string_view text = prompt(name);
  std::string filled;
  std::size_t at = 0;
  // What is put in is not looked at again: a change may hold the name of a place.
  while (at < text.size()) {
    const std::size_t open = std::min(text.find("{{", at), text.size());
    filled += text.substr(at, open - at);
    if (open == text.size()) break;
    const std::size_t close = text.find("}}", open);
    ACCELOPT_ASSERT(close != text.npos, "a place of a prompt has no end");
    const auto place = places.find(std::string(text.substr(open + 2, close - open - 2)));
    ACCELOPT_ASSERT(place != places.end(), "a place of a prompt has no value");
    filled += place->second;
    at = close + 2;
  }
  return filled;
}

std::string fenced(std::string_view text, std::string_view language) {
  std::string fence = "```";
  while (text.find(fence) != text.npos) fence += '`';
  std::string out = fence + std::string(language) + "\n" + std::string(text);
  if (!out.ends_with('\n')) out += '\n';
  return out + fence;
}

std::vector<llm::Message> opinion_question(const Subject& subject, const std::string& change) {
  return {{llm::Speaker::system, filled_prompt("opinion.system.txt", {{"objection_form", subject.objection_form}})},
          {llm::Speaker::user, filled_prompt("opinion.user.txt", {{"language", subject.language.name},
                                                                  {"base", fenced(subject.base, "")},
                                                                  {"change", fenced(change, "diff")},
                                                                  {"how_to_object", subject.how_to_object}})}};
}

std::vector<llm::Message> pair_question(const Subject& subject, const std::pair<std::string, std::string>& letters,
                                        const std::string& first_change, const std::string& second_change) {
  return {{llm::Speaker::system, filled_prompt("pair.system.txt", {})},
          {llm::Speaker::user, filled_prompt("pair.user.txt", {{"language", subject.language.name},
                                                               {"base", fenced(subject.base, "")},
                                                               {"first", letters.first},
                                                               {"first_change", fenced(first_change, "diff")},
                                                               {"second", letters.second},
                                                               {"second_change", fenced(second_change, "diff")}})}};
}

std::vector<llm::Message> readable_question(const Subject& subject, const std::pair<std::string, std::string>& letters,
                                            const std::string& first_text, const std::string& second_text) {
  return {{llm::Speaker::system, filled_prompt("readable.system.txt", {})},
          {llm::Speaker::user, filled_prompt("readable.user.txt", {{"language", subject.language.name},
                                                                   {"first", letters.first},
                                                                   {"first_text", fenced(first_text, "")},
                                                                   {"second", letters.second},
                                                                   {"second_text", fenced(second_text, "")}})}};
}

std::string unreadable(std::string_view why) {
  return "This answer cannot be read: " + std::string(why) +
         ". Give the whole answer again, in the form that was asked for.";
}

std::vector<llm::Message> tests_question(const Subject& subject, int count) {
  return {{llm::Speaker::system, filled_prompt("tests.system.txt", {{"count", std::to_string(count)},
                                                                    {"objection_form", subject.objection_form}})},
          {llm::Speaker::user, filled_prompt("tests.user.txt", {{"language", subject.language.name},
                                                                {"base", fenced(subject.base, "")},
                                                                {"how_to_object", subject.how_to_object}})}};
}

std::pair<std::string, std::string> letters_of(std::uint64_t seed, std::string_view label) {
  // None that stands for a grade, a truth or a place.
  constexpr std::string_view kLetters = "GHJKMPQRVWXZ";
  const std::uint64_t drawn = base::derive_seed(seed, std::string("letters ") + std::string(label));
  const std::size_t first = drawn % kLetters.size();
  const std::size_t second = (first + 1 + (drawn >> 8U) % (kLetters.size() - 1)) % kLetters.size();
  return {std::string(1, kLetters[first]), std::string(1, kLetters[second])};
}

std::string prompts_hash() {
  std::string all;
  for (const BuiltinText& file : builtin_prompts()) {
    if (!file.name.starts_with("tests.") && !file.name.starts_with("readable."))
      all += std::string(file.name) + '\0' + std::string(file.text) + '\0';  // no calibration asks the others
  }
  return base::sha256_hex(all);
}

}  // namespace accelopt::review
