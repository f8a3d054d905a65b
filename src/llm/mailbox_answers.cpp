// SPDX-License-Identifier: Apache-2.0
#include "llm/mailbox_answers.hpp"

#include <algorithm>
#include <utility>

#include "base/files.hpp"
#include "base/hash.hpp"

namespace accelopt::llm {
namespace {

using base::ErrorCode;
using base::fail;
namespace fs = std::filesystem;

constexpr const char* kQuestion = ".question.md";
constexpr const char* kAnswer = ".answer.md";
constexpr std::size_t kLongestQuestionBytes = std::size_t{64} << 20U;

bool is_answered(const fs::path& folder, const std::string& name) {
  std::error_code problem;
  const auto bytes = fs::file_size(folder / (name + kAnswer), problem);
  return !problem && bytes > 0;
}

/// The messages alone: what the file says of itself before them is for people.
std::string messages_in(const std::string& file) {
  const std::size_t begin = file.find("\n======== ");
  return begin == std::string::npos ? file : file.substr(begin + 1);
}

bool is_name(const std::string& name) {
  constexpr std::size_t kLongest = 200;
  const auto fine = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  };
  return !name.empty() && name.size() <= kLongest && name.front() != '.' && std::ranges::all_of(name, fine);
}

}  // namespace

base::Result<std::vector<MailboxQuestion>> open_questions(const fs::path& folder) {
  std::vector<std::pair<fs::file_time_type, std::string>> found;
  std::error_code problem;
  for (fs::directory_iterator it(folder, problem), end; !problem && it != end; it.increment(problem)) {
    const std::string file = it->path().filename().string();
    if (!file.ends_with(kQuestion)) continue;
    const std::string name = file.substr(0, file.size() - std::string_view(kQuestion).size());
    std::error_code gone;
    const auto time = fs::last_write_time(it->path(), gone);
    if (!gone && !is_answered(folder, name)) found.emplace_back(time, name);
  }
  if (problem && problem != std::errc::no_such_file_or_directory)
    return base::fail_errno(problem.value(), folder.string());
  std::ranges::sort(found);
  std::vector<MailboxQuestion> questions;
  for (const auto& [time, name] : found) {
    TRY_ASSIGN(const std::string text, base::read_foreign_file(folder / (name + kQuestion), kLongestQuestionBytes));
    questions.push_back({name, name.substr(0, name.find('-')), messages_in(text)});
  }
  return questions;
}

base::Result<void> answer_question(const fs::path& folder, const std::string& name, const std::string& text) {
  std::error_code ignored;
  if (!is_name(name) || !fs::exists(folder / (name + kQuestion), ignored))
    return fail(ErrorCode::not_found, "nobody asks a question of that name");
  if (text.find_first_not_of(" \t\r\n\v\f") == std::string::npos)
    return fail(ErrorCode::invalid_argument, "the answer is blank; write the answer, or 'skip' to give none");
  const auto taken = [&] { return fail(ErrorCode::already_exists, "the question " + name + " has an answer already"); };
  if (is_answered(folder, name)) return taken();
  fs::remove(folder / (name + kAnswer), ignored);  // an empty file is no answer
  const fs::path partial = folder / (name + ".partial-" + std::to_string(base::random_seed()));
  TRY(base::write_file(partial, text));
  std::error_code problem;
  fs::create_hard_link(partial, folder / (name + kAnswer), problem);  // unlike a rename, it replaces nothing
  fs::remove(partial, ignored);
  if (problem == std::errc::file_exists) return taken();
  if (problem) return base::fail_errno(problem.value(), (folder / (name + kAnswer)).string());
  return {};
}

}  // namespace accelopt::llm
