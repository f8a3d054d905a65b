// SPDX-License-Identifier: Apache-2.0
#include "scaffold/verified_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace accelopt::scaffold {

std::vector<VerifiedExtents> verified_extents(const model::Task& task) {
  std::vector<VerifiedExtents> out;
  for (const std::string& axis : model::variable_axes(task.definition)) {
    bool is_known = false;
    VerifiedExtents extents{axis};
    for (const model::Workload& workload : task.workloads) {
      const auto found = workload.axes.find(axis);
      if (found == workload.axes.end()) continue;
      extents.smallest = is_known ? std::min(extents.smallest, found->second) : found->second;
      extents.largest = is_known ? std::max(extents.largest, found->second) : found->second;
      is_known = true;
    }
    if (is_known) out.push_back(std::move(extents));
  }
  return out;
}

std::int64_t most_verified_elements(const model::Task& task, const model::TensorSpec& tensor) {
  if (task.workloads.empty()) return 0;  // as init tries a patch
  model::Workload longest;
  for (const VerifiedExtents& extents : verified_extents(task)) longest.axes[extents.axis] = extents.largest;
  const std::int64_t most = model::element_count(tensor, model::bind_axes(task.definition, longest));
  std::int64_t verified = 0;
  for (const model::Workload& workload : task.workloads)
    verified = std::max(verified, model::element_count(tensor, model::bind_axes(task.definition, workload)));
  return verified < most ? verified : 0;
}

std::string note_on_sizes(const model::Task& task, const std::vector<std::string>& unknown) {
  const std::string sizes = base::joined(verified_extents(task), ", ", [](const VerifiedExtents& extents) {
    return extents.smallest == extents.largest
               ? fmt::format("{} = {}", extents.axis, extents.largest)
               : fmt::format("{} from {} to {}", extents.axis, extents.smallest, extents.largest);
  });
  if (sizes.empty()) return "";
  const std::string equal = base::joined(model::equal_axes(task), "", [](const auto& pair) {
    return fmt::format(", with {} = {}", pair.first, pair.second);
  });
  if (!unknown.empty())
    return fmt::format(
        "{}: the patch calls the winner for exactly the sizes of the workloads, because nothing in a call says how "
        "long "
        "{} is; all other calls run your own code. Say so in init, like --shape y=len+taps, or let the function take "
        "it",
        task.entry->function, base::joined(unknown, ", "));
  return fmt::format(
      "{}: the patch calls the winner for {}{}, the sizes on which it was verified; all other calls run your own code. "
      "For others, add a workload with role = \"check\" to task.toml and search again",
      task.entry->function, sizes, equal);
}

}  // namespace accelopt::scaffold
