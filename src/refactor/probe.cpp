// SPDX-License-Identifier: Apache-2.0
#include "refactor/probe.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "base/names.hpp"
#include "base/text.hpp"
#include "refactor/case_survey.hpp"
#include "refactor/checker.hpp"
#include "refactor/result_survey.hpp"

namespace accelopt::refactor {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::Result;

/// What tells a program about the text of the code rather than about what it does: every change would differ by it.
constexpr auto kReadsSource = std::to_array<std::string_view>(
    {"inspect", "__code__", "co_code", "getsource", "tostring", "__doc__", "__file__", "readfile", "open(", "linecache",
     "traceback", "tracemalloc", "subprocess", "child_process", "settrace", "setprofile", ".stack"});

constexpr std::size_t kMostSurveyed = 16UL << 20;  ///< bytes of cases whose results are looked at

ProbeResult unusable(std::string why) {
  return {.outcome = ProbeOutcome::unusable, .text = std::move(why)};
}

/// Scripts of one argument have to fit into it.
constexpr std::size_t kMostNodeScript = 100'000;
constexpr const char* kNodeRequire =
    "globalThis.require = (await import('node:module')).createRequire(process.cwd() + '/');\n";

struct ScriptRun {
  std::string said;   ///< how it ended, and what it printed
  std::string error;  ///< the line of standard error that names it; empty: none does
  double cpu_seconds = 0;
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
                             const CodeLanguage& language, const std::string& script, std::uint64_t hash_seed,
                             std::int64_t most_seconds) {
  TRY(base::make_folders(scratch));
  JailedRun run{.command = {language.interpreter},
                .tree = tree,
                .scratch = scratch,
                .hash_seed = hash_seed,
                .most_seconds = most_seconds};
  // Both import from the repository's folder: Python is told so, and Node does where a module is an argument.
  if (language.form == FunctionForm::indentation) {
    const fs::path file = scratch / "probe.py";
    TRY(base::write_file(file, "import os, sys; sys.path.insert(0, os.getcwd())\n" + script));
    run.command.push_back(file.string());
  } else {
    run.command.insert(run.command.end(), {"--input-type=module", "--eval", kNodeRequire + script});
  }
  TRY_ASSIGN(const JailedResult result, jail.run(run));
  std::error_code ignored;
  fs::remove_all(scratch, ignored);
  fs::remove(scratch.string() + ".errors", ignored);
  return ScriptRun{result.end + "\n" + result.output, error_line(result.errors), result.cpu_seconds};
}

/// A script in the task's language.
class ScriptRuns {
 public:
  using Run = ScriptRun;
  ScriptRuns(const Jail& jail, const Task& task, const std::string& script, fs::path scratch)
      : jail_(jail), task_(task), script_(script), scratch_(std::move(scratch)) {}

  Result<Run> run(const fs::path& tree, std::uint64_t hash_seed, std::int64_t most_seconds) const {
    return run_script(jail_, tree, scratch_, task_.language, script_, hash_seed, most_seconds);
  }
  static Result<void> expect_success(const Run& before) {
    if (before.said.starts_with("exit 0\n")) return {};
    return base::fail(ErrorCode::invalid_argument,
                      fmt::format("the script ends by {}{}{}", base::first_line(before.said),
                                  before.error.empty() ? "" : ", ", before.error));
  }
  static std::string difference(const Run& before, const Run& after) {
    if (before.said == after.said) return "";
    return fmt::format("the script says \"{}\" before, \"{}\" after", base::ascii_line(before.said, 120, ' '),
                       base::ascii_line(after.said, 120, ' '));
  }
  static std::string what_it_did(const Run& run) { return base::sha256_hex(run.said); }
  static double cpu_seconds(const Run& run) { return run.cpu_seconds; }

 private:
  const Jail& jail_;
  const Task& task_;
  const std::string& script_;
  fs::path scratch_;
};

/// A file of cases for the driver.
class CaseRuns {
 public:
  using Run = DriverRun;
  CaseRuns(Driver& driver, const std::string& cases) : driver_(driver), cases_(cases) {}

  Result<Run> run(const fs::path& tree, std::uint64_t hash_seed, std::int64_t most_seconds) {
    return driver_.run_on(tree, cases_, hash_seed, most_seconds);
  }
  [[nodiscard]] Result<void> expect_success(const Run& before) const {
    return driver_.expect_success(before, cases_, "given cases");
  }
  [[nodiscard]] std::string difference(const Run& before, const Run& after) const {
    return driver_.difference(before, after);
  }
  [[nodiscard]] std::string what_it_did(const Run& run) const { return driver_.what_it_did(run); }
  static double cpu_seconds(const Run& run) { return run.process.cpu_seconds; }

