// SPDX-License-Identifier: Apache-2.0
#include "app/selftest_suite.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "app/builtin_exploits.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "model/evaluation.hpp"
#include "model/target_description.hpp"
#include "suites/task_folder.hpp"
#include "targets/registry.hpp"

namespace accelopt::app {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;

constexpr std::string_view kNotFaster = "NOT_FASTER";

bool known_status(const std::string& name) {
  return name == kNotFaster || name == "NOT_MEASURED" || model::parse_status(name) != model::Status::not_measured;
}

base::Result<std::vector<std::string>> words_of(const std::string& text, const std::string& file_name) {
  std::istringstream words(text);
  std::vector<std::string> out;
  for (std::string word; words >> word;) {
    if (!known_status(word))
      return base::fail(ErrorCode::parse,
                        file_name + ": expect: \"" + word + "\" is not a status; see docs/security.md");
    out.push_back(word);
  }
  return out;
}

base::Result<std::vector<fs::path>> kernels_in(const fs::path& folder) {
  std::error_code problem;
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(folder, problem)) {
    if (model::language_of_file(entry.path().filename().string())) out.push_back(entry.path());
  }
  if (problem) return base::fail_errno(problem.value(), folder.string());
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

std::string SelftestHeader::take(const std::string& key) {
  auto found = values.extract(key);
  return found.empty() ? std::string() : std::move(found.mapped());
}

SelftestHeader read_selftest_header(std::string_view text) {
  SelftestHeader out;
  const std::string_view mark = text.starts_with('#') ? "#" : "//";
  while (text.starts_with(mark)) {
    const auto end = std::min(text.find('\n'), text.size() - 1);
    const std::string_view line = base::trimmed(text.substr(0, end + 1).substr(mark.size()));
    if (const auto colon = line.find(": "); colon != std::string_view::npos)
      out.values.emplace(line.substr(0, colon), base::trimmed(line.substr(colon + 2)));
    text.remove_prefix(end + 1);
  }
  out.rest = text.substr(std::min(text.find_first_not_of('\n'), text.size()));
  return out;
}

base::Result<SelftestKernel> parse_selftest_kernel(const std::string& file_name, const std::string& text) {
  SelftestHeader header = read_selftest_header(text);
  SelftestKernel out;
  out.attack = header.values.contains("exploit");
  const auto take = [&](const std::string& key) { return header.take(key); };
  take("SPDX-License-Identifier");
  out.name = take(out.attack ? "exploit" : "honest");
  out.purpose = take(out.attack ? "tries" : "shows");
  out.task = take("task");
  out.reason = take("reason");
  out.hides = take("hides");
  if (const std::string cores = take("cores"); !cores.empty()) {
    std::from_chars(cores.data(), cores.data() + cores.size(), out.cores);
  }
  if (out.attack) {
    TRY_ASSIGN(out.expected, words_of(take("expect"), file_name));
  }
  if (!header.values.empty()) {
    return base::fail(ErrorCode::parse,
                      file_name + ": unknown key \"" + header.values.begin()->first + "\" in its header");
  }
  if (out.name.empty() || out.purpose.empty() || out.task.empty() || (out.attack && out.expected.empty())) {
    return base::fail(ErrorCode::parse,
                      file_name + ": its header must name " +
                          (out.attack ? "exploit, tries, task and expect" : "honest, shows and task"));
  }
  model::Solution solution;
  TRY_ASSIGN(solution.language, model::language_of_file(file_name));
  solution.sources = {{file_name, text}};
  out.kernel = model::Kernel(std::move(solution));
  return out;
}

base::Result<SelftestSuite> load_selftest(const fs::path& folder) {
  SelftestSuite out;
  TRY_ASSIGN(const auto tasks, suites::find_suite_tasks(folder / "tasks"));
  for (const fs::path& task : tasks) {
    TRY_ASSIGN(out.tasks[task.filename().string()], suites::load_task(task));
  }
  for (const char* part : {"attacks", "honest"}) {
    TRY_ASSIGN(const auto files, kernels_in(folder / part));
    for (const fs::path& file : files) {
      TRY_ASSIGN(const std::string text, base::read_file(file));
      TRY_ASSIGN(SelftestKernel kernel, parse_selftest_kernel(file.filename().string(), text));
      if (!out.tasks.contains(kernel.task)) {
        return base::fail(ErrorCode::parse, file.string() + ": there is no task \"" + kernel.task + "\"");
      }
      // Two targets have languages of one suffix: the kernel is in its task's.
      model::Solution solution = kernel.kernel.solution();
      const model::TargetDescription& target = model::target_of(out.tasks.at(kernel.task));
      TRY_ASSIGN(solution.language, model::language_of_file(file.filename().string(), target));
      kernel.kernel = model::Kernel(std::move(solution));
      out.kernels.push_back(std::move(kernel));
    }
  }
  return out;
}

namespace {

/// The target whose self-test the file belongs to.
const targets::Entry& owner_of(std::string_view file) {
  const auto all = targets::registry();
  const auto within = [&](const std::string& folder) { return file.starts_with(folder + "/"); };
  for (const targets::Entry& target : all) {
    if (target.selftest && !target.selftest->empty() && within(*target.selftest)) return target;
  }
  const auto found = std::find_if(all.begin(), all.end(), [](const auto& target) { return target.selftest == ""; });
  ACCELOPT_ASSERT(found != all.end(), "an exploit of no target");
  return *found;
}

}  // namespace

base::Result<SelftestSuite> builtin_selftest(std::string_view kind) {
  const targets::Entry* const target = targets::find_entry(kind);
  if (target == nullptr || !target->selftest) {
    std::vector<std::string> known;
    for (const targets::Entry& one : targets::registry()) {
      if (one.selftest) known.push_back(one.description.name);
    }
    return base::fail(ErrorCode::unsupported, "there is no self-test for devices of the kind \"" + std::string(kind) +
                                                  "\"; there are those for " + base::joined(known, " and "));
  }
  TRY_ASSIGN(const auto folder, base::TemporaryFolder::create("accelopt-selftest"));
  for (const BuiltinExploit& file : builtin_exploits()) {
    if (file.name.starts_with(kRefactorExploits) || &owner_of(file.name) != target) continue;
    const std::size_t prefix = target->selftest->empty() ? 0 : target->selftest->size() + 1;
    const fs::path path = folder.path() / file.name.substr(prefix);
    TRY(base::make_folders(path.parent_path()));
    TRY(base::write_file(path, file.text));
  }
  return load_selftest(folder.path());
}

}  // namespace accelopt::app
