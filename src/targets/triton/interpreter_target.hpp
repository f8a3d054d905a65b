// SPDX-License-Identifier: Apache-2.0
// Triton solutions where there is no device: verified by Triton's interpreter, and never timed.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>

#include "base/result.hpp"
#include "evaluation/target.hpp"
#include "targets/triton/capturer.hpp"

namespace accelopt::targets::triton {

struct InterpreterOptions {
  CaptureOptions capture;
  /// Runs a task's reference.cpp.
  std::function<base::Result<evaluation::HostReference>(const model::Task&, evaluation::DeviceUse&, std::stop_token)>
      make_host_reference;
};

/// Verifies; whatever is raced on it fails.
std::unique_ptr<evaluation::Target> make_interpreter_target(InterpreterOptions options);

}  // namespace accelopt::targets::triton
