// SPDX-License-Identifier: Apache-2.0
// All that is on record of one candidate: its source, its change, what was measured, and what was asked for it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "report/run_story.hpp"

namespace accelopt::app {

/// A question to a model and its answer.
struct AskedQuestion {
  std::string label;  ///< "executor i0.b0.p1.a0 try0"
  std::string model;  ///< who answered
  base::Json prompt;  ///< [[speaker, text], ...]; null: it is not on record (a version before wrote the run)
  std::string answer;
  model::Usage usage;
};

struct CandidateRecord {
  std::string run;
  std::string id;                ///< identity, or "baseline"
  std::string parent;            ///< likewise; empty: of the baseline
  report::StoryAttempt attempt;  ///< of the baseline: its kernel alone
  std::string fate;              ///< in a word or two
  std::string source;            ///< its main text; empty: no answer came
  std::string diff_from_parent;  ///< unified; empty: equal, or the baseline
  std::string diff_from_baseline;
  std::optional<model::Evaluation> race;
  std::optional<model::Profile> profile;
  std::vector<AskedQuestion> questions;  ///< for its plan and for itself, in order
};

/// By identity (i0.b0.p1.a0.f0; any answer of the attempt), or "baseline". @error not_found: there is no such run or
/// candidate; as open_workspace.
base::Result<CandidateRecord> read_candidate(const std::filesystem::path& workspace, const std::string& run,
                                             const std::string& id);

/// The object of docs/page.md.
base::Json to_json(const CandidateRecord& candidate);

}  // namespace accelopt::app
