// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "model/task.hpp"

namespace accelopt::suites {

/// The text of a task.toml that reads back as the task (its files apart).
std::string format_task_toml(const model::Task& task);

}  // namespace accelopt::suites
