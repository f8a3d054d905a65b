// SPDX-License-Identifier: Apache-2.0
#include "app/build_trial.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <string_view>

#include "app/target.hpp"
#include "model/kernel.hpp"
#include "syntax/diagnostic_text.hpp"
#include "targets/cpu/build.hpp"
#include "targets/cpu/description.hpp"

namespace accelopt::app {
namespace {

using base::Problem;
using base::Result;

constexpr std::size_t kMostErrors = 20;  ///< of one file: the first ones cause the others

/// A line that reports an error: where it is, and what it says.
std::optional<Problem> error_of(std::string_view line, const std::string& file) {
  for (const std::string_view mark : {": fatal error: ", ": error: "}) {
    const std::size_t at = line.find(mark);
    if (at == std::string_view::npos) continue;
    Problem problem{0, "", std::string(line.substr(at + mark.size())), file};
    const std::size_t colon = line.substr(0, at).find(':');
    if (colon != std::string_view::npos) std::from_chars(line.data() + colon + 1, line.data() + at, problem.line);
    return problem;
  }
  return std::nullopt;
}

/// The path of a source as the user knows it; `folder` may be the task.toml in it.
std::string path_in(const std::filesystem::path& folder, const std::string& name) {
  std::error_code ignored;
  return ((std::filesystem::is_directory(folder, ignored) ? folder : folder.parent_path()) / name).string();
}

}  // namespace

std::vector<Problem> compiler_problems(const std::string& output, const std::string& file) {
  std::vector<Problem> problems;
  for (const std::string_view line : syntax::lines_of(output)) {
    auto problem = error_of(line, file);
    if (problem && problems.size() < kMostErrors) problems.push_back(std::move(*problem));
  }
  if (!problems.empty()) return problems;
  // Of a linker, or of a compiler that was ended.
  const auto lines = syntax::lines_of(output);
  const auto first = std::ranges::find_if(lines, [](std::string_view line) { return line.find("error") != line.npos; });
  return {{0, "", "does not build: " + (first == lines.end() ? output : std::string(*first)), file}};
}

namespace {

Result<std::vector<Problem>> tried(const Shell& shell, const std::string& compiler, const model::Task& task,
                                   const std::filesystem::path& folder) {
  const bool own = task.target == targets::cpu::description().name;
  const auto extension = std::filesystem::path(task.reference.name).extension();
  const bool reference = extension == ".cpp" || extension == ".c";
  if (!own && !reference) return std::vector<Problem>();
  const auto found = targets::cpu::find_compiler(own ? compiler : "",
                                                 shell.environment("PATH").value_or("/usr/local/bin:/usr/bin:/bin"),
                                                 cache_folder(shell.environment));
  if (!found)
    return std::vector<Problem>{
        {0, "", "reference and baseline were not built: " + found.error().message, "", base::Severity::advice}};
  TRY_ASSIGN(const auto builder, targets::cpu::KernelBuilder::create(task, {*found, {}, nullptr}, shell.stops.abort));
  std::vector<Problem> problems;
  // What is right over double may be none over float: std::max(x, 0.0).
  for (const char* real : {"double", "float"}) {
    if (!reference || !problems.empty()) break;
    const auto built = builder->build_reference(real, shell.stops.abort);
    if (built) continue;
    if (built.error().code != base::ErrorCode::invalid_argument) return tl::make_unexpected(built.error());
    problems = compiler_problems(built.error().message, path_in(folder, task.reference.name));
  }
  if (!own) return problems;
  TRY_ASSIGN(const auto built, builder->build(model::Kernel(task.baseline), shell.stops.abort));
  if (built->report.built) return problems;
  const std::string file = path_in(folder, task.baseline.sources.front().name);
  std::ranges::move(compiler_problems(built->report.diagnostics, file), std::back_inserter(problems));
  return problems;
}

}  // namespace

Result<std::vector<Problem>> build_problems(const Shell& shell, const std::string& compiler, const model::Task& task,
                                            const std::filesystem::path& folder) {
  auto problems = tried(shell, compiler, task, folder);
  if (problems || problems.error().code == base::ErrorCode::cancelled) return problems;
  const auto severity =
      problems.error().code == base::ErrorCode::invalid_argument ? base::Severity::error : base::Severity::advice;
  return std::vector<Problem>{
      {0, "", "reference and baseline could not be built: " + problems.error().message, "", severity}};
}

}  // namespace accelopt::app
