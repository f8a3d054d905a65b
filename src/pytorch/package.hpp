// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace accelopt::pytorch {

struct PackageFile {
  std::string_view name;  ///< below accelopt_torch/
  std::string_view text;
};

/// python/accelopt_torch, as it was when this program was built.
std::span<const PackageFile> package_files();

}  // namespace accelopt::pytorch
