// SPDX-License-Identifier: Apache-2.0
// Values for tests of the journal.
#pragma once

#include <string>

#include "journal/journal.hpp"

namespace accelopt::journal {

model::Task sample_task();
RunInfo sample_run(const std::string& id);
StepRecord sample_step(int attempt, const std::string& kind, const std::string& input_hash, base::Json output);

}  // namespace accelopt::journal
