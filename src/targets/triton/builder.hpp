// SPDX-License-Identifier: Apache-2.0
// The front end of Triton for a CUDA device.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>

#include "targets/cuda/build.hpp"
#include "targets/triton/capturer.hpp"

namespace accelopt::targets::triton {

using MakeTrusted = std::function<base::Result<std::unique_ptr<cuda::CudaBuilder>>()>;

/// Captures candidates. References and trusted kernels are built by what `trusted` makes, when the first is wanted:
/// capturing does without. @error unsupported: no Python with Triton; a task that cannot be captured.
base::Result<std::unique_ptr<cuda::CudaBuilder>> make_triton_builder(const model::Task& task, CaptureOptions options,
                                                                     MakeTrusted trusted, const std::stop_token& stop);

}  // namespace accelopt::targets::triton
