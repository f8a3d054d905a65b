// SPDX-License-Identifier: Apache-2.0
// A task small enough that everything about it takes milliseconds: y[i] = sum over k of x[i][k]^2 * g[k] + s.
#pragma once

#include <string>

#include "evaluation/evaluator.hpp"
#include "model/task.hpp"

namespace accelopt::targets::cpu {

/// Where compilers are looked for.
inline constexpr const char* kPath = "/usr/local/bin:/usr/bin:/bin";

inline constexpr const char* kSmallBaseline = R"(#include "task.h"
extern "C" void kernel(const float* x, const float* g, float s, float* y, int64_t M) {
  for (int64_t i = 0; i < M; ++i) {
    float sum = 0.0f;
    for (int64_t k = 0; k < K; ++k) sum += x[i * K + k] * x[i * K + k] * g[k];
    y[i] = sum + s;
  }
}
)";

/// Eight sums at a time: certainly faster than the baseline's one chain of additions.
inline constexpr const char* kSmallFast = R"(#include "task.h"
extern "C" void kernel(const float* x, const float* g, float s, float* y, int64_t M) {
  for (int64_t i = 0; i < M; ++i) {
    float sums[8] = {};
    for (int64_t k = 0; k < K; k += 8)
      for (int64_t l = 0; l < 8; ++l) sums[l] += x[i * K + k + l] * x[i * K + k + l] * g[k + l];
    float sum = 0.0f;
    for (int64_t l = 0; l < 8; ++l) sum += sums[l];
    y[i] = sum + s;
  }
}
)";

inline constexpr const char* kSmallReference = R"(#include "task.h"
extern "C" void reference(const real* x, const real* g, real s, real* y, int64_t M) {
  for (int64_t i = 0; i < M; ++i) {
    real sum = 0;
    for (int64_t k = 0; k < K; ++k) sum += x[i * K + k] * x[i * K + k] * g[k];
    y[i] = sum + s;
  }
}
)";

inline model::Solution solution_of(const std::string& text, model::Language language = model::Language::cpp) {
  model::Solution out;
  out.language = language;
  out.sources.push_back({language == model::Language::c ? "kernel.c" : "kernel.cpp", text});
  return out;
}

inline model::TensorSpec tensor(std::string name, std::optional<std::vector<std::string>> shape) {
  model::TensorSpec out;
  out.name = std::move(name);
  out.shape = std::move(shape);
  return out;
}

inline model::Task small_task() {
  model::Task task;
  model::Definition& definition = task.definition;
  definition.name = "weighted_square_sum";
  definition.op_type = definition.name;
  definition.axes = {{"M", std::nullopt}, {"K", 256}};
  definition.inputs = {tensor("x", std::vector<std::string>{"M", "K"}), tensor("g", std::vector<std::string>{"K"}),
                       tensor("s", std::nullopt)};
  definition.inputs[0].families = {model::Family::positive, model::Family::scaled_up, model::Family::sparse};
  definition.outputs = {tensor("y", std::vector<std::string>{"M"})};
  definition.cost = {"3*M*K", "4*(M*K + K + M)"};
  task.workloads = {{"rows_400", {{"M", 400}}, model::Role::race, 1.0},
                    {"rows_61", {{"M", 61}}, model::Role::check, 1.0},
                    {"rows_33", {{"M", 33}}, model::Role::held_out, 1.0}};
  task.baseline = solution_of(kSmallBaseline);
  task.reference = {"reference.cpp", kSmallReference};
  return task;
}

inline evaluation::MeasureSettings small_settings() {
  evaluation::MeasureSettings settings;
  settings.seed = 20261121;
  settings.max_seconds_per_workload = 1;
  settings.call_limit_seconds = 2;
  return settings;
}

}  // namespace accelopt::targets::cpu
