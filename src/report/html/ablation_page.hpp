// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report/ablation.hpp"

namespace accelopt::report::html {

/// What each part of the method is worth, as one HTML document: arms beside their base with intervals, and every run.
std::string ablation_page(const Ablation& ablation);

}  // namespace accelopt::report::html
