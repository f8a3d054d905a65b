// SPDX-License-Identifier: Apache-2.0
#include "refactor/generated_tests.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "base/json_fields.hpp"
#include "refactor/checker.hpp"
#include "refactor/mutants.hpp"

namespace accelopt::refactor {
namespace {

using base::Result;

constexpr int kBaseRounds = 3;

constexpr auto kFates = std::to_array<base::Named<TestFate>>({{TestFate::kept, "kept"},
                                                              {TestFate::unusable, "unusable"},
                                                              {TestFate::not_deterministic, "not_deterministic"},
                                                              {TestFate::no_new_mutant, "no_new_mutant"}});

/// A mutant that nothing has killed yet.
struct Survivor {
  std::string what;
  CheckResult built;
};

/// Tries each test on the base, every second round from the last to the first: what one leaves behind would show in
/// another.
Result<void> try_on_base(Checker& checker, std::vector<TestTrial>& trials) {
  const CheckResult base = checker.base_itself();
  for (int round = 0; round < kBaseRounds; ++round) {
    for (std::size_t i = 0; i < trials.size(); ++i) {
      TestTrial& trial = trials[round % 2 == 0 ? i : trials.size() - 1 - i];
      if (trial.fate != TestFate::kept) continue;
      TRY_ASSIGN(const ProbeResult probed, checker.probe(base, trial.test.probe));
      if (probed.outcome == ProbeOutcome::same) continue;
      const bool wavers = probed.outcome == ProbeOutcome::differs || probed.wavers;
      trial.fate = wavers ? TestFate::not_deterministic : TestFate::unusable;
      trial.text = probed.text;
    }
  }
  return {};
}

struct ScopedMutant {
  std::string path;
  Mutant mutant;
};

Result<std::vector<ScopedMutant>> all_mutants(const Checker& checker) {
  std::vector<ScopedMutant> mutants;
  for (const Scope& scope : checker.task().scope) {
    TRY_ASSIGN(const std::string text, checker.base_text(scope.path));
    TRY_ASSIGN(auto own, mutants_of(checker.task().language, text, scope.function, kMostMutants));
    for (Mutant& mutant : own) mutants.push_back({scope.path, std::move(mutant)});
  }
  return mutants;
}

/// The mutants that build and pass the project's tests and the common inputs. Counts all that build, and those for
/// which no time was left.
Result<std::vector<Survivor>> survivors_of(Checker& checker, TestSelection& selection) {
  const auto began = std::chrono::steady_clock::now();
  std::vector<Survivor> left;
  TRY_ASSIGN(const auto mutants, all_mutants(checker));
  for (const std::size_t i : spread_order(mutants.size())) {
    const auto& [path, mutant] = mutants[i];
    if (std::chrono::steady_clock::now() - began > kMutantLimit) {
      ++selection.untried;
      continue;
    }
    TRY_ASSIGN(const std::string tree, checker.repository().with_files(checker.base_tree(), {{path, mutant.text}}));
    TRY_ASSIGN(CheckResult change, checker.build(tree));
    if (change.folder.empty()) continue;
    ++selection.mutants;
    TRY_ASSIGN(const bool survives, checker.survives(change));
    if (survives)
      left.push_back({fmt::format("{}, line {}: {}", path, mutant.line, mutant.what), std::move(change)});
    else
      checker.drop(change);
  }
  return left;
}

}  // namespace

Result<bool> Checker::survives(const CheckResult& mutant) {
  TRY_ASSIGN(const auto problems, test_problems(mutant.folder, enough_seconds(tests_cpu_seconds_)));
  if (!problems.empty()) return false;
  if (common_inputs_.empty()) {
    for (const CaseRequest& request : behaviour_requests()) common_inputs_.push_back({.request = request});
  }
  for (const Probe& input : common_inputs_) {
    TRY_ASSIGN(const ProbeResult probed, probe(mutant, input, {.times = 1, .hurried = true}));
    if (probed.outcome == ProbeOutcome::differs) return false;
  }
  return true;
}

std::string_view to_string(TestFate fate) {
  return base::name_in(kFates, fate);
}

int TestSelection::kept() const {
  return static_cast<int>(std::ranges::count(trials, TestFate::kept, &TestTrial::fate));
}

std::vector<GeneratedTest> TestSelection::usable() const {
  std::vector<GeneratedTest> tests;
  for (const TestTrial& trial : trials) {
    if (trial.fate == TestFate::kept || trial.fate == TestFate::no_new_mutant) tests.push_back(trial.test);
  }
  return tests;
}

Result<TestSelection> select_tests(Checker& checker, const std::vector<GeneratedTest>& tests) {
  TestSelection selection;
  for (const GeneratedTest& test : tests) selection.trials.push_back({.test = test, .text = {}});
  TRY(try_on_base(checker, selection.trials));
  const auto usable = [](const TestTrial& trial) { return trial.fate == TestFate::kept; };
  if (std::ranges::none_of(selection.trials, usable)) return selection;
  TRY_ASSIGN(auto survivors, survivors_of(checker, selection));
  selection.killed_before = selection.mutants - static_cast<int>(survivors.size());
  for (TestTrial& trial : selection.trials) {
    if (!usable(trial)) continue;
    for (auto mutant = survivors.begin(); mutant != survivors.end();) {
      TRY_ASSIGN(const ProbeResult probed, checker.probe(mutant->built, trial.test.probe, {.hurried = true}));
      if (probed.outcome != ProbeOutcome::differs) {
        ++mutant;
        continue;
      }
      if (trial.kills++ == 0) trial.text = mutant->what;
      checker.drop(mutant->built);
      mutant = survivors.erase(mutant);
    }
    if (trial.kills == 0) trial.fate = TestFate::no_new_mutant;
    selection.killed += trial.kills;
  }
  for (Survivor& mutant : survivors) checker.drop(mutant.built);
  return selection;
}

ACCELOPT_JSON(CaseRequest) {
  field.required("workload", it.workload, "size", it.size, "count", it.count, "seed", it.seed);
}

ACCELOPT_JSON(GeneratedTest) {
  field.required("why", it.why);
  field.optional("cases", it.probe.cases, "script", it.probe.script, "generate", it.probe.request);
}

ACCELOPT_JSON(TestTrial) {
  field.required("test", it.test);
  field.named("fate", it.fate, kFates);
  field.required("text", it.text, "kills", it.kills);
}

ACCELOPT_JSON(TestSelection) {
  field.required("trials", it.trials, "mutants", it.mutants, "killed_before", it.killed_before, "killed", it.killed);
  field.optional("untried", it.untried);
}

}  // namespace accelopt::refactor
