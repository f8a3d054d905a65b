// SPDX-License-Identifier: Apache-2.0
#include "search/roofline_share.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "stats/estimate.hpp"

namespace accelopt::search {

double geometric_mean_ns(const std::vector<model::WorkloadTiming>& workloads) {
  std::vector<double> times;
  for (const model::WorkloadTiming& workload : workloads) {
    if (workload.role == model::Role::race && workload.time_ns > 0) times.push_back(workload.time_ns);
  }
  return times.empty() ? 0 : stats::geometric_mean(times);
}

double least_roofline(const std::vector<model::WorkloadTiming>& workloads) {
  double least = 1;
  bool any = false;
  for (const model::WorkloadTiming& workload : workloads) {
    if (workload.role != model::Role::race) continue;
    least = std::min(least, workload.roofline ? workload.roofline->fraction : 0.0);
    any = true;
  }
  return any ? least : 0;
}

std::string farthest_from_roofline(const std::vector<model::WorkloadTiming>& workloads) {
  const model::WorkloadTiming* farthest = nullptr;
  for (const model::WorkloadTiming& workload : workloads) {
    if (workload.role != model::Role::race || !workload.roofline) continue;
    if (farthest == nullptr || workload.roofline->fraction < farthest->roofline->fraction) farthest = &workload;
  }
  if (farthest == nullptr) return {};
  return fmt::format("workload {} runs at {:.0f} % of what this machine's measured {} allows", farthest->name,
                     100 * farthest->roofline->fraction,
                     farthest->roofline->bound == "memory" ? "memory" : "arithmetic");
}

}  // namespace accelopt::search
