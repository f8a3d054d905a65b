// SPDX-License-Identifier: Apache-2.0
// A small task of the target cuda, and NVRTC where this machine has it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

#include "targets/cuda/build.hpp"

namespace accelopt::targets::cuda {

/// y[M, N] = scale * x[M, N] in float32, M variable: workloads "race" with M = 64 and "odd" with M = 61.
inline model::Task scale_task() {
  const auto tensor = [](const std::string& name, std::optional<std::vector<std::string>> shape) {
    model::TensorSpec out;
    out.name = name;
    out.shape = std::move(shape);
    return out;
  };
  using Axes = std::vector<std::string>;
  model::Task out;
  out.target = "cuda";
  out.definition.name = "scale";
  out.definition.axes = {{"M", std::nullopt}, {"N", 512}};
  out.definition.inputs = {tensor("x", Axes{"M", "N"}), tensor("scale", std::nullopt)};
  out.definition.outputs = {tensor("y", Axes{"M", "N"})};
  out.workloads = {{"race", {{"M", 64}}, model::Role::race, 1.0}, {"odd", {{"M", 61}}, model::Role::check, 1.0}};
  out.baseline.language = model::Language("cuda");
  out.reference.name = "reference.cu";
  return out;
}

inline constexpr const char* kScaleLaunch = "//@ launch scale_rows grid=(M) block=(256) args=(x, scale, y, M)\n";

/// A whole kernel of the task with this body.
inline model::Solution scale_kernel(const std::string& body, const std::string& before = {}) {
  model::Solution out;
  out.language = model::Language("cuda");
  out.sources.push_back({"kernel.cu", kScaleLaunch + before +
                                          "extern \"C\" __global__ void scale_rows(const float* x, float scale, "
                                          "float* y, int64_t M) {\n" +
                                          body + "\n}\n"});
  return out;
}

inline constexpr const char* kScaleBody =
    "  for (int i = threadIdx.x; i < N; i += blockDim.x) y[blockIdx.x * N + i] = scale * x[blockIdx.x * N + i];";

/// What the environment says of CUDA and Python's packages.
inline std::map<std::string, std::string> cuda_environment() {
  std::map<std::string, std::string> out;
  for (const char* name : {"CUDA_HOME", "CUDA_PATH", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "HOME"}) {
    if (const char* value = std::getenv(name)) out[name] = value;
  }
  return out;
}

inline CudaBuildOptions build_options() {
  CudaBuildOptions out;
  out.environment = cuda_environment();
  return out;
}

/// Why tests with NVRTC cannot run here; empty: they can.
inline const std::string& no_nvrtc() {
  static const std::string reason = [] {
    const auto found = find_nvrtc(build_options());
    return found ? std::string() : found.error().message;
  }();
  return reason;
}

}  // namespace accelopt::targets::cuda
