// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace accelopt::targets::trainium {

struct PackageFile {
  std::string_view name;  ///< below accelopt_neuron/
  std::string_view text;
};

/// python/accelopt_neuron, as it was when this program was built.
std::span<const PackageFile> package_files();

}  // namespace accelopt::targets::trainium
