// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "base/result.hpp"
#include "capture/python.hpp"
#include "evaluation/target.hpp"

namespace accelopt::targets::trainium {

struct TrainiumOptions {
  std::string device;  ///< "trn1:model", or "trn2:model"; the target's own name: the first
  capture::PythonOptions python;
  /// Runs a task's reference.cpp.
  std::function<base::Result<evaluation::HostReference>(const model::Task&, evaluation::DeviceUse&, std::stop_token)>
      make_host_reference;
  std::filesystem::path constants{};  ///< a file with measured ones (constants.hpp); empty: those of chip.hpp
};

/// Computes what a kernel computes, and models how long a Trainium takes for it. Nothing is measured.
std::unique_ptr<evaluation::Target> make_trainium_target(TrainiumOptions options);

}  // namespace accelopt::targets::trainium
