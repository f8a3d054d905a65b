// SPDX-License-Identifier: Apache-2.0
// A task's reference in Python over PyTorch.
#pragma once

#include <stop_token>

#include "base/result.hpp"
#include "evaluation/bench.hpp"
#include "model/task.hpp"
#include "pytorch/worker.hpp"

namespace accelopt::pytorch {

/// The function `run` of the task's reference.py, on the processor: called with the inputs in the definition's order,
/// it returns the outputs, in their order or by their names. Every floating dtype that it names is taken for the
/// precision that is asked for. Used by one thread at a time.
/// @error as Worker::start; invalid_argument: the text does not run, or has no such function.
base::Result<evaluation::HostReference> make_reference(const model::Task& task, WorkerOptions options,
                                                       const std::stop_token& stop);

}  // namespace accelopt::pytorch
