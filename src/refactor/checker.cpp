// SPDX-License-Identifier: Apache-2.0
// Preparing the base, and the order of the gates. What the clock says: confirm.cpp.
#include "refactor/checker.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "base/names.hpp"
#include "base/text.hpp"
#include "refactor/call_share.hpp"
#include "refactor/case_survey.hpp"
#include "refactor/functions.hpp"
#include "syntax/tree/library.hpp"

namespace accelopt::refactor {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::Result;

constexpr int kBaseTestRuns = 3;
constexpr int kDifferentialSeeds = 2;
/// So many tests that fail may be unsteady; of more, the change is the cause.
constexpr std::size_t kMostRunAgain = 3;
constexpr std::size_t kMostReport = 64UL << 20;  ///< bytes, of the tests
constexpr int kMostTimings = 4;  ///< of a unit that seems too short: other programs slow a start-up down
/// A run is timed without its start-up where it takes at least this share of the start-up besides.
constexpr double kTimedShare = 0.5;
/// Its memory is compared without the start-up's where there is so much of it besides: in bytes, and as a share.
constexpr double kSizedBytes = 4 * kLeastBytesApart;
constexpr double kSizedShare = 0.25;
constexpr double kMebibyte = 1 << 20;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}

std::string end_of(std::string_view text) {
  text = base::trimmed(text);
  constexpr std::size_t kShownBytes = 500;
  return base::ascii_line(text.substr(text.size() > kShownBytes ? text.size() - kShownBytes : 0), kShownBytes, ' ');
}

}  // namespace

std::string_view to_string(Verdict verdict, Goal goal) {
  if (verdict == Verdict::refused) return "refused";
  const bool better = verdict == Verdict::better;
  if (goal == Goal::memory) return better ? "smaller" : "not_smaller";
  if (goal == Goal::readability) return better ? "simpler" : "not_simpler";
  return better ? "faster" : "not_faster";
}

Result<std::unique_ptr<Checker>> Checker::prepare(const Task& task, CheckSettings settings) {
  const auto began = Clock::now();
  TRY_ASSIGN(auto repository, vcs::Repository::open(task.repository));
  Task own_task = task;
  own_task.repository = repository.root();
  TRY_ASSIGN(auto jail, Jail::create(own_task, settings.tools, settings.stop));
  TRY_ASSIGN(auto own, base::TemporaryFolder::create("accelopt-trees"));
  std::unique_ptr<Checker> checker(
      new Checker(std::move(own_task), std::move(settings), std::move(repository), std::move(jail), std::move(own)));
  if (checker->task_.goal == Goal::readability) {
    TRY_ASSIGN(checker->reader_, syntax::tree::Reader::open(syntax::tree::Library::default_folders()));
  }
  TRY_ASSIGN(checker->driver_, Driver::create(checker->task_, checker->jail_, checker->next_seed("driver")));
  TRY(checker->prepare_base());
  TRY(checker->prepare_tests());
  TRY(checker->prepare_results());
  TRY(checker->prepare_units());
  checker->costs_.open = seconds_since(began);
  return checker;
}

Result<std::string> Checker::base_text(const std::string& path) const {
  const auto found = listing_.find(path);
  if (found == listing_.end())
    return base::fail(ErrorCode::not_found, path + " is not in the commit " + commit_.substr(0, 12));
  TRY_ASSIGN(auto texts, repository_.contents({found->second.object}));
  return std::move(texts.front());
}

fs::path Checker::fresh_folder() {
  return own_.path() / fmt::format("{:016x}", next_seed("folder"));
}

std::uint64_t Checker::next_seed(std::string_view label) {
  return base::derive_seed(settings_.seed, fmt::format("{} {}", label, ++drawn_));
}

Result<fs::path> Checker::lay_out_tree(const vcs::Listing& listing) {
  const fs::path folder = fresh_folder();
  TRY(base::make_folders(folder));
  TRY(vcs::lay_out(repository_, listing, folder));
  return folder;
}

