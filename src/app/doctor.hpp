// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>

#include "app/device.hpp"
#include "app/noise.hpp"
#include "app/shell.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "evaluation/finding.hpp"

namespace accelopt::app {

struct DoctorOptions {
  std::filesystem::path workspace{};
  DeviceFlags device{};
  bool noise = false;  ///< measure the machine's noise, and keep the figure in the workspace
};

/// Progress callbacks: each finding as it is made.
struct DoctorPorts {
  evaluation::Report found;
  std::function<void()> measuring;  ///< what takes up to a minute begins
  std::function<void(const NoiseReport&)> measured;
};

/// Reports what this machine has, what is missing, and what to do about it; how much is missing that is needed.
/// @error cancelled; the workspace cannot be written.
base::Result<int> examine(const Shell& shell, const DoctorOptions& options, const DoctorPorts& ports);

/// The objects of docs/json.md.
base::Json to_json(const evaluation::Finding& finding);
base::Json to_json(const NoiseReport& noise);

}  // namespace accelopt::app
