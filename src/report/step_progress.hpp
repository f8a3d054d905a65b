// SPDX-License-Identifier: Apache-2.0
// Signs of life of a command that takes a few long steps.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace accelopt::report {

/// Tests set the clock and call tick() themselves.
struct StepOptions {
  bool live = false;  ///< a line that is redrawn in place; else a line when a step is long, and every minute after
  std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
  std::chrono::milliseconds heartbeat{500};  ///< 0: never by itself
};

/// Shows which step is being taken and for how long. The stream must outlive it. Any thread.
class StepProgress {
 public:
  StepProgress(std::FILE* stream, StepOptions options);
  StepProgress(const StepProgress&) = delete;
  StepProgress& operator=(const StepProgress&) = delete;
  ~StepProgress();  ///< as end()

  void begin(const std::string& step);
  void share(const std::string& text);  ///< how far the step is; for a live line alone
  void end();                           ///< no step is being taken; the line is off the screen
  void note(const std::string& text);   ///< a line of its own, without disturbing the live one
  void tick();

 private:
  using Time = std::chrono::steady_clock::time_point;

  void show(Time now);
  void erase();

  std::FILE* stream_;
  StepOptions options_;
  std::mutex mutex_;  ///< guards all that follows
  std::condition_variable_any ticks_;
  std::string step_;  ///< empty: none
  std::string share_;
  Time began_;
  Time next_line_;  ///< of a log
  bool shown_ = false;
  std::jthread heartbeat_;
};

}  // namespace accelopt::report