Result<void> Checker::prepare_base() {
  settings_.step("laying out the base");
  TRY_ASSIGN(commit_, repository_.commit_id(task_.base));
  TRY_ASSIGN(tree_, repository_.tree_of(commit_));
  TRY_ASSIGN(listing_, repository_.list(tree_));
  for (const Scope& scope : task_.scope) {
    TRY_ASSIGN(const std::string text, base_text(scope.path));
    if (reader_) {
      if (const auto measured = reader_->measure(task_.language.name, text); !measured)
        return tl::make_unexpected(base::with_context(measured.error(), scope.path));
    }
    if (scope.function.empty()) continue;
    if (const auto found = find_function(task_.language, text, scope.function); !found)
      return tl::make_unexpected(base::with_context(found.error(), scope.path));
  }
  const auto began = Clock::now();
  TRY_ASSIGN(base_folder_, lay_out_tree(listing_));
  TRY_ASSIGN(const std::string problem, build_tree(base_folder_, {}));
  costs_.build = seconds_since(began);
  if (!problem.empty()) {
    const std::string absent = vcs::describe_submodules(listing_);
    return base::fail(ErrorCode::invalid_argument,
                      "the base does not build: " + problem + (absent.empty() ? "" : "; " + absent));
  }
  return {};
}

Result<std::string> Checker::build_tree(const fs::path& tree, const std::map<std::string, std::string>& files) {
  if (task_.build.empty()) return std::string();
  TRY_ASSIGN(const fs::path scratch, warm_scratch());
  JailedRun run{.command = task_.build,
                .words = {{"task", driver_->files().string()}},
                .tree = tree,
                .access = TreeAccess::write,
                .scratch = scratch,
                .readable = {driver_->files()}};
  TRY_ASSIGN(const JailedResult built, jail_.run(run));
  std::error_code ignored;
  if (tree == base_folder_)
    warm_home_ = scratch / "home";
  else
    fs::remove_all(scratch, ignored);
  if (!built.succeeded) return built.end + ": " + end_of(built.errors.empty() ? built.output : built.errors);
  // A build may run what a change wrote: it must leave what others rely on.
  for (const auto& [path, entry] : listing_) {
    if (entry.kind != vcs::EntryKind::file && entry.kind != vcs::EntryKind::executable) continue;
    if (files.contains(path)) continue;
    TRY_ASSIGN(const std::string wanted, base::read_file(base_folder_ / path));
    const auto there = base::read_foreign_file(tree / path, wanted.size());
    if (!there || *there != wanted) return std::string(kBuildAltered) + path;
  }
  return std::string();
}

Result<TestRun> Checker::run_tests(const fs::path& tree, std::int64_t most_seconds) {
  TRY_ASSIGN(const fs::path scratch, warm_scratch());
  const fs::path copy = fresh_folder();
  TRY(vcs::copy_tree(tree, copy));
  const fs::path report = scratch / "report";
  JailedRun run{.command = task_.test,
                .words = {{"report", report.string()}, {"task", driver_->files().string()}},
                .tree = copy,
                .access = TreeAccess::write,
                .scratch = scratch,
                .readable = {driver_->files()},
                .hash_seed = next_seed("tests"),
                .most_seconds = most_seconds,
                .output_bytes = kMostReport};
  TestRun result;
  TRY_ASSIGN(const JailedResult process, jail_.run(run));
  result.end = process.end;
  result.cpu_seconds = process.cpu_seconds;
  std::string text = task_.test_format == TestFormat::unittest ? process.errors : process.output;
  result.unread = unread_report(task_.test_format, process);
  if (task_.test_format == TestFormat::junit) {
    auto read = base::read_foreign_file(report, kMostReport);
    std::error_code absent;
    if (!read && fs::exists(fs::symlink_status(report, absent))) result.unread = "{report} " + read.error().message;
    text = std::move(read).value_or("");
  }
  result.said = first_failure(text);
  if (task_.test_format != TestFormat::junit || result.said.empty())
    result.said = end_of(process.errors.empty() ? process.output : process.errors);
  const TestOutcome command = process.succeeded ? TestOutcome::passed : TestOutcome::failed;
  if (result.unread.empty()) result.outcomes = read_test_report(task_.test_format, text, command);
  result.contradiction = contradiction_in(task_.test_format, text);
  std::error_code ignored;
  fs::remove_all(copy, ignored);
  if (tree == base_folder_)
    warm_home_ = scratch / "home";
  else
    fs::remove_all(scratch, ignored);
  return result;
}

