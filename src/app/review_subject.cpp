// SPDX-License-Identifier: Apache-2.0
// What a reviewer is shown of a refactoring task.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "app/review.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "refactor/functions.hpp"
#include "review/normalize.hpp"

namespace accelopt::app {
namespace {

namespace fs = std::filesystem;
using base::Result;

constexpr std::ptrdiff_t kMostWholeFileLines = 200;
constexpr std::size_t kMostFileBytes = 8UL << 10;
constexpr std::size_t kMostSampleBytes = 1UL << 10;

/// Whether a file of the task's folder is none of the driver's: a change that lies there would be known by its text.
bool is_change(const fs::path& file) {
  return file.extension() == ".diff" || file.extension() == ".patch";
}

/// The functions in scope of a file that is long; all of a file that is not.
Result<std::string> shown_base(const refactor::Task& task, const std::string& path, const std::string& text) {
  const std::string whole = review::normalized(task.language, text);
  std::string functions;
  for (const refactor::Scope& scope : task.scope) {
    if (scope.path != path || scope.function.empty()) continue;
    TRY_ASSIGN(const auto place, refactor::find_function(task.language, text, scope.function));
    const auto lines = refactor::lines_of(task.language, text);
    functions += review::normalized(task.language, refactor::text_of(lines, place.first, place.last));
  }
  const bool is_short = std::ranges::count(whole, '\n') <= kMostWholeFileLines;
  return is_short || functions.empty() ? whole : functions;
}

std::string clipped(std::string_view text, std::size_t most) {
  return text.size() <= most ? std::string(text) : std::string(text.substr(0, most)) + "\n(cut here)\n";
}

}  // namespace

Result<review::Subject> subject_of(refactor::Checker& checker, const std::vector<std::string>& paths) {
  review::Subject subject;
  subject.language = checker.task().language;
  for (const std::string& path : paths) {
    const auto text = checker.base_text(path);
    if (!text && text.error().code == base::ErrorCode::not_found) continue;  // a change made it
    if (!text) return tl::make_unexpected(text.error());
    TRY_ASSIGN(const std::string shown, shown_base(checker.task(), path, *text));
    subject.base += (paths.size() > 1 ? path + "\n" : "") + shown;
  }
  const auto sample = checker.sample_cases(2, 2);
  subject.how_to_object = how_to_object(checker.task(), sample ? *sample : "");
  subject.objection_form = "\"cases\" or \"generate\"";
  if (refactor::runs_scripts(checker.task().language)) subject.objection_form += " or \"script\"";
  subject.objection_form += ": ...";
  return subject;
}

Result<std::string> shown_change(const refactor::Checker& checker, const refactor::CheckResult& result) {
  std::map<std::string, std::string> before;
  std::map<std::string, std::string> after;
  for (const auto& [path, text] : result.files) {
    const auto old = checker.base_text(path);
    if (old) before[path] = review::normalized(checker.task().language, *old);
    after[path] = review::normalized(checker.task().language, text);
  }
  return review::normalized_diff(before, after);
}

std::string how_to_object(const refactor::Task& task, std::string_view sample) {
  std::string text = fmt::format(
      "The driver reads a file of cases, calls the code on each, and writes what it gave; results are compared as {}.\n"
      "\"cases\": the whole file of cases, as a JSON string of its text",
      task.compare == refactor::Compare::json ? "JSON values" : "bytes");
  if (base::parse_json(sample, "cases")) text += ", or, as this driver reads JSON, the JSON value itself";
  text += ".\n";
  if (!task.workloads.empty()) {
    text += fmt::format(
        "\"generate\": {{\"workload\": W, \"size\": N, \"count\": N, \"seed\": N}}: what the generator writes, with W "
        "one "
        "of {}.\n",
        base::joined(task.workloads, ", ", [](const refactor::Workload& one) { return one.name; }));
  }
  if (refactor::runs_scripts(task.language)) {
    text +=
        "\"script\": a program that calls the code and prints what it gives, for what the driver cannot call. It runs "
        "in the folder of the repository, whose files it imports by itself, and must print the same each time with the "
        "old code.";
    // Run as probe.mjs, in which `require` is not defined.
    if (task.language.form == refactor::FunctionForm::braces)
      text +=
          " It is an ES module in another folder: load them by createRequire(process.cwd() + \"/\") of node:module, or "
          "by import() of a path that begins with process.cwd().";
    text += "\n";
  }
  if (!sample.empty())
    text += "\nA file of cases as the generator writes it:\n" + review::fenced(clipped(sample, kMostSampleBytes), "") +
            "\n";
  std::vector<fs::path> files;
  std::error_code failed;
  for (fs::directory_iterator entry(task.folder, failed); !failed && entry != fs::directory_iterator();
       entry.increment(failed)) {
    if (entry->is_regular_file(failed) && !entry->is_symlink(failed) && entry->path() != task.file &&
        !is_change(entry->path()))
      files.push_back(entry->path());
  }
  std::ranges::sort(files);
  for (const fs::path& file : files) {
    const auto content = base::read_foreign_file(file, 1UL << 20);
    if (!content || content->find('\0') != std::string::npos) continue;
    text += "\n" + file.filename().string() + ":\n" + review::fenced(clipped(*content, kMostFileBytes), "") + "\n";
  }
  return text;
}

}  // namespace accelopt::app
