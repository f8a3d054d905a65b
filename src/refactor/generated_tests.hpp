// SPDX-License-Identifier: Apache-2.0
// Behavioural tests that somebody wrote from the base alone, and which of them are worth keeping.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "refactor/probe.hpp"

namespace accelopt::refactor {

class Checker;

/// An input on which old and new code must do the same.
struct GeneratedTest {
  std::string why;  ///< what it is about, as its author says
  Probe probe;
};
void to_json(base::Json& out, const GeneratedTest& test);
void from_json(const base::Json& in, GeneratedTest& test);

/// What became of a test. kept: it kills a mutant that nothing before it kills. no_new_mutant: every mutant that it
/// kills is killed by the project's tests, by the common inputs or by a test that was kept before it; mutants are few
/// and small, so it may still be the one that shows a fault.
enum class TestFate { kept, unusable, not_deterministic, no_new_mutant };
std::string_view to_string(TestFate fate);

struct TestTrial {
  GeneratedTest test;
  TestFate fate = TestFate::kept;
  std::string text;  ///< why it is unusable; or the first mutant that it kills
  int kills = 0;     ///< mutants that nothing before it killed
};
void to_json(base::Json& out, const TestTrial& trial);
void from_json(const base::Json& in, TestTrial& trial);

/// What trying the tests came to.
struct TestSelection {
  std::vector<TestTrial> trials;  ///< in the order in which they were given
  int mutants = 0;                ///< that build
  int killed_before = 0;          ///< by the project's tests and by the common inputs
  int killed = 0;                 ///< by the kept tests besides
  int untried = 0;                ///< mutants for which no time was left
  [[nodiscard]] int kept() const;
  /// Those that the code takes and that give the same each time: changes are held to them, whether they kill or not.
  [[nodiscard]] std::vector<GeneratedTest> usable() const;
};
void to_json(base::Json& out, const TestSelection& selection);
void from_json(const base::Json& in, TestSelection& selection);

/// Of each function in scope; each is built and meets the project's tests.
inline constexpr std::size_t kMostMutants = 24;
/// They say what the tests are worth and choose none: no search waits longer for them.
inline constexpr std::chrono::minutes kMutantLimit{5};

/// Runs each on the base several times, in the given order and in the reverse, and on mutants of the functions in
/// scope; after kMutantLimit no more of these are built. @error cancelled, io.
base::Result<TestSelection> select_tests(Checker& checker, const std::vector<GeneratedTest>& tests);

}  // namespace accelopt::refactor