Result<fs::path> Checker::warm_scratch() {
  const fs::path scratch = fresh_folder();
  TRY(base::make_folders(scratch));
  if (!warm_home_.empty()) TRY(vcs::copy_tree(warm_home_, scratch / "home"));
  return scratch;
}

Result<void> Checker::prepare_tests() {
  if (task_.test.empty()) return {};
  std::vector<TestRun> runs;
  for (int run = 0; run < kBaseTestRuns; ++run) {
    settings_.step(fmt::format("testing the base, {} of {}", run + 1, kBaseTestRuns));
    const auto began = Clock::now();
    TRY_ASSIGN(TestRun tested, run_tests(base_folder_, 0));
    costs_.tests = seconds_since(began);
    tests_cpu_seconds_ = std::max(tests_cpu_seconds_, tested.cpu_seconds);
    if (!tested.unread.empty())
      return base::fail(ErrorCode::invalid_argument, "the tests on the base: " + tested.unread);
    if (!tested.contradiction.empty()) {
      return base::fail(ErrorCode::invalid_argument,
                        tested.contradiction +
                            ", so that tests would hold nothing; let them write nothing in between "
                            "(python3 -m unittest -v --buffer), or use another format");
    }
    runs.push_back(std::move(tested));
  }
  base_tests_ = BaseTests(runs);
  if (base_tests_.count() > 0) return {};
  const std::string said = runs.back().end + ": " + runs.back().said;
  return base::fail(ErrorCode::invalid_argument, "no test passes on the base (" + said + "); see [commands] test");
}

Result<void> Checker::prepare_units() {
  settings_.step("running the driver on the base");
  const Trees same{base_folder_, base_folder_};
  Race race(*driver_, {.goal = task_.goal}, same, next_seed("calibration"), settings_.hold);
  units_ = units_of(task_, Sizes::all);
  std::map<std::string, StartUp> start_ups;
  for (Unit& unit : units_) {
    std::string difference;
    if (!start_ups.contains(unit.workload)) {
      const auto began = Clock::now();
      TRY_ASSIGN(start_ups[unit.workload], race.measure_start_up(unit.workload, difference));
      costs_.small_pair = seconds_since(began) / kStartUpPairs;
      ++costs_.families;
    }
    StartUp& start_up = start_ups[unit.workload];
    const auto began = Clock::now();
    TRY_ASSIGN(const UnitTimes times, time_unit(race, unit, start_up));
    const double pair_seconds = seconds_since(began);
    costs_.all_pairs += pair_seconds;
    if (unit.raced) costs_.raced_pairs += pair_seconds;
    if (difference.empty()) difference = times.difference;
    if (!difference.empty()) {
      return base::fail(ErrorCode::invalid_argument,
                        "the old code gives other results when it is run again, so that nothing can be compared: " +
                            difference + "; seed or sort what the driver writes");
    }
    base_start_up_ = start_up;
    unit.sized = times.old_net_bytes >= kSizedBytes && times.old_net_bytes >= kSizedShare * start_up.old_peak_bytes;
    base_times_.push_back({unit, times.old_seconds, times.old_net_bytes});
    if (!unit.raced) continue;
    TRY(enough_to_race(unit, times, start_up));
    TRY(measure_call_share(unit, start_up));
  }
  return {};
}

