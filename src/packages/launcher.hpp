// SPDX-License-Identifier: Apache-2.0
// The host side of device code with directives: a C function that launches its kernels by the CUDA driver's interface.
#pragma once

#include <string>

#include "base/result.hpp"
#include "model/launch_plan.hpp"
#include "model/task.hpp"

namespace accelopt::packages {

struct LauncherRequest {
  std::string name;                     ///< of the function
  const model::Definition& definition;  ///< with the types that the kernels take
  const model::DeviceDirectives& directives;
};

/// NAME.h's declarations: `CUresult NAME(stream, scratch, inputs, outputs, axes)` and `NAME_scratch_bytes(axes)`.
std::string launcher_declarations(const model::Definition& definition, const std::string& name);

/// The C++ source of both. Its machine code is the file that the macro KERNELS names. @error invalid_argument: an
/// expression that is none, or a name that is not known.
base::Result<std::string> launcher_source(const LauncherRequest& request);

}  // namespace accelopt::packages
