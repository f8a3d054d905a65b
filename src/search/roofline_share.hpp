// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "model/evaluation.hpp"

namespace accelopt::search {

/// Of the times of the raced workloads, in nanoseconds; 0: there are none.
double geometric_mean_ns(const std::vector<model::WorkloadTiming>& workloads);

/// The smallest share of the roofline over the raced workloads; 0 where it is unknown.
double least_roofline(const std::vector<model::WorkloadTiming>& workloads);

/// "workload wide runs at 97 % of what memory allows": the one that is farthest from its floor. Empty: unknown.
std::string farthest_from_roofline(const std::vector<model::WorkloadTiming>& workloads);

}  // namespace accelopt::search
