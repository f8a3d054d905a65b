// SPDX-License-Identifier: Apache-2.0
// Whether a change keeps behaviour and is faster: gates, cheapest first, against one base that is prepared once.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "refactor/base_tests.hpp"
#include "refactor/driver.hpp"
#include "refactor/generated_tests.hpp"
#include "refactor/jail.hpp"
#include "refactor/probe.hpp"
#include "refactor/race.hpp"
#include "refactor/readability.hpp"
#include "refactor/scope.hpp"
#include "stats/estimate.hpp"
#include "stats/exponent.hpp"
#include "stats/triage.hpp"
#include "vcs/git.hpp"

namespace accelopt::refactor {

/// How far a change is examined. triage: faster in a short race; confirm: in fresh trees, which alone is reported.
enum class Depth { triage, confirm };

/// refused: a gate failed. not_better: it passed those that ask whether it is right, and is not certainly what the
/// goal asks for.
enum class Verdict { better, not_better, refused };
/// As the goal has it: "faster", "not_faster"; of memory "smaller", "not_smaller"; of readability "simpler",
/// "not_simpler".
std::string_view to_string(Verdict verdict, Goal goal);

struct Gate {
  std::string name;
  bool passed = false;
  std::vector<std::string> facts;
  double seconds = 0;
};

struct CheckSettings {
  std::uint64_t seed = 0;
  std::vector<std::filesystem::path> tools{};
  std::stop_token stop{};
  std::function<void(const std::string&)> step = [](const std::string&) {};  ///< what begins now
  std::function<void(const Gate&)> gate = [](const Gate&) {};                ///< what ended now
  /// Taken for each pair that is timed.
  MachineHold hold = [] { return base::Result<std::shared_ptr<void>>(nullptr); };
};

/// A short race of two trees. Log-ratios are log(first / second), one a block.
struct RaceResult {
  stats::TriageDecision decision;
  std::vector<double> log_ratios;
  StartUp start_up;
  std::vector<std::vector<UnitTimes>> blocks;  ///< by block, by raced unit
  std::string difference;                      ///< of their outputs, which ends it; empty: there is none
  std::string
      slower;  ///< where time is a guard: what the challenger of the base is certainly too slow on, which ends it
};

/// What confirmation measured of one unit; medians, less start-up.
struct UnitResult {
  Unit unit;
  stats::Interval ratio;   ///< old / new, of what the goal is about
  double old_seconds = 0;  ///< processor time
  double new_seconds = 0;
  double old_bytes = 0;  ///< peak of memory
  double new_bytes = 0;
};

/// What is known of how the times grow, per family of inputs.
struct Growth {
  std::string workload;
  double old_exponent = 0;
  double new_exponent = 0;
  double from_size = 0;
  double to_size = 0;
  stats::ExponentDifference difference;
};

struct CheckResult {
  Goal goal = Goal::time;
  Verdict verdict = Verdict::refused;
  std::string failed_gate;                   ///< empty: none failed
  std::vector<Gate> gates;                   ///< those that ran
  std::optional<stats::Interval> triage;     ///< ratio old / new of what the goal is about
  std::optional<stats::Interval> confirmed;  ///< the same, of the confirmation
  std::optional<stats::Interval> time;       ///< of processor time, where it is a guard
  std::vector<UnitResult> units;
  std::vector<Growth> growth;
  bool complexity_claimed = false;
  std::string complexity_reason;  ///< why it is not
  int tests = 0;                  ///< that hold the change
  std::vector<std::string> flaky;
  std::vector<std::string> not_passing{};    ///< "NAME (fails)", "NAME (skipped)" on the base: they hold nothing
  std::map<std::string, std::string> files;  ///< path -> new text
  std::string diff;
  StartUp start_up;
  std::optional<Readability> readability{};  ///< where it is the goal
  std::string tree;                          ///< of git
  std::filesystem::path folder;              ///< built in it; empty: it did not come so far
};

/// What the old code takes for one unit, net of start-up; one run.
struct BaseTime {
  Unit unit;
  double seconds = 0;
  double peak_bytes = 0;
};

/// What examining takes on this machine, as preparing the base showed it: wall-clock seconds.
struct Costs {
  double open = 0;         ///< all of preparing
  double build = 0;        ///< a tree laid out and built
  double tests = 0;        ///< one run
  double small_pair = 0;   ///< a pair on the smallest inputs, with making them
  double raced_pairs = 0;  ///< one pair of each unit that decides
  double all_pairs = 0;    ///< one pair of each unit
  int families = 0;        ///< of inputs that a change is compared on
};

/// Pairs of two trees on the raced units, block by block.
class Contest {
 public:
  struct Block {
    double log_ratio = 0;          ///< log(old / new), mean of the units
    std::vector<UnitTimes> times;  ///< by raced unit
    std::string difference;        ///< of their outputs; empty: there is none
  };
  [[nodiscard]] const StartUp& start_up() const { return start_up_; }
  /// Of what each block has.
  [[nodiscard]] const std::vector<Unit>& units() const { return raced_; }
  /// @error cancelled, io.
  base::Result<Block> next();

