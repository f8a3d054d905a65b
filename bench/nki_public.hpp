// SPDX-License-Identifier: Apache-2.0
// The fourteen kernels of the public NKI benchmark, in a user's checkout of it: what they take and return, and what was
// recorded of them on a Trainium 1. Nothing of the checkout is part of this repository.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/kernel.hpp"
#include "model/task.hpp"

namespace accelopt::bench {

struct PublicKernel {
  std::string name;                               ///< of the operator
  std::string file;                               ///< in NKIBench/kernels
  std::vector<std::vector<std::int64_t>> inputs;  ///< as the kernel takes them; an empty one: epsilon, 1e-5
  std::vector<std::int64_t> output;
};

const std::vector<PublicKernel>& public_kernels();

/// With one raced workload, and no reference.
model::Task task_of(const PublicKernel& kernel);

/// The kernel's source, from the checkout or from a file of its own. @error not_found, io.
base::Result<model::Kernel> kernel_of(const std::filesystem::path& file);

/// Figures of a profile by their names, "latency" in ms, by operator. @error not_found, parse.
base::Result<std::map<std::string, std::map<std::string, double>>> read_recorded(const std::filesystem::path& checkout);

}  // namespace accelopt::bench
