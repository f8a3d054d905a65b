// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "journal/journal.hpp"
#include "model/usage.hpp"

namespace accelopt::journal {

/// What each role, reviewer and tester used in a run, everything once: what it answered, in whatever came of its
/// questions, and what it was asked in vain. An answer that is on record as a chat is paid for although its question
/// never ended: the run was stopped, its budget was used up, or it failed.
std::map<std::string, model::Usage> usage_by_role(const std::vector<StepRecord>& steps);

}  // namespace accelopt::journal
