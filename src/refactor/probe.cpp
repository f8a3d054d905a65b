// SPDX-License-Identifier: Apache-2.0
#include "refactor/probe.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/names.hpp"
#include "base/text.hpp"
#include "refactor/checker.hpp"

namespace accelopt::refactor {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::Result;

/// What tells a program about the text of the code rather than about what it does: every change would differ by it.
constexpr auto kReadsSource = std::to_array<std::string_view>(
    {"inspect", "__code__", "co_code", "getsource", "tostring", "__doc__", "__file__", "readfile", "open(", "linecache",
     "traceback", "tracemalloc", "subprocess", "child_process", "settrace", "setprofile", ".stack"});

ProbeResult unusable(std::string why) {
  return {.outcome = ProbeOutcome::unusable, .text = std::move(why)};
}

/// Runs pairs by `pair`: the old code against itself first, and then against the new code, again and again.
template <class RunPair>
Result<ProbeResult> compare(const Trees& trees, const RunPair& pair) {
  const auto of_base = pair(Trees{trees.old_tree, trees.old_tree});
  if (!of_base && of_base.error().code == ErrorCode::invalid_argument)
    return unusable("the old code does not take it: " + base::ascii_line(of_base.error().message, 300));
  if (!of_base) return tl::make_unexpected(of_base.error());
  if (!of_base->empty()) {
    return ProbeResult{
        .outcome = ProbeOutcome::unusable, .text = "the old code does not always give the same on it", .wavers = true};
  }
  for (int run = 0; run < kProbeRuns; ++run) {
    TRY_ASSIGN(std::string difference, pair(trees));
    if (!difference.empty()) return ProbeResult{.outcome = ProbeOutcome::differs, .text = std::move(difference)};
  }
  return ProbeResult{.outcome = ProbeOutcome::same, .text = "old and new code do the same"};
}

struct ScriptRun {
  std::string said;   ///< how it ended, and what it printed
  std::string error;  ///< the line of standard error that names it; empty: none does
};

/// Python says it last, Node before its stack and its version.
std::string error_line(std::string_view errors) {
  std::string_view found;
  while (!errors.empty()) {
    const std::string_view line = base::first_line(errors);
    const std::size_t colon = line.find(':');
    if (colon != line.npos && line.substr(0, colon).ends_with("Error")) found = line;
    errors.remove_prefix(std::min(line.size() + 1, errors.size()));
  }
  return base::ascii_line(found, 160, ' ');
}

Result<ScriptRun> run_script(const Jail& jail, const fs::path& tree, const fs::path& scratch,
                             const CodeLanguage& language, const std::string& script, std::uint64_t hash_seed) {
  TRY(base::make_folders(scratch));
  // Scripts import as modules do.
  const fs::path file = scratch / (language.form == FunctionForm::braces ? "probe.mjs" : "probe.py");
  // The folder of the script is not the repository's, and Python looks there alone.
  const bool by_path = language.form == FunctionForm::indentation;
  TRY(base::write_file(file, (by_path ? "import os, sys; sys.path.insert(0, os.getcwd())\n" : "") + script));
  JailedRun run{
      .command = {language.interpreter, file.string()}, .tree = tree, .scratch = scratch, .hash_seed = hash_seed};
  TRY_ASSIGN(const JailedResult result, jail.run(run));
  std::error_code ignored;
  fs::remove_all(scratch, ignored);
  fs::remove(scratch.string() + ".errors", ignored);
  return ScriptRun{result.end + "\n" + result.output, error_line(result.errors)};
}

Result<ProbeResult> probe_by_script(const Jail& jail, const Task& task, const Trees& trees, const std::string& script) {
  if (!runs_scripts(task.language)) return unusable("scripts run in Python and JavaScript alone; give cases");
  const std::string small = base::lower(script);
  for (const std::string_view word : kReadsSource) {
    if (small.find(word) != small.npos)
      return unusable(fmt::format("\"{}\" looks at the code's text, and not at what it does", word));
  }
  TRY_ASSIGN(const auto own, base::TemporaryFolder::create("accelopt-probe"));
  const fs::path scratch = own.path() / "run";
  std::uint64_t seed = 0;
  return compare(trees, [&](const Trees& both) -> Result<std::string> {
    // The old code is run under two hash seeds: what depends on them is no behaviour that a change must keep.
    const std::uint64_t other = both.old_tree == both.new_tree ? seed + 1 : seed;
    TRY_ASSIGN(const ScriptRun before, run_script(jail, both.old_tree, scratch, task.language, script, seed));
    TRY_ASSIGN(const ScriptRun after, run_script(jail, both.new_tree, scratch, task.language, script, other));
    ++seed;
    if (!before.said.starts_with("exit 0\n"))
      return base::fail(ErrorCode::invalid_argument,
                        fmt::format("the script ends by {}{}{}", base::first_line(before.said),
                                    before.error.empty() ? "" : ", ", before.error));
    if (before.said == after.said) return std::string();
    return fmt::format("the script says \"{}\" before, \"{}\" after", base::ascii_line(before.said, 120, ' '),
                       base::ascii_line(after.said, 120, ' '));
  });
}

}  // namespace

std::string_view to_string(ProbeOutcome outcome) {
  constexpr auto kNames = std::to_array<base::Named<ProbeOutcome>>(
      {{ProbeOutcome::differs, "differs"}, {ProbeOutcome::same, "same"}, {ProbeOutcome::unusable, "unusable"}});
  return base::name_in(kNames, outcome);
}

bool runs_scripts(const CodeLanguage& language) {
  return !language.interpreter.empty();
}

Result<ProbeResult> run_probe(Driver& driver, const Jail& jail, const Task& task, const Trees& trees,
                              const Probe& probe) {
  if (probe.cases.size() > kMostProbeBytes || probe.script.size() > kMostProbeBytes)
    return unusable("it is over 1 MiB");
  if (!probe.script.empty()) return probe_by_script(jail, task, trees, probe.script);
  std::string cases = probe.cases;
  if (probe.request) {
    const auto made = driver.cases_of(trees.old_tree, *probe.request);
    if (!made && made.error().code != ErrorCode::invalid_argument) return tl::make_unexpected(made.error());
    if (!made) return unusable(base::ascii_line(made.error().message, 300));
    cases = *made;
  }
  if (cases.empty()) return unusable("it holds no case");
  return compare(trees, [&](const Trees& both) -> Result<std::string> {
    const bool itself = both.old_tree == both.new_tree;
    TRY_ASSIGN(PairResult pair, driver.run_on(both, cases, itself ? HashSeeds::apart : HashSeeds::alike));
    return std::move(pair.difference);
  });
}

Result<ProbeResult> Checker::probe(const CheckResult& change, const Probe& probe) {
  if (change.folder.empty()) return unusable("the change was not built");
  return run_probe(*driver_, jail_, task_, {base_folder_, change.folder}, probe);
}

Result<std::string> Checker::sample_cases(std::int64_t size, int count) {
  // The same each time: a question that shows it is to be the same question when it is asked again.
  return driver_->cases_of(base_folder_,
                           {.workload = task_.workloads.front().name, .size = size, .count = count, .seed = 1});
}

}  // namespace accelopt::refactor
