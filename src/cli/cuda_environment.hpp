// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

namespace accelopt::cli {

/// What the environment says of where CUDA and its tools are: CUDA_HOME, CUDA_PATH, LD_LIBRARY_PATH, VIRTUAL_ENV, HOME,
/// PATH, ACCELOPT_NCU, ACCELOPT_COMPUTE_SANITIZER and ACCELOPT_NVDISASM, where set.
/// To be called before any thread is started.
std::map<std::string, std::string> cuda_environment();

}  // namespace accelopt::cli
