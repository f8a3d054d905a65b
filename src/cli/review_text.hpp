// SPDX-License-Identifier: Apache-2.0
// Reviews and rates as people read them.
#pragma once

#include <string>

#include "app/review.hpp"
#include "app/review_calibration.hpp"
#include "app/reviewer_history.hpp"

namespace accelopt::cli {

std::string review_text(const app::ReviewReport& report);
std::string calibration_text(const app::Calibration& calibration);
std::string reviewer_text(const app::ReviewerRecord& record);

}  // namespace accelopt::cli
