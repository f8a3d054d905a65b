// SPDX-License-Identifier: Apache-2.0
// A solution as a folder that builds, and passes a test against its task's reference, without this program.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/solution.hpp"
#include "model/task.hpp"

namespace accelopt::packages {

struct PackageRequest {
  const model::Task& task;
  const model::Solution& solution;   ///< with one value a tuned name
  std::string claim;                 ///< what is known of its speed, a sentence
  std::vector<std::string> flags{};  ///< of a processor's compiler, with which it was measured
};

struct PackageFile {
  std::string name;  ///< relative to the package's folder
  std::string text;
};
using Package = std::vector<PackageFile>;

/// The task's name as a C identifier that nothing else in the package or the C library has: what the package's
/// function, library and operator are called.
std::string package_name(const PackageRequest& request);

/// A C or C++ kernel: header, source, CMakeLists.txt with its flags, test.
/// @error unsupported: outputs with ties, or an init that does not evaluate.
base::Result<Package> cpp_package(const PackageRequest& request);

/// CUDA kernels with directives: a host launcher over the driver's interface, CMakeLists.txt, test.
/// @error unsupported: as cpp_package; invalid_argument: directives that do not bind.
base::Result<Package> cuda_package(const PackageRequest& request);

/// The same kernels, or a Triton solution, as an operator of PyTorch with a fake kernel, and a test.
/// @error as cuda_package; unsupported: a file of a Triton solution is called as one of the package.
base::Result<Package> torch_package(const PackageRequest& request);

/// A Triton solution's own Python, its configuration fixed, and a test. @error as torch_package.
base::Result<Package> triton_package(const PackageRequest& request);

}  // namespace accelopt::packages
