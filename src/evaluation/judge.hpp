// SPDX-License-Identifier: Apache-2.0
// From a kernel to its verdict. Nobody else puts an evaluation together.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_map>

#include "base/outcome.hpp"
#include "evaluation/evaluator.hpp"
#include "model/evaluation.hpp"
#include "model/kernel.hpp"

namespace accelopt::evaluation {

/// Evaluations of programs by an id; what is known by two ids is one object.
using KnownEvaluations = std::unordered_map<std::string, std::shared_ptr<const model::Evaluation>>;

/// What a search knows already: whatever is the same program as one of these is not measured again.
struct KnownPrograms {
  const std::string& opponent;       ///< source id
  const std::string& opponent_code;  ///< machine-code id
  const KnownEvaluations& by_source;
  const KnownEvaluations& by_machine_code;
};

enum class JudgeStep { build, race, confirm, profile };

struct JudgeOptions {
  /// A model wrote the candidate: it is looked at before it is built, and compared with these.
  const KnownPrograms* known = nullptr;
  /// The opponent's evaluation, as the opening of the task reported it. Where nothing can be measured it is what is
  /// reported of the candidate; a candidate of its machine code ties with it.
  const model::Evaluation* opened = nullptr;
  std::optional<model::BuildReport> build{};  ///< made already
  /// Called when a step begins; what it has no value for ends the judgement.
  std::function<base::Outcome<void>(JudgeStep)> begin{};
  bool confirm = false;  ///< what passed, as a run does its winner
  bool profile = false;  ///< what passed
  std::stop_token stop{};
};

struct Judgement {
  std::optional<model::BuildReport> build;  ///< none: nothing had to be built
  std::optional<model::Kernel> chosen;      ///< the configuration, of a candidate that left values open
  /// The source id is that of the configuration, where one was chosen; the stages begin with the one build.
  model::Evaluation evaluation;
  /// The evaluation is that of the same program; nothing was measured, or nothing more. It has a ratio and a verdict
  /// where that program was raced against this opponent.
  bool known = false;
};

/// Builds, verifies and races a candidate against the opponent: the cheapest first, the first failure ends it.
/// @error as the evaluator and `begin` say; parse: the values that were chosen are not the candidate's.
base::Outcome<Judgement> judge(Evaluator& evaluator, const model::Kernel& candidate, const model::Kernel& opponent,
                               const JudgeOptions& options);

}  // namespace accelopt::evaluation
