// SPDX-License-Identifier: Apache-2.0
// What the capturing process answers. A solution's code has run where it comes from: every part of it is hostile.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "capture/choices.hpp"
#include "capture/request.hpp"
#include "devices/cuda/program.hpp"

namespace accelopt::capture {

/// Something that a solution does and that has no effect, or another one than meant.
struct Finding {
  std::string file;
  int line = 0;
  std::string message;
};

struct Captured {
  devices::cuda::Program program;  ///< its plans are named as the request's workloads
  std::vector<std::string> ptxas;  ///< what ptxas printed, a text per cubin
  bool host_ops = false;           ///< plans launch kernels of the cubin behind the last one: host_ops.hpp's
  std::vector<Finding> findings;
  /// How many elements of an input the host says it has read, the most of all workloads.
  std::map<std::string, std::uint64_t> reads;
  double seconds = 0;
};

/// Of constants that the host derives, a plan. They are copied inside the timed region.
inline constexpr std::uint64_t kMostUploadedBytes = 1 << 20;

/// Why a solution is not captured, as compilers say it: "main.py:41: error: Tensor.softmax: ...".
std::string diagnostics_of(const base::Json& error);

/// Checked against what was asked: tensors, offsets, names and sizes. Of a choice the configuration that is selected;
/// without a selection the first one that is there.
/// @error corrupt: it is not what an answer is; unsupported: a selected configuration is not there, and why.
base::Result<Captured> read_captured(const base::Json& ok, const Request& request,
                                     const Selection* selection = nullptr);

}  // namespace accelopt::capture