 private:
  Driver& driver_;
  const std::string& cases_;
};

/// Asks the old code, under two hash seeds: what depends on them is no behaviour that a change must keep.
template <class Runs>
Result<void> ask_old_code(Runs& runs, const fs::path& tree, KnownProbe& known) {
  TRY_ASSIGN(const auto first, runs.run(tree, 0, 0));
  if (const auto succeeded = runs.expect_success(first); !succeeded) {
    if (succeeded.error().code != ErrorCode::invalid_argument) return succeeded;
    known.unusable = unusable("the old code does not take it: " + base::ascii_line(succeeded.error().message, 300));
    return {};
  }
  TRY_ASSIGN(const auto second, runs.run(tree, 1, 0));
  if (!runs.difference(first, second).empty()) {
    known.unusable = ProbeResult{
        .outcome = ProbeOutcome::unusable, .text = "the old code does not always give the same on it", .wavers = true};
    return {};
  }
  known.did = runs.what_it_did(first);
  known.cpu_seconds = std::max(runs.cpu_seconds(first), runs.cpu_seconds(second));
  return {};
}

/// Runs the new code again and again, and the old code beside it wherever the new one does otherwise.
template <class Runs>
Result<ProbeResult> compare(Runs& runs, const Trees& trees, ProbeRuns how, KnownProbe& known) {
  if (known.did.empty() && !known.unusable) TRY(ask_old_code(runs, trees.old_tree, known));
  if (known.unusable) return *known.unusable;
  const bool itself = trees.old_tree == trees.new_tree;
  for (int time = 0; time < how.times; ++time) {
    const std::uint64_t seed = std::uint64_t{2} + static_cast<std::uint64_t>(time);
    TRY_ASSIGN(const auto after, runs.run(trees.new_tree, seed, how.hurried ? enough_seconds(known.cpu_seconds) : 0));
    if (runs.what_it_did(after) == known.did) continue;
    TRY_ASSIGN(const auto before, runs.run(trees.old_tree, itself ? seed + 1 : seed, 0));
    if (!runs.expect_success(before)) return unusable("the old code does not always take it");
    std::string difference = runs.difference(before, after);
    if (!difference.empty()) return ProbeResult{.outcome = ProbeOutcome::differs, .text = std::move(difference)};
  }
  return ProbeResult{.outcome = ProbeOutcome::same, .text = "old and new code do the same"};
}

/// Why a script is none; empty: it may be one.
std::string script_problem(const Task& task, const std::string& script) {
  if (!runs_scripts(task.language)) return "scripts run in Python and JavaScript alone; give cases";
  if (task.language.form == FunctionForm::braces && script.size() > kMostNodeScript)
    return "a script for Node is over 100 kB";
  const std::string small = base::lower(script);
  for (const std::string_view word : kReadsSource) {
    if (small.find(word) != small.npos)
      return fmt::format("\"{}\" looks at the code's text, and not at what it does", word);
  }
  return "";
}

}  // namespace

std::string_view to_string(ProbeOutcome outcome) {
  constexpr auto kNames = std::to_array<base::Named<ProbeOutcome>>(
      {{ProbeOutcome::differs, "differs"}, {ProbeOutcome::same, "same"}, {ProbeOutcome::unusable, "unusable"}});
  return base::name_in(kNames, outcome);
}

std::int64_t enough_seconds(double of_old_code) {
  return 1 + static_cast<std::int64_t>(std::ceil(10 * of_old_code));
}

bool runs_scripts(const CodeLanguage& language) {
  return !language.interpreter.empty();
}

KnownProbe& KnownProbes::of(const Probe& probe) {
  std::string key = fmt::format("{}:{}{}", probe.cases.size(), probe.cases, probe.script);
  if (probe.request) key += fmt::format("\n{}, count {}", to_string(*probe.request), probe.request->count);
  return known_[base::sha256_hex(key)];
}

Result<ProbeResult> Prober::run(const Trees& trees, const Probe& probe, ProbeRuns runs, KnownProbe& known) {
  if (probe.cases.size() > kMostProbeBytes || probe.script.size() > kMostProbeBytes)
    return unusable("it is over 1 MiB");
  if (!probe.script.empty()) {
    if (std::string problem = script_problem(task_, probe.script); !problem.empty())
      return unusable(std::move(problem));
    TRY_ASSIGN(const auto own, base::TemporaryFolder::create("accelopt-probe"));
    ScriptRuns script(jail_, task_, probe.script, own.path() / "run");
    return compare(script, trees, runs, known);
  }
  if (known.cases.empty()) known.cases = probe.cases;
  if (known.cases.empty() && probe.request) {
    const auto made = driver_.cases_of(trees.old_tree, *probe.request);
    if (!made && made.error().code != ErrorCode::invalid_argument) return tl::make_unexpected(made.error());
    if (!made) return unusable(base::ascii_line(made.error().message, 300));
    known.cases = *made;
  }
  if (known.cases.empty()) return unusable("it holds no case");
  CaseRuns cases(driver_, known.cases);
  return compare(cases, trees, runs, known);
}

