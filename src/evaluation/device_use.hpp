// SPDX-License-Identifier: Apache-2.0
// What a request makes of a device that others may be using.
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>
#include <utility>

#include "model/device_wait.hpp"
#include "model/step_share.hpp"

namespace accelopt::evaluation {

/// Belongs to the thread that measures.
struct DeviceUse {
  std::stop_token stop;          ///< of the request
  std::stop_token stop_waiting;  ///< ends a wait that was told, and nothing else
  std::function<void(const model::DeviceWait&)> told;
  std::function<void(const model::StepShare&)> progressed;
  bool was_told = false;                          ///< a wait of this request
  std::string shared_with;                        ///< of this request: who held the lock while it was measured
  std::chrono::steady_clock::duration waited{0};  ///< over all requests

  void begin(std::stop_token of_request) {
    stop = std::move(of_request);
    was_told = false;
    shared_with.clear();
  }
  void progress(const model::StepShare& share) const {
    if (progressed) progressed(share);
  }
  [[nodiscard]] double waited_seconds() const { return std::chrono::duration<double>(waited).count(); }
};

}  // namespace accelopt::evaluation
