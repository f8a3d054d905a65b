// SPDX-License-Identifier: Apache-2.0
// One input that somebody gave, such as a reviewer, run on old and new code: whether it shows a difference.
#pragma once

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

/// Whether scripts run in this language.
bool runs_scripts(const CodeLanguage& language);

/// @error cancelled, io. A bad probe is a result.
base::Result<ProbeResult> run_probe(Driver& driver, const Jail& jail, const Task& task, const Trees& trees,
                                    const Probe& probe);

}  // namespace accelopt::refactor
