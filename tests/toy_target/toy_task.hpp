// SPDX-License-Identifier: Apache-2.0
// A task for the toy target, and kernels of it.
#pragma once

#include <stdexcept>
#include <utility>

#include "base/files.hpp"
#include "model/task.hpp"
#include "suites/task_folder.hpp"

namespace accelopt::toy {

inline constexpr const char* kToml = R"toml(schema = 1
name = "twice_the_cube"
target = "toy"
[axes]
M = "var"
[[inputs]]
name = "x"
dtype = "float32"
shape = ["M"]
init = "normal(0, 1)"
[[outputs]]
name = "y"
dtype = "float32"
shape = ["M"]
[[workloads]]
name = "race"
axes = { M = 40 }
role = "race"
[[workloads]]
name = "hidden"
axes = { M = 33 }
role = "held_out"
)toml";
inline constexpr const char* kBaseline = "x x * x * x x * x * +\n";  // 5 operations
inline constexpr const char* kFaster = "x x * x * dup +\n";          // 3
inline constexpr const char* kWrong = "x x +\n";

/// Read from a task folder. What the baseline computes is what is right.
inline model::Task toy_task(const char* baseline = kBaseline) {
  const auto folder = base::TemporaryFolder::create("toy");
  for (const auto& [name, text] : std::initializer_list<std::pair<const char*, const char*>>{
           {"task.toml", kToml}, {"baseline.expr", baseline}, {"reference.expr", baseline}}) {
    if (!base::write_file(folder->path() / name, text)) throw std::runtime_error("the toy task cannot be written");
  }
  return suites::load_task(folder->path()).value();
}

}  // namespace accelopt::toy
