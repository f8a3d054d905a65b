// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace accelopt::capture {

struct KernelFile {
  std::string_view name;
  std::string_view text;
};

/// kernels/host_ops.cu, as it was when this program was built.
std::span<const KernelFile> kernel_files();

}  // namespace accelopt::capture
