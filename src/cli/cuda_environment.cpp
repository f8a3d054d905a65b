// SPDX-License-Identifier: Apache-2.0
#include "cli/cuda_environment.hpp"

#include <cstdlib>

namespace accelopt::cli {

std::map<std::string, std::string> cuda_environment() {
  std::map<std::string, std::string> out;
  for (const char* name : {"CUDA_HOME", "CUDA_PATH", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "HOME", "PATH", "ACCELOPT_NCU",
                           "ACCELOPT_COMPUTE_SANITIZER", "ACCELOPT_NVDISASM"}) {
    const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): before any thread
    if (value != nullptr && *value != '\0') out[name] = value;
  }
  return out;
}

}  // namespace accelopt::cli
