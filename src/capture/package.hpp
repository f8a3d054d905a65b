// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace accelopt::capture {

struct PackageFile {
  std::string_view name;  ///< below accelopt_capture/
  std::string_view text;
};

/// python/accelopt_capture, as it was when this program was built.
std::span<const PackageFile> package_files();
/// python/accelopt_nki and python/neuronxcc: their names are below python/.
std::span<const PackageFile> nki_files();

}  // namespace accelopt::capture
