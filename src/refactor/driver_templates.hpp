// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace accelopt::refactor {

/// One file of drivers/ as it was when the program was built.
struct DriverTemplate {
  std::string_view name;  ///< relative to drivers/: "python/driver.py"
  std::string_view text;
};

std::span<const DriverTemplate> driver_templates();

}  // namespace accelopt::refactor
