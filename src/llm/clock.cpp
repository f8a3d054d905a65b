// SPDX-License-Identifier: Apache-2.0
#include "llm/clock.hpp"

#include <condition_variable>
#include <mutex>

namespace accelopt::llm {
namespace {

class MachineClock final : public Clock {
 public:
  std::chrono::steady_clock::time_point now() override { return std::chrono::steady_clock::now(); }
  std::chrono::system_clock::time_point time_of_day() override { return std::chrono::system_clock::now(); }
  void wait(std::chrono::milliseconds time, const std::stop_token& stop) override {
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    never.wait_for(lock, stop, time, [] { return false; });
  }
};

}  // namespace

std::unique_ptr<Clock> make_clock() {
  return std::make_unique<MachineClock>();
}

}  // namespace accelopt::llm
