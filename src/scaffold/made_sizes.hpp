// SPDX-License-Identifier: Apache-2.0
// Workloads that `init` adds to the raced one, so that a kernel for one size cannot pass.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/task.hpp"
#include "scaffold/signature.hpp"

namespace accelopt::scaffold {

struct MadeWorkload {
  std::string name;
  model::Role role = model::Role::check;
  std::vector<std::pair<std::string, std::int64_t>> extents{};  ///< of every variable axis, in the order of the axes
};

/// Whether every tensor's length follows from the axes.
enum class TensorLengths { known, unknown };

/// The raced workload, and, if an axis varies, one to check and one that is held out. Where `baseline`, the function as
/// a kernel, loops over each variable axis, a large one is added, with up to 16 times the elements, as far as checking
/// it is cheap; and a small one, where it computes no extent from another. Extents that it divides by a constant, or
/// takes the remainder of, stay multiples of that constant.
/// Axes that are raced equal differ in the other workloads where the function loops over both without comparing them,
/// or strides by one of them: the stride is the longer one.
/// Where lengths are unknown, they stay equal, and no extent is over the raced one, for which constant lengths were
/// stated. An axis that has room in an array of the function's own is never longer than when raced either, since a
/// longer one may not fit.
std::vector<MadeWorkload> made_workloads(const Signature& signature, const std::string& baseline,
                                         TensorLengths lengths = TensorLengths::known);

}  // namespace accelopt::scaffold
