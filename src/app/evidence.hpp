// SPDX-License-Identifier: Apache-2.0
// The evidence of a run, taken from its journal: what docs/evidence.md says, and nothing of the machine or of its user.
#pragma once

#include <filesystem>
#include <string>

#include "app/shell.hpp"
#include "app/verification.hpp"
#include "base/result.hpp"

namespace accelopt::app {

/// The models' answers word for word, beside the plans, kernels and lessons that were read from them.
enum class RawAnswers { left_out, kept };

struct EvidenceRequest {
  std::filesystem::path workspace;
  std::string run = "last";      ///< as Journal::find_run
  std::filesystem::path output;  ///< file to write
  RawAnswers answers = RawAnswers::left_out;
};

/// Writes the archive once it has passed its own verification, which is returned.
/// @error invalid_argument: the run has not ended; corrupt: its record does not verify, which check and why;
/// permission_denied: the archive would hold a key or name a folder of this machine; as open_workspace, pack_evidence
/// and base::write_file.
base::Result<Verification> write_evidence(const Shell& shell, const EvidenceRequest& request);

}  // namespace accelopt::app