 private:
  friend class Checker;
  Contest(Race race, std::vector<Unit> raced) : race_(std::move(race)), raced_(std::move(raced)) {}
  Race race_;
  std::vector<Unit> raced_;
  StartUp start_up_;
};

class Checker {
 public:
  /// Lays out the base, builds it, runs its tests three times and its driver.
  /// @error invalid_argument: the base itself does not build, pass or run, or the task's sizes are too small.
  static base::Result<std::unique_ptr<Checker>> prepare(const Task& task, CheckSettings settings);

  /// `tree`: of this repository, as vcs::Repository makes it. @error cancelled, io; a bad change is a result.
  base::Result<CheckResult> check(const std::string& tree, Depth depth);

  // The gates one by one, as a search asks for them, in this order. Each notes itself in the result, and ends with the
  // first that fails; what it needs of the one before is the result's folder. @error as check.

  /// scope, build.
  base::Result<CheckResult> build(const std::string& tree);
  /// tests, differential. Whether they pass.
  base::Result<bool> verify(CheckResult& change);
  /// Inputs that are not told. Whether it passes.
  base::Result<bool> hold_out(CheckResult& change);
  /// Fresh trees; settles the verdict.
  base::Result<void> confirm(CheckResult& change);

  /// The base as a change of nothing: an opponent of changes.
  [[nodiscard]] CheckResult base_itself() const;
  /// Races two that passed `verify`, in pairs on the same fresh cases. faster: the challenger certainly is.
  base::Result<RaceResult> race(const CheckResult& leader, const CheckResult& challenger);
  /// Their pairs, for as long as the caller wants them; both, and this object, must outlive it.
  base::Result<Contest> contest(const CheckResult& leader, const CheckResult& challenger, std::string& difference);
  /// One pair of each unit against the base: times of both.
  base::Result<std::vector<UnitTimes>> time_all(const CheckResult& change);
  /// The functions of the files in scope, as the change has them; where readability is the goal.
  base::Result<std::vector<FunctionFigures>> text_figures(const CheckResult& change);
  /// Removes the folder that it was built in.
  void drop(CheckResult& change);

  /// Each change has to pass these besides the base's own tests, from now on.
  void hold_to(std::vector<GeneratedTest> tests) { generated_ = std::move(tests); }

  /// Runs an input that somebody gave on the base and on a change that was built. @error cancelled, io.
  base::Result<ProbeResult> probe(const CheckResult& change, const Probe& probe);
  base::Result<ProbeResult> probe(const CheckResult& change, const Probe& probe, ProbeRuns runs);
  /// Whether neither the base's own tests nor the common inputs tell a mutant, which was built, from the base. All
  /// mutants meet the same inputs.
  base::Result<bool> survives(const CheckResult& mutant);
  /// What the generator writes for the first workload at this size, `count` cases. @error invalid_argument.
  base::Result<std::string> sample_cases(std::int64_t size, int count);
  /// What a person should know of what the generator makes; a line each. @error invalid_argument: it fails.
  base::Result<std::vector<std::string>> generator_gaps();

  /// What a person should know of the old code's results, and of its driver's time; a line each.
  [[nodiscard]] const std::vector<std::string>& result_warnings() const { return result_warnings_; }

  [[nodiscard]] const vcs::Repository& repository() const { return repository_; }
  [[nodiscard]] const Task& task() const { return task_; }
  [[nodiscard]] const std::string& base_commit() const { return commit_; }
  [[nodiscard]] const vcs::Listing& base_listing() const { return listing_; }
  [[nodiscard]] const std::string& base_tree() const { return tree_; }
  /// The base's text of a file. @error not_found.
  [[nodiscard]] base::Result<std::string> base_text(const std::string& path) const;
  [[nodiscard]] const std::vector<std::string>& flaky() const { return base_tests_.flaky(); }
  /// Tests of the base that hold no change, as CheckResult names them.
  [[nodiscard]] const std::vector<std::string>& not_passing() const { return base_tests_.not_passing(); }
  [[nodiscard]] const std::vector<BaseTime>& base_times() const { return base_times_; }
  [[nodiscard]] const StartUp& base_start_up() const { return base_start_up_; }
  [[nodiscard]] const Costs& costs() const { return costs_; }
  [[nodiscard]] int tests() const { return base_tests_.count(); }