Result<void> Checker::enough_to_race(const Unit& unit, const UnitTimes& times, const StartUp& start_up) const {
  if (task_.goal == Goal::memory) {
    if (unit.sized) return {};
    return base::fail(
        ErrorCode::invalid_argument,
        fmt::format("{}: the old code's peak memory is {:.1f} MiB over the {:.1f} MiB that starting the "
                    "program takes, which is too little to compare; give the workload larger sizes",
                    to_string(unit), times.old_net_bytes / kMebibyte, start_up.old_peak_bytes / kMebibyte));
  }
  if (unit.timed || task_.goal == Goal::readability) return {};
  return base::fail(ErrorCode::invalid_argument,
                    fmt::format("{}: the old code takes {:.0f} ms, and starting the program {:.0f} ms; give the "
                                "workload larger sizes or a larger count",
                                to_string(unit), times.old_seconds * 1e3, start_up.old_seconds * 1e3));
}

Result<void> Checker::measure_call_share(Unit& unit, const StartUp& start_up) {
  if (time_is_a_guard(task_.goal)) return {};
  const CaseRequest request{.workload = unit.workload,
                            .size = unit.size,
                            .count = unit.count,
                            .seed = base::derive_seed(settings_.seed, "calls " + unit.workload) >> 16U};
  TRY_ASSIGN(const MadeCases cases, driver_->make_cases(base_folder_, request));
  TRY_ASSIGN(const auto held, settings_.hold());
  TRY_ASSIGN(unit.call_share, driver_->share_of_calls(base_folder_, cases, start_up.old_seconds));
  const std::string advice = unit.call_share ? call_share_advice(*unit.call_share) : "";
  if (!advice.empty()) result_warnings_.push_back(to_string(unit) + ": " + advice);
  return {};
}

Result<UnitTimes> Checker::time_unit(Race& race, Unit& unit, StartUp& start_up) {
  for (int timing = 1;; ++timing) {
    TRY_ASSIGN(UnitTimes times, race.measure(unit, start_up));
    unit.timed = times.old_seconds >= kTimedShare * start_up.old_seconds;
    if (unit.timed || !unit.raced || task_.goal == Goal::memory || timing == kMostTimings || !times.difference.empty())
      return times;
    TRY_ASSIGN(const StartUp anew, race.measure_start_up(unit.workload, times.difference));
    if (!times.difference.empty()) return times;
    if (anew.old_seconds < start_up.old_seconds) start_up = anew;
  }
}

Result<std::vector<std::string>> Checker::test_problems(const fs::path& tree, std::int64_t most_seconds) {
  if (task_.test.empty()) return std::vector<std::string>();
  TRY_ASSIGN(TestRun tested, run_tests(tree, most_seconds));
  TRY(run_failed_again(tree, most_seconds, tested));
  return base_tests_.problems(tested);
}

Result<void> Checker::run_failed_again(const fs::path& tree, std::int64_t most_seconds, TestRun& tested) {
  const std::vector<std::string> wrong = base_tests_.wrong_in(tested);
  if ((wrong.empty() && base_tests_.ends_well(tested)) || wrong.size() > kMostRunAgain) return {};
  const bool out_of_time = most_seconds > 0 && !tested.end.starts_with("exit");
  if (out_of_time) return {};
  settings_.step("running the tests again, of which some failed");
  TRY_ASSIGN(const TestRun again, run_tests(tree, most_seconds));
  const std::vector<std::string> still = base_tests_.wrong_in(again);
  if (base_tests_.ends_well(again) && std::ranges::find_first_of(wrong, still) == wrong.end()) {
    // Failing one time in two is a change of behaviour as well: what passed has to pass once more.
    TRY_ASSIGN(const TestRun third, run_tests(tree, most_seconds));
    base_tests_.excuse(tested, third);
    return {};
  }
  TRY_ASSIGN(const TestRun base, run_tests(base_folder_, 0));
  TRY_ASSIGN(const TestRun base_again, run_tests(base_folder_, 0));
  base_tests_.set_aside(wrong, base, base_again);
  return {};
}

