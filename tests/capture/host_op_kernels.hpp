// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace accelopt::capture {

struct HostOpKernel {
  std::string name;
  bool (*launch)(const unsigned* grid, const unsigned* block, void** parameters);
  std::size_t (*parameter)(std::size_t index);  ///< its bytes; 0: there are no more
};

/// The kernel of that name, or null.
const HostOpKernel* host_op_kernel(const std::string& name);

}  // namespace accelopt::capture