Result<ProbeResult> Checker::probe(const CheckResult& change, const Probe& probe) {
  return this->probe(change, probe, {});
}

Result<ProbeResult> Checker::probe(const CheckResult& change, const Probe& probe, ProbeRuns runs) {
  if (change.folder.empty()) return unusable("the change was not built");
  return Prober(*driver_, jail_, task_).run({base_folder_, change.folder}, probe, runs, known_probes_.of(probe));
}

Result<std::string> Checker::sample_cases(std::int64_t size, int count) {
  // The same each time: a question that shows it is to be the same question when it is asked again.
  return driver_->cases_of(base_folder_,
                           {.workload = task_.workloads.front().name, .size = size, .count = count, .seed = 1});
}

Result<void> Checker::prepare_results() {
  settings_.step("looking at what the driver gives on the base");
  std::string constant;  // of a workload that is not compared alone
  bool any_varies = false;
  for (const Workload& workload : task_.workloads) {
    ResultSurvey survey;
    for (const std::int64_t size : {std::int64_t{3}, std::int64_t{17}, workload.sizes.front()}) {
      const auto seed = base::derive_seed(settings_.seed, fmt::format("results {} {}", workload.name, size));
      const CaseRequest request{
          .workload = workload.name, .size = size, .count = compared_count(workload, size), .seed = seed >> 16U};
      TRY_ASSIGN(const MadeCases made, driver_->make_cases(base_folder_, request));
      const auto cases = base::read_foreign_file(made.file(), kMostSurveyed);
      if (!cases) continue;
      TRY_ASSIGN(const DriverRun run, driver_->run_on(base_folder_, *cases, seed, 0));
      TRY(driver_->expect_success(run, *cases, to_string(request)));
      survey.add(*cases, *run.results, run.process.output, run.process.errors);
    }
    const std::string refusal = survey.refusal();
    // A family that is compared alone may be of bad inputs.
    if (!refusal.empty() && workload.role != Role::check) {
      return base::fail(ErrorCode::invalid_argument,
                        workload.name + ": " + refusal + "; correct what driver.cases makes or how driver.run calls");
    }
    for (const std::string& line : survey.warnings()) result_warnings_.push_back(workload.name + ": " + line);
    if (workload.role == Role::check) continue;
    any_varies = any_varies || survey.constant().empty();
    if (constant.empty()) constant = workload.name + ": " + survey.constant();
  }
  if (any_varies || constant.empty()) return {};
  return base::fail(ErrorCode::invalid_argument,
                    constant + "; correct what driver.cases makes, or let driver.run write what the function gives");
}

Result<std::vector<std::string>> Checker::generator_gaps() {
  settings_.step("looking at what the generator makes");
  std::vector<std::string> lines;
  CaseSurvey survey;
  for (const Workload& workload : task_.workloads) {
    bool seeds_differ = false;
    for (const std::int64_t size : compared_sizes(workload)) {
      CaseRequest request{.workload = workload.name,
                          .size = size,
                          .count = compared_count(workload, size),
                          .seed = next_seed("survey") >> 16U};
      TRY_ASSIGN(const std::string first, driver_->cases_of(base_folder_, request));
      request.seed = next_seed("survey") >> 16U;
      TRY_ASSIGN(const std::string second, driver_->cases_of(base_folder_, request));
      seeds_differ = seeds_differ || first != second;
      survey.add(first);
      survey.add(second);
    }
    if (!seeds_differ)
      lines.push_back(workload.name +
                      ": the generator makes the same cases whatever the seed, so that nothing is fresh");
    if (workload.role != Role::race) continue;
    // At small sizes there may be few different cases; what is raced has to be another one each time.
    const CaseRequest raced{.workload = workload.name,
                            .size = workload.sizes.back(),
                            .count = workload.count,
                            .seed = next_seed("survey") >> 16U};
    TRY_ASSIGN(const std::string cases, driver_->cases_of(base_folder_, raced));
    if (const std::string repeated = repeated_cases(cases); !repeated.empty())
      lines.push_back(fmt::format("{}, size {}: {}", raced.workload, raced.size, repeated));
  }
  const auto missing = survey.missing();
  if (!missing.empty()) {
    lines.push_back(
        fmt::format("behaviour is compared on what the generator makes; in {} files of cases it never made: {}",
                    survey.files(), base::joined(missing, "; ")));
  }
  return lines;
}

}  // namespace accelopt::refactor