Result<std::vector<std::string>> Checker::generated_problems(const CheckResult& change) {
  for (const GeneratedTest& test : generated_) {
    TRY_ASSIGN(const ProbeResult probed, probe(change, test.probe));
    if (probed.outcome != ProbeOutcome::differs) continue;
    const Probe& input = test.probe;
    const std::string given = !input.script.empty() ? "the script\n" + input.script
                              : input.request       ? to_string(*input.request)
                                                    : "the cases " + base::ascii_line(input.cases, 1500);
    return std::vector<std::string>{
        fmt::format("{} ({}); with {}", probed.text, base::ascii_line(test.why, 200), given)};
  }
  return std::vector<std::string>();
}

/// Small and odd sizes with many cases, on every workload, under fresh seeds; the smallest size of each as well.
std::vector<CaseRequest> Checker::behaviour_requests() {
  std::vector<CaseRequest> requests;
  for (const Workload& workload : task_.workloads) {
    if (workload.role == Role::held_out) continue;
    for (int round = 0; round < kDifferentialSeeds; ++round) {
      for (const std::int64_t size : compared_sizes(workload)) {
        requests.push_back({.workload = workload.name,
                            .size = size,
                            .count = compared_count(workload, size),
                            .seed = next_seed("differential") >> 16U});
      }
    }
  }
  return requests;
}

Result<std::vector<std::string>> Checker::behaviour_problems(const Trees& trees) {
  for (const CaseRequest& request : behaviour_requests()) {
    TRY_ASSIGN(const PairResult pair, driver_->run_pair(trees, request));
    if (!pair.difference.empty()) return std::vector<std::string>{to_string(request) + ": " + pair.difference};
  }
  return std::vector<std::string>();
}

/// Held-out families, and sizes between the raced ones.
Result<std::vector<std::string>> Checker::held_out_problems(const Trees& trees) {
  for (const Workload& workload : task_.workloads) {
    std::vector<std::int64_t> sizes;
    if (workload.role == Role::held_out) sizes = {1, 2, 3, 9};
    const auto drawn = static_cast<std::int64_t>(next_seed("size") % 97U);
    sizes.push_back(std::max<std::int64_t>(1, workload.sizes.front() + 1 + drawn % workload.sizes.front()));
    sizes.push_back(workload.sizes.back() - 1 - drawn % std::max<std::int64_t>(1, workload.sizes.back() / 4));
    for (const std::int64_t size : sizes) {
      if (size < 0) continue;
      const CaseRequest request{.workload = workload.name,
                                .size = size,
                                .count = compared_count(workload, size),
                                .seed = next_seed("held-out") >> 16U};
      TRY_ASSIGN(const PairResult pair, driver_->run_pair(trees, request));
      if (!pair.difference.empty()) {
        return std::vector<std::string>{"results differ on inputs that are not told (" + workload.name + ")"};
      }
    }
  }
  return std::vector<std::string>();
}

namespace {

/// Notes gates in a result, each with the time since the one before, and tells them.
class Gates {
 public:
  Gates(CheckResult& result, const CheckSettings& settings) : result_(result), settings_(settings) {}
  /// Whether the check goes on.
  bool pass(const char* name, std::vector<std::string> problems) {
    const auto now = Clock::now();
    const double seconds = std::chrono::duration<double>(now - std::exchange(began_, now)).count();
    result_.gates.push_back({name, problems.empty(), std::move(problems), seconds});
    if (!result_.gates.back().passed) result_.failed_gate = name;
    settings_.gate(result_.gates.back());
    return result_.gates.back().passed;
  }

 private:
  CheckResult& result_;
  const CheckSettings& settings_;
  Clock::time_point began_ = Clock::now();
};

}  // namespace