 private:
  Checker(Task task, CheckSettings settings, vcs::Repository repository, Jail jail, base::TemporaryFolder own)
      : task_(std::move(task)),
        settings_(std::move(settings)),
        repository_(std::move(repository)),
        jail_(std::move(jail)),
        own_(std::move(own)) {}

  base::Result<void> prepare_base();
  base::Result<void> prepare_tests();
  base::Result<void> prepare_units();
  /// Looks at what the driver gives on the base. @error invalid_argument: nothing but errors for a workload that races
  /// or is held out.
  base::Result<void> prepare_results();
  base::Result<std::filesystem::path> lay_out_tree(const vcs::Listing& listing);
  static constexpr std::string_view kBuildAltered = "the build altered ";
  /// Why it does not build; empty: it does.
  base::Result<std::string> build_tree(const std::filesystem::path& tree,
                                       const std::map<std::string, std::string>& files);
  /// The same in a tree of its own.
  base::Result<std::string> build_fresh_tree(const vcs::Listing& listing,
                                             const std::map<std::string, std::string>& files,
                                             std::filesystem::path& tree);
  /// `most_seconds`: JailedRun's.
  base::Result<TestRun> run_tests(const std::filesystem::path& tree, std::int64_t most_seconds);
  /// A fresh scratch folder whose home holds what the base's build and tests left there, such as a compiler's cache.
  base::Result<std::filesystem::path> warm_scratch();
  base::Result<std::vector<std::string>> test_problems(const std::filesystem::path& tree, std::int64_t most_seconds);
  /// Runs the tests again, on both sides, where few failed or the command alone did: a busy machine fails those that
  /// have a time limit.
  base::Result<void> run_failed_again(const std::filesystem::path& tree, std::int64_t most_seconds, TestRun& tested);
  /// A pair of the base with itself, and whether the unit takes long enough beside the start-up: measured again where
  /// one run says that it does not.
  base::Result<UnitTimes> time_unit(Race& race, Unit& unit, StartUp& start_up);
  /// @error invalid_argument: the old code takes too little besides the start-up.
  [[nodiscard]] base::Result<void> enough_to_race(const Unit& unit, const UnitTimes& times,
                                                  const StartUp& start_up) const;
  /// How much of the driver's time a gain can be seen in, of a unit that time decides.
  base::Result<void> measure_call_share(Unit& unit, const StartUp& start_up);
  base::Result<std::vector<std::string>> generated_problems(const CheckResult& change);
  base::Result<std::vector<std::string>> behaviour_problems(const Trees& trees);
  /// Those of `behaviour_problems`.
  std::vector<CaseRequest> behaviour_requests();
  base::Result<std::vector<std::string>> held_out_problems(const Trees& trees);
  base::Result<std::vector<std::string>> triage(CheckResult& result);
  /// What decides between two changes.
  base::Result<Deciding> deciding(const CheckResult& leader, const CheckResult& challenger);
  /// The figures of the change's text: a gate of readability.
  base::Result<std::vector<std::string>> text_problems(const std::vector<ChangedFile>& changes, CheckResult& result);
  base::Result<std::vector<std::string>> confirm_in_fresh_trees(const vcs::Listing& listing, CheckResult& result);
  struct Measured;  ///< what confirmation collects
  base::Result<std::string> confirm_once(const Trees& trees, const std::vector<int>& blocks, Measured& measured);
  std::vector<std::string> confirmation_problems(const Measured& measured, CheckResult& result) const;
  void tell_growth(const Measured& measured, CheckResult& result) const;
  std::filesystem::path fresh_folder();
  std::uint64_t next_seed(std::string_view label);

  Task task_;
  CheckSettings settings_;
  vcs::Repository repository_;
  Jail jail_;
  base::TemporaryFolder own_;
  std::optional<Driver> driver_;
  std::optional<syntax::tree::Reader> reader_;  ///< where readability is the goal
  std::string commit_;
  std::string tree_;
  vcs::Listing listing_;
  std::filesystem::path base_folder_;
  std::filesystem::path warm_home_;  ///< empty: nothing has run yet
  BaseTests base_tests_;
  double tests_cpu_seconds_ = 0;  ///< of the longest run on the base
  std::vector<GeneratedTest> generated_;
  KnownProbes known_probes_;
  std::vector<Probe> common_inputs_;  ///< that mutants are tried on; empty: there were none yet
  std::vector<Unit> units_;
  std::vector<BaseTime> base_times_;
  std::vector<std::string> result_warnings_;
  StartUp base_start_up_;
  Costs costs_;
  std::uint64_t drawn_ = 0;
};

}  // namespace accelopt::refactor
