// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>

#include "base/result.hpp"
#include "llm/clock.hpp"
#include "llm/provider.hpp"

namespace accelopt::llm {

/// How many questions may be in flight to one endpoint, and whether it has asked everybody to wait. Models of one
/// endpoint share one gate. May be used by many threads at once.
class Gate {
 public:
  /// At most `places` (at least 1) questions at a time. The clock must outlive the gate.
  Gate(int places, Clock& clock);

  /// One place, given back at destruction.
  class Permit {
   public:
    explicit Permit(Gate& gate) : gate_(&gate) {}
    Permit(Permit&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)) {}
    Permit& operator=(Permit&&) = delete;
    Permit(const Permit&) = delete;
    Permit& operator=(const Permit&) = delete;
    ~Permit();

   private:
    Gate* gate_;
  };

  /// Blocks until the gate is open and a place is free. @error cancelled: `stop` was asked for.
  base::Result<Permit> enter(const std::stop_token& stop);

  /// Lets nobody in for this long from now; a longer time that was asked for before stays.
  void hold_off(std::chrono::milliseconds time);

 private:
  void leave();

  Clock& clock_;
  std::mutex mutex_;
  std::condition_variable_any freed_;
  int free_;
  std::chrono::steady_clock::time_point opens_{};
};

/// A provider that passes the gate before each try, and closes it for as long as a failing server asks.
std::unique_ptr<ChatProvider> make_limited_provider(std::unique_ptr<ChatProvider> provider, std::shared_ptr<Gate> gate);

}  // namespace accelopt::llm
