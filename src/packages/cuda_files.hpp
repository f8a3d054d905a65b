// SPDX-License-Identifier: Apache-2.0
// The files that every package of device code has, whoever builds them.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/task.hpp"
#include "packages/package.hpp"

namespace accelopt::packages {

/// kernels.cu, task.cuh, launcher.cpp and NAME.h, and the flags that the compiler is given.
struct DeviceFiles {
  Package files;
  std::vector<std::string> flags;
};
/// @error invalid_argument: directives that are none, or leave a value open.
base::Result<DeviceFiles> device_files(const PackageRequest& request);

/// reference.cu with its launchers in double and single precision, or reference.cpp with its header.
/// @error as device_files.
base::Result<Package> reference_files(const model::Task& task);

/// Whether the task's reference is device code.
bool reference_on_device(const model::Task& task);

}  // namespace accelopt::packages
