// SPDX-License-Identifier: Apache-2.0
#include "targets/cpu/machine_hold.hpp"

#include "evaluation/device_lock.hpp"
#include "targets/cpu/machine.hpp"

namespace accelopt::targets::cpu {

base::Result<std::function<base::Result<std::shared_ptr<void>>()>> machine_hold(
    std::stop_token stop, std::function<void(const model::DeviceWait&)> told) {
  struct Held {
    evaluation::DeviceLock lock;
    evaluation::DeviceUse use;
  };
  TRY_ASSIGN(auto lock, evaluation::DeviceLock::open(kMachineLock));
  auto held = std::make_shared<Held>(Held{std::move(lock), {}});
  held->use.told = std::move(told);
  held->use.begin(std::move(stop));
  return [held]() -> base::Result<std::shared_ptr<void>> {
    TRY_ASSIGN(auto hold, evaluation::hold(held->lock, held->use));
    return std::shared_ptr<void>(std::move(hold));
  };
}

}  // namespace accelopt::targets::cpu
