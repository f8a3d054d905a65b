// SPDX-License-Identifier: Apache-2.0
// A kernel in CUDA C++ as it stands in a user's file.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace accelopt::scaffold {

struct CudaParameter {
  /// Pointers to what is const are inputs, other pointers outputs, integers axes, other values inputs.
  enum class Kind { input, output, axis };
  std::string name;
  Kind kind = Kind::input;
};

struct CudaKernel {
  std::vector<CudaParameter> parameters;
  std::string source;  ///< the file's text, in which the kernel has the linkage of C
  std::string launch;  ///< what stands between <<< and >>> where the file launches it; empty if it does not
};

/// @error not_found: the file defines no such kernel.
/// @error unsupported: it is a template, or a parameter has no name.
base::Result<CudaKernel> find_cuda_kernel(const std::string& source, const std::string& name,
                                          const std::filesystem::path& file);

}  // namespace accelopt::scaffold
