// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "report/resolve_times.hpp"

namespace accelopt::report::html {

/// benchmarks/trend.svg: three panels over passes through the suite: seconds and evaluations to resolve, and the share
/// of the peak, a line an arm. A vertical line stands where the suite, the player, its program or the machine changed.
std::string trend_svg(const std::vector<ResolveLine>& lines);

}  // namespace accelopt::report::html
