// SPDX-License-Identifier: Apache-2.0
// An evidence archive checked anywhere: its hashes, its numbers by their samples, its decisions by its record, and by a
// measurement of one's own.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/evaluate.hpp"
#include "app/evidence_archive.hpp"
#include "app/shell.hpp"
#include "base/result.hpp"
#include "model/evaluation.hpp"
#include "model/solution.hpp"

namespace accelopt::app {

enum class CheckState { passed, failed, left_out };

struct EvidenceCheck {
  std::string name;  ///< "archive", "hashes", "record", "sources", "numbers", "result", "decisions", "measurement"
  CheckState state = CheckState::left_out;
  std::string text;  ///< what was checked, why it failed, or why it was left out
};

/// What a run says it found.
struct Claim {
  model::Interval speedup;
  model::Solution winner;
};

/// The winner against the baseline, measured here.
struct MeasuredHere {
  std::string device;
  model::Evaluation evaluation;
  bool holds = false;
};

struct Verification {
  std::string root;             ///< the archive's root hash; empty: it could not be read
  std::string run{}, device{};  ///< ids and names, once the record could be read
  model::Task task{};
  int recalled = 0;              ///< lessons of other runs that the record holds
  std::optional<Claim> claim{};  ///< none: the run found no gain, or the record could not be read
  std::vector<EvidenceCheck> checks{};
  std::optional<MeasuredHere> here{};

  /// No check failed.
  [[nodiscard]] bool passed() const;
};

/// Checks the archive: what its file, hashes or record refuse is not looked at further, the other checks stand beside
/// one another. Runs nothing of it. @error unsupported: a newer accelopt wrote it; cancelled.
base::Result<Verification> verify_evidence(std::string_view archive, const search::Stops& stops);

/// Builds baseline and winner and confirms the winner here, in the sandbox, and adds the check "measurement". The claim
/// holds if the winner passes here, is certainly faster, and some ratio of its interval here is at least the square
/// root of what was claimed: half of the gain, as ratios multiply. @error unavailable: nothing can be measured here; as
/// evaluate.
base::Result<void> measure_here(const Shell& shell, const DeviceFlags& device, const EvalPorts& ports,
                                Verification& verification);

/// The object of docs/json.md.
base::Json to_json(const Verification& verification);

}  // namespace accelopt::app
