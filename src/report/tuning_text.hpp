// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "model/evaluation.hpp"

namespace accelopt::report {

/// "MR=6 NR=16, the fastest of 38 tried of 192 configurations (4 failed), 12.3 s".
std::string tuning_line(const model::Tuning& tuning);

/// The field as a table, the fastest first, at most `rows` rows, and why configurations failed, a line a reason.
std::string tuning_table(const model::Tuning& tuning, int rows);

}  // namespace accelopt::report
