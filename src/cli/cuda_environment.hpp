// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

namespace accelopt::cli {

/// What the environment says of where CUDA is: CUDA_HOME, CUDA_PATH, LD_LIBRARY_PATH, VIRTUAL_ENV and HOME, where set.
/// To be called before any thread is started.
std::map<std::string, std::string> cuda_environment();

}  // namespace accelopt::cli
