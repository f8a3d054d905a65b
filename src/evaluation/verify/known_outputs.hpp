// SPDX-License-Identifier: Apache-2.0
// Inputs that the host knows: visible ones, and scalars. Where they alone decide an output, a plan may hold it,
// computed while nobody took the time; such a task is none.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "evaluation/bench.hpp"
#include "evaluation/verify/inputs.hpp"
#include "model/task.hpp"

namespace accelopt::evaluation {

/// Whether a scalar differs between sets of inputs.
bool draws_scalars(const model::Task& task);
/// Whether what the host knows differs between the sets of inputs of one plan: an input is visible, or a scalar is
/// drawn.
bool host_knows_values(const model::Task& task);

/// How a set of inputs is drawn, as declared: what the host knows from the seed `known`, everything else from `data`.
/// @error invalid_argument: an init that does not fit.
base::Result<std::vector<InputDraw>> known_draws(const model::Definition& definition, const model::Workload& workload,
                                                 std::uint64_t known, std::uint64_t data);

/// Of sets of inputs in which all that the host knows is the same, the outputs that are the same, too, by their places.
using EqualOutputs = std::function<base::Result<std::vector<std::size_t>>(const model::Workload& workload,
                                                                          std::vector<std::vector<InputDraw>> sets)>;

/// Looks at the smallest workload, and at larger ones while an output was never seen to differ. Does nothing where the
/// host knows no values.
/// @error invalid_argument: the task has an output that what the host knows decides alone; as `equal`.
base::Result<void> refuse_known_outputs(const model::Task& task, const EqualOutputs& equal);

/// By a reference on the host.
EqualOutputs equal_outputs(const model::Definition& definition, HostReference reference);

}  // namespace accelopt::evaluation
