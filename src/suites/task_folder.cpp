// SPDX-License-Identifier: Apache-2.0
#include "suites/task_folder.hpp"

#include <algorithm>
#include <optional>
#include <system_error>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "model/target_description.hpp"
#include "suites/task_reader.hpp"
#include "suites/task_writer.hpp"

namespace accelopt::suites {

using base::Error;
using base::ErrorCode;
using base::fail;
using base::Problem;
using base::Result;
namespace fs = std::filesystem;

namespace {

/// The most bytes of a file of a task: what people write is far below, and what is above is no text.
constexpr std::size_t kMostTomlBytes = std::size_t{1} << 20;
constexpr std::size_t kMostSourceBytes = std::size_t{1} << 20;
constexpr std::size_t kMostHintsBytes = std::size_t{64} << 10;
/// The extension of a reference that runs on the device.
constexpr std::string_view kDeviceReference = ".cu";

/// Extensions of a target's baselines, the usual one first.
std::vector<std::string> baseline_suffixes(const model::TargetDescription& target) {
  std::vector<std::string> out;
  for (const model::LanguageDescription& language : target.languages) out.push_back(language.suffixes.front());
  return out;
}

/// What was read of a task, and what is wrong with it.
struct Reading {
  fs::path toml;
  model::Task task;
  std::vector<Problem> problems;
  std::size_t missing_files = 0;      ///< problems that are nothing but a missing file
  ErrorCode code = ErrorCode::parse;  ///< of the whole when there are problems
};

std::string alternatives(std::string_view stem, const std::vector<std::string>& extensions) {
  return base::joined(extensions, " or ", [&](const std::string& extension) { return std::string(stem) + extension; });
}

/// The one file of the folder named stem + extension; records a problem when there is none or more than one.
std::optional<model::SourceFile> read_source(Reading& reading, const std::string& stem, std::string_view what,
                                             const std::vector<std::string>& extensions) {
  const fs::path folder = reading.toml.parent_path();
  std::vector<std::string> found;
  for (const std::string& extension : extensions) {
    std::error_code ignored;
    // A link counts whatever it leads to: it is refused by name.
    if (fs::exists(fs::symlink_status(folder / (stem + extension), ignored))) found.push_back(stem + extension);
  }
  const auto refuse = [&](const std::string& name, std::string message) {
    reading.problems.push_back({0, "", std::move(message), (folder / name).string()});
    return std::nullopt;
  };
  if (found.empty()) {
    ++reading.missing_files;
    return refuse(stem + extensions.front(),
                  "no such file; put " + std::string(what) + " there (" + alternatives(stem, extensions) + ")");
  }
  if (found.size() > 1) return refuse(found[1], "stands beside " + found[0] + "; keep one of them");
  auto text = base::read_foreign_file(folder / found[0], kMostSourceBytes);
  if (!text) return refuse(found[0], text.error().message);
  if (const std::size_t at = text->find(kToBeFilledIn); at != std::string::npos) {
    const auto line = 1 + std::count(text->begin(), text->begin() + static_cast<std::ptrdiff_t>(at), '\n');
    reading.problems.push_back({static_cast<int>(line), "",
                                "has to be filled in: put " + std::string(what) + " there, and take this line out",
                                (folder / found[0]).string()});
    return std::nullopt;
  }
  if (text->find_first_not_of(" \t\r\n") == std::string::npos) {
    return refuse(found[0], "is empty; put " + std::string(what) + " there");
  }
  return model::SourceFile{found[0], std::move(*text)};
}

/// The extensions that a reference is looked for with: one place's alone, if the folder holds one for each.
std::vector<std::string> reference_suffixes(const fs::path& folder, const model::TargetDescription& target,
                                            ReferenceRuns runs) {
  std::vector<std::string> here;
  std::vector<std::string> elsewhere;
  for (const std::string& suffix : target.reference_suffixes) {
    const bool suits = (suffix == kDeviceReference) == (runs == ReferenceRuns::on_device);
    (suits ? here : elsewhere).push_back(suffix);
  }
  const auto exists = [&](const std::string& suffix) {
    std::error_code ignored;
    return fs::exists(fs::symlink_status(folder / ("reference" + suffix), ignored));
  };
  const bool both = std::ranges::any_of(here, exists) && std::ranges::any_of(elsewhere, exists);
  return both && !target.interpreter.empty() ? here : target.reference_suffixes;
}

void read_sources(Reading& reading, const std::string& derived_reference, ReferenceRuns runs) {
  const model::TargetDescription& target = model::target_of(reading.task);
  const auto suffixes = reference_suffixes(reading.toml.parent_path(), target, runs);
  if (auto source = read_source(reading, "reference", "the trusted reference", suffixes)) {
    reading.task.derived_reference = !derived_reference.empty() && base::sha256_hex(source->text) == derived_reference;
    reading.task.reference = std::move(*source);
  }
  if (auto source = read_source(reading, "baseline", "the kernel to beat", baseline_suffixes(target))) {
    const auto language = model::language_of_file(source->name, target);
    ACCELOPT_ASSERT(language.has_value(), "an extension of a baseline without a language");
    reading.task.baseline = {*language, {std::move(*source)}};
  }
}

void read_hints(Reading& reading) {
  const fs::path file = reading.toml.parent_path() / "hints.md";
  auto text = base::read_foreign_file(file, kMostHintsBytes);
  if (text) {
    reading.task.hints = std::move(*text);
  } else if (text.error().code != ErrorCode::not_found) {
    reading.problems.push_back({0, "", text.error().message, file.string()});
  }
}

/// The problem of a task.toml that cannot be read.
Problem unreadable(const fs::path& given, const fs::path& toml, const Error& error) {
  if (error.code != ErrorCode::not_found) return {0, "", error.message, ""};
  std::error_code ignored;
  if (given == toml || fs::is_directory(given, ignored)) {
    return {0, "", "no such file; a task is a folder with a task.toml", toml.string()};
  }
  if (fs::exists(given, ignored)) {
    return {0, "", "a file and no task; make one from a function in it with `accelopt init`, and give its folder",
            given.string()};
  }
  return {0, "", "no such folder; give the folder of a task", given.string()};
}

Reading read_folder(const fs::path& folder_or_toml, ReferenceRuns runs = ReferenceRuns::on_device) {
  Reading reading;
  std::error_code ignored;
  const bool names_file = folder_or_toml.extension() == ".toml" && !fs::is_directory(folder_or_toml, ignored);
  reading.toml = names_file ? folder_or_toml : folder_or_toml / "task.toml";
  const auto text = base::read_foreign_file(reading.toml, kMostTomlBytes);
  if (!text) {
    reading.code = text.error().code;
    reading.problems.push_back(unreadable(folder_or_toml, reading.toml, text.error()));
    return reading;
  }
  TaskText parsed = read_task_toml(*text);
  reading.task = std::move(parsed.task);
  reading.problems = std::move(parsed.problems);
  if (model::find_target(reading.task.target) != nullptr) read_sources(reading, parsed.derived_reference, runs);
  read_hints(reading);
  if (reading.missing_files == reading.problems.size()) reading.code = ErrorCode::not_found;
  return reading;
}

}  // namespace

Result<model::Task> load_task(const fs::path& folder_or_toml, ReferenceRuns reference) {
  Reading reading = read_folder(folder_or_toml, reference);
  if (reading.problems.empty()) return std::move(reading.task);
  // A message is read by somebody: what comes first tells what is wrong, and `accelopt lint` tells all.
  constexpr std::size_t kMostProblems = 50;
  constexpr std::size_t kLongestProblem = 1000;
  const std::size_t left_out = reading.problems.size() - std::min(reading.problems.size(), kMostProblems);
  reading.problems.resize(reading.problems.size() - left_out);
  std::string message = base::joined(reading.problems, "\n", [&](const Problem& problem) {
    const std::string text = to_string(problem, reading.toml.string());
    if (text.size() <= kLongestProblem) return text;
    std::size_t end = kLongestProblem;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // within a character
    return text.substr(0, end) + " ...";
  });
  if (left_out > 0) message += "\nand " + std::to_string(left_out) + " more";
  return fail(reading.code, std::move(message));
}

std::optional<std::vector<std::string>> entry_flags(const fs::path& folder_or_toml) {
  std::error_code ignored;
  const bool is_folder = fs::is_directory(folder_or_toml, ignored);
  const auto text = base::read_file(is_folder ? folder_or_toml / "task.toml" : folder_or_toml);
  return text ? read_task_toml(*text).entry_flags : std::nullopt;
}

std::vector<Problem> task_problems(const fs::path& folder_or_toml) {
  Reading reading = read_folder(folder_or_toml);
  for (Problem& problem : reading.problems) {
    if (problem.file.empty()) problem.file = reading.toml.string();
  }
  return std::move(reading.problems);
}

Result<void> write_task(const model::Task& task, const fs::path& folder) {
  if (task.baseline.sources.size() != 1) {
    return fail(ErrorCode::unsupported, folder.string() + ": a task folder holds a baseline of one source file, not " +
                                            std::to_string(task.baseline.sources.size()));
  }
  TRY(base::make_folders(folder));
  const model::SourceFile& baseline = task.baseline.sources.front();
  const std::string baseline_name = "baseline" + fs::path(baseline.name).extension().string();
  const std::string reference_name = "reference" + fs::path(task.reference.name).extension().string();
  TRY(base::write_file(folder / reference_name, task.reference.text));
  TRY(base::write_file(folder / baseline_name, baseline.text));
  std::error_code ignored;
  if (task.hints.empty()) {
    fs::remove(folder / "hints.md", ignored);
  } else {
    TRY(base::write_file(folder / "hints.md", task.hints));
  }
  // A file that an earlier task left under another extension would make the folder ambiguous.
  const model::TargetDescription& target = model::target_of(task);
  for (const std::string& extension : baseline_suffixes(target)) {
    if ("baseline" + extension != baseline_name) fs::remove(folder / ("baseline" + extension), ignored);
  }
  for (const std::string& extension : target.reference_suffixes) {
    if ("reference" + extension != reference_name) fs::remove(folder / ("reference" + extension), ignored);
  }
  return base::write_file(folder / "task.toml", format_task_toml(task));
}

Result<std::vector<fs::path>> find_suite_tasks(const fs::path& folder) {
  std::error_code problem;
  std::vector<fs::path> tasks;
  for (fs::directory_iterator entry(folder, problem), end; !problem && entry != end; entry.increment(problem)) {
    std::error_code ignored;
    if (fs::is_regular_file(entry->path() / "task.toml", ignored)) tasks.push_back(entry->path());
  }
  if (problem) return base::fail_errno(problem.value(), "cannot list the suite " + folder.string());
  if (tasks.empty()) {
    return fail(ErrorCode::not_found,
                folder.string() + ": no task in it; a suite is a folder whose sub-folders hold a task.toml each");
  }
  std::sort(tasks.begin(), tasks.end(),
            [](const fs::path& a, const fs::path& b) { return a.filename().string() < b.filename().string(); });
  return tasks;
}

}  // namespace accelopt::suites
