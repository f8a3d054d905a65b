// SPDX-License-Identifier: Apache-2.0
// The task and the solutions that a fake worker measures.
#pragma once

#include <string>

#include "model/solution.hpp"
#include "model/task.hpp"

namespace accelopt::evaluation {

inline model::Solution source(const std::string& text) {
  model::Solution out;
  out.sources.push_back({"kernel.cpp", text});
  return out;
}

inline model::Task task() {
  model::Task out;
  out.definition.name = "fake";
  out.baseline = source("speed=1");
  out.workloads.push_back({"small", {}, model::Role::race, 1.0});
  return out;
}

}  // namespace accelopt::evaluation
