// SPDX-License-Identifier: Apache-2.0
// One input that somebody gave, such as a reviewer, run on old and new code: whether it shows a difference.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "refactor/driver.hpp"

namespace accelopt::refactor {

/// One of the three is given.
struct Probe {
  std::string cases{};                   ///< a file of cases, in the driver's own form
  std::optional<CaseRequest> request{};  ///< or what the generator is to write
  std::string script{};                  ///< or a program in the task's language, whose standard output counts
};

/// differs: the new code does otherwise. unusable: the old code fails on it or does not always give the same, or it is
/// no input at all.
enum class ProbeOutcome { differs, same, unusable };
std::string_view to_string(ProbeOutcome outcome);

struct ProbeResult {
  ProbeOutcome outcome = ProbeOutcome::same;
  std::string text;     ///< the difference, or why it cannot be used
  bool wavers = false;  ///< unusable because the old code does not always give the same on it
};

inline constexpr std::size_t kMostProbeBytes = 1UL << 20;
/// Times that the new code runs on it: a race or an order that is drawn shows itself only now and then.
inline constexpr int kProbeRuns = 3;

/// Processor time of a mutant that is not waited for any longer: ten times what the old code takes, and a second.
std::int64_t enough_seconds(double of_old_code);

/// How the new code is run on an input. hurried: it ends after `enough_seconds`, which is a difference.
struct ProbeRuns {
  int times = kProbeRuns;
  bool hurried = false;
};

/// What the old code does on an input: it is asked once, and again only where new code does otherwise.
struct KnownProbe {
  std::optional<ProbeResult> unusable{};
  std::string cases{};     ///< as the driver reads them
  std::string did{};       ///< a hash; empty: it was not asked yet
  double cpu_seconds = 0;  ///< of the longest run
};
/// Of one base.
class KnownProbes {
 public:
  KnownProbe& of(const Probe& probe);

 private:
  std::map<std::string, KnownProbe> known_;  ///< by what the probe holds
};

/// Whether scripts run in this language.
bool runs_scripts(const CodeLanguage& language);

/// Runs inputs on the trees of a task.
class Prober {
 public:
  /// These must outlive it.
  Prober(Driver& driver, const Jail& jail, const Task& task) : driver_(driver), jail_(jail), task_(task) {}
  /// `known`: of this input, and of this old tree. @error cancelled, io. A bad probe is a result.
  base::Result<ProbeResult> run(const Trees& trees, const Probe& probe, ProbeRuns runs, KnownProbe& known);

 private:
  Driver& driver_;
  const Jail& jail_;
  const Task& task_;
};

}  // namespace accelopt::refactor
