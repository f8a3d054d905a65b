// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <stop_token>

#include "base/result.hpp"
#include "model/device_wait.hpp"

namespace accelopt::targets::cpu {

/// Each call takes the lock under which kernels are timed on this machine, and what it gives keeps it. For one thread.
/// `told`: a wait that takes long, and with whom the machine is shared.
/// @error permission_denied, io; a call's: cancelled.
base::Result<std::function<base::Result<std::shared_ptr<void>>()>> machine_hold(
    std::stop_token stop, std::function<void(const model::DeviceWait&)> told);

}  // namespace accelopt::targets::cpu
