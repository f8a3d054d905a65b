// SPDX-License-Identifier: Apache-2.0
// What a package's test knows of its task.
#pragma once

#include <string>

#include "base/json.hpp"
#include "base/result.hpp"
#include "model/task.hpp"

namespace accelopt::packages {

/// Which workloads the test runs unasked.
enum class Quick { all, checked };

/// kWorkloads and kTolerance, as check.hpp declares them. @error unsupported: an init that does not evaluate.
base::Result<std::string> cpp_tables(const model::Task& task, Quick quick);

/// task.json of a package in Python. @error as cpp_tables.
base::Result<base::Json> json_tables(const model::Task& task);

}  // namespace accelopt::packages
