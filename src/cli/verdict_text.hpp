// SPDX-License-Identifier: Apache-2.0
// One evaluation as people read it.
#pragma once

#include <string>

#include "model/evaluation.hpp"
#include "model/task.hpp"
#include "report/document.hpp"

namespace accelopt::cli {

/// What was decided and why, in one sentence: "PASSED, FASTER: 9.12x [9.05, 9.20] of the baseline's speed; the whole
/// interval lies above 1 (8 blocks)". What a compiler or a comparison says follows on lines of its own.
std::string decision_text(const model::Evaluation& evaluation);

/// The decision, the times of the workloads, the profile, the notes.
report::Document verdict_page(const model::Task& task, const model::Evaluation& evaluation);

}  // namespace accelopt::cli
