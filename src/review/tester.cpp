// SPDX-License-Identifier: Apache-2.0
#include "review/tester.hpp"

#include <fmt/format.h>

#include "review/answers.hpp"

namespace accelopt::review {

base::Result<std::vector<refactor::GeneratedTest>> read_tests(std::string_view answer, int count) {
  TRY_ASSIGN(const auto objections, read_objections(answer, "tests", static_cast<std::size_t>(count)));
  std::vector<refactor::GeneratedTest> tests;
  for (const Objection& one : objections) tests.push_back({.why = one.why, .probe = one.probe});
  return tests;
}

base::Outcome<TestAnswer> ask_for_tests(llm::ChatModel& chat, const Subject& subject, int count,
                                        const std::stop_token& stop) {
  std::vector<llm::Message> messages = tests_question(subject, count);
  TestAnswer found;
  for (int attempt = 0; attempt < 2; ++attempt) {
    TRY_ASSIGN(const llm::ChatReply reply, chat.chat({.label = fmt::format("tester tests try{}", attempt),
                                                      .messages = messages,
                                                      .temperature = {},
                                                      .max_output_tokens = {}},
                                                     stop));
    found.usage += reply.usage;
    auto read = read_tests(reply.text, count);
    if (read) {
      found.tests = std::move(*read);
      break;
    }
    messages.push_back({llm::Speaker::assistant, reply.text});
    messages.push_back({llm::Speaker::user, unreadable(read.error().message)});
  }
  return found;
}

}  // namespace accelopt::review
