// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.hpp"
#include "model/evaluation.hpp"
#include "model/task.hpp"

namespace accelopt::app {

/// Where kernels are verified by an interpreter.
struct Interpretation {
  model::Task task;      ///< with the workloads alone that an interpreter gets through; one of them stands for a race
  std::string device;    ///< to be asked for
  std::string left_out;  ///< names of the other workloads; empty: there are none
};

/// The task for the interpreter of its target. @error unsupported: it has none.
base::Result<Interpretation> interpretation_of(const model::Task& task);

/// What a verification by the interpreter says: never a time, nor that anything was measured.
model::Evaluation without_times(model::Evaluation evaluation, const Interpretation& interpretation);

}  // namespace accelopt::app
