// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "base/result.hpp"
#include "llm/clock.hpp"
#include "llm/provider.hpp"
#include "llm/rate_headers.hpp"

namespace accelopt::llm {

/// What one endpoint may be asked, by the user's word.
struct GateLimits {
  int places = 32;                                  ///< questions in flight, at least 1
  std::optional<int> requests_per_minute{};         ///< in any 60 seconds
  std::optional<std::int64_t> tokens_per_minute{};  ///< in any 60 seconds, input and output
};

/// How many questions may be in flight to one endpoint, how many of them and of their tokens a minute, what its server
/// says is left, and whether it has asked everybody to wait. Models of one endpoint share one gate. May be used by many
/// threads at once.
class Gate {
 public:
  /// The clock must outlive the gate. `notice`: told before waits of ten seconds or more for a limit, once however many
  /// questions wait; not of hold_off(), of which whoever asks again tells.
  Gate(GateLimits limits, Clock& clock, std::function<void(const std::string&)> notice = {});
  Gate(int places, Clock& clock) : Gate(GateLimits{.places = places}, clock) {}

  /// One place, given back at destruction.
  class Permit {
   public:
    Permit(Gate& gate, std::uint64_t number) : gate_(&gate), number_(number) {}
    Permit(Permit&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)), number_(other.number_) {}
    Permit& operator=(Permit&&) = delete;
    Permit(const Permit&) = delete;
    Permit& operator=(const Permit&) = delete;
    ~Permit();
    /// What the question took in truth, in place of what was expected at the entry.
    void took(std::int64_t tokens) const;

   private:
    Gate* gate_;
    std::uint64_t number_;
  };

  /// Blocks until the gate is open, a place is free, and the limits bear one more question of about so many tokens. A
  /// question that is larger than a limit goes alone. @error cancelled: `stop` was asked for.
  base::Result<Permit> enter(const std::stop_token& stop, std::int64_t tokens = 0);

  /// Lets nobody in for this long from now, ten minutes at most; a longer time that was asked for before stays.
  void hold_off(std::chrono::milliseconds time);

  /// Takes what the server says about its own limits: where nothing is left, the next question waits for it.
  void learn(const ServerLimits& limits);

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Entry {
    std::uint64_t number;
    Time time;
    std::int64_t tokens;
  };
  /// What a server said was left of a limit, and when all of it is back.
  struct Stock {
    std::int64_t remaining = 0;
    std::int64_t limit = 0;  ///< 0: not told
    Time full{};
  };

  void leave();
  /// What people should be told of a wait until then; under the lock. Empty: they know, or it is short.
  std::string notice_of(Time now, Time until, std::int64_t tokens);
  void correct(std::uint64_t number, std::int64_t tokens);
  /// When a question of so many tokens may go, by the limits as they stand; under the lock.
  [[nodiscard]] Time earliest(Time now, std::int64_t tokens);
  [[nodiscard]] Time earliest_by_minute(Time now, std::int64_t tokens);
  static Time earliest_by_server(const std::optional<Stock>& stock, Time now, std::int64_t need);
  static void take_in(std::optional<Stock>& stock, const ServerWindow& window, Time now);

  const GateLimits limits_;
  Clock& clock_;
  const std::function<void(const std::string&)> notice_;
  std::mutex mutex_;
  std::condition_variable_any freed_;
  int free_;
  Time opens_{};
  Time told_until_{};         ///< when the wait ends that people were told of last
  std::deque<Entry> minute_;  ///< who entered in the last 60 s, in order
  std::uint64_t entered_ = 0;
  std::optional<Stock> requests_left_;
  std::optional<Stock> tokens_left_;
};

/// A provider that passes the gate before each try, tells it what the try took, and closes it for as long as a failing
/// server asks.
std::unique_ptr<ChatProvider> make_limited_provider(std::unique_ptr<ChatProvider> provider, std::shared_ptr<Gate> gate,
                                                    std::chrono::milliseconds longest_wait = kLongestRetryAfter);

}  // namespace accelopt::llm