Result<CheckResult> Checker::build(const std::string& tree) {
  CheckResult result;
  result.goal = task_.goal;
  result.tests = tests();
  result.flaky = flaky();
  result.not_passing = not_passing();
  result.tree = tree;
  Gates gates(result, settings_);
  TRY_ASSIGN(const vcs::Listing listing, repository_.list(tree));
  TRY_ASSIGN(const auto changes, changed_files(repository_, listing_, listing));
  for (const ChangedFile& file : changes) result.files[file.path] = file.after;
  TRY_ASSIGN(result.diff, repository_.diff(tree_, tree));
  if (!gates.pass("scope", scope_violations(task_, changes))) return result;
  if (reader_) {
    TRY_ASSIGN(auto problems, text_problems(changes, result));
    if (!gates.pass("text", std::move(problems))) return result;
  }

  settings_.step("building");
  TRY_ASSIGN(const fs::path folder, lay_out_tree(listing));
  TRY_ASSIGN(const std::string problem, build_tree(folder, result.files));
  if (gates.pass("build", problem.empty() ? std::vector<std::string>() : std::vector{problem})) result.folder = folder;
  return result;
}

Result<bool> Checker::verify(CheckResult& change) {
  Gates gates(change, settings_);
  settings_.step("running the tests");
  TRY_ASSIGN(auto problems, test_problems(change.folder, 0));
  change.flaky = flaky();
  change.tests = tests();
  if (!gates.pass("tests", std::move(problems))) return false;

  if (!generated_.empty()) {
    settings_.step("running the tester's tests");
    TRY_ASSIGN(problems, generated_problems(change));
    if (!gates.pass("generated tests", std::move(problems))) return false;
  }

  settings_.step("comparing results");
  TRY_ASSIGN(problems, behaviour_problems({base_folder_, change.folder}));
  return gates.pass("differential", std::move(problems));
}

Result<bool> Checker::hold_out(CheckResult& change) {
  Gates gates(change, settings_);
  settings_.step("trying sizes that are not told");
  TRY_ASSIGN(auto problems, held_out_problems({base_folder_, change.folder}));
  const bool passed = gates.pass("held-out", std::move(problems));
  if (!passed) change.verdict = Verdict::refused;
  return passed;
}

Result<void> Checker::confirm(CheckResult& change) {
  Gates gates(change, settings_);
  settings_.step("confirming");
  TRY_ASSIGN(const vcs::Listing listing, repository_.list(change.tree));
  TRY_ASSIGN(auto problems, confirm_in_fresh_trees(listing, change));
  gates.pass("confirm", std::move(problems));
  return {};
}

Result<CheckResult> Checker::check(const std::string& tree, Depth depth) {
  TRY_ASSIGN(CheckResult result, build(tree));
  if (!result.failed_gate.empty()) return result;
  TRY_ASSIGN(const bool right, verify(result));
  if (!right) return result;
  if (result.readability && !result.readability->simpler) {
    result.verdict = Verdict::not_better;
    return result;
  }
  Gates gates(result, settings_);
  settings_.step("racing");
  TRY_ASSIGN(auto problems, triage(result));
  if (!gates.pass("triage", std::move(problems))) return result;
  if (result.verdict == Verdict::not_better || depth == Depth::triage) return result;
  TRY_ASSIGN(const bool held, hold_out(result));
  if (held) TRY(confirm(result));
  return result;
}

CheckResult Checker::base_itself() const {
  CheckResult result;
  result.goal = task_.goal;
  result.tests = tests();
  result.flaky = flaky();
  result.not_passing = not_passing();
  result.tree = tree_;
  result.folder = base_folder_;
  return result;
}

void Checker::drop(CheckResult& change) {
  std::error_code ignored;
  if (!change.folder.empty() && change.folder != base_folder_) fs::remove_all(change.folder, ignored);
  change.folder.clear();
}

}  // namespace accelopt::refactor
