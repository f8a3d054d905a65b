// SPDX-License-Identifier: Apache-2.0
// The task.toml that `init` writes of a function in C or C++.
#pragma once

#include <string>
#include <vector>

#include "model/task.hpp"
#include "scaffold/made_sizes.hpp"
#include "scaffold/signature.hpp"

namespace accelopt::scaffold {

struct TomlDraft {
  std::string text;
  std::vector<std::string> open;  ///< what nothing states, each a line "task.toml:14: axes.K"
};

/// Requires the task's definition, [entry], baseline and reference; its workloads are made here.
TomlDraft task_toml(const Signature& signature, const Stated& stated, const model::Task& task, TensorLengths lengths);

}  // namespace accelopt::scaffold
