// SPDX-License-Identifier: Apache-2.0
#include "report/step_progress.hpp"

#include <utility>

#include <fmt/format.h>

#include "report/format.hpp"
#include "report/text_width.hpp"

namespace accelopt::report {
namespace {

/// A log gets its first line of a step after this long, and the next ones further apart.
constexpr std::chrono::seconds kFirstLine{10};
constexpr std::chrono::seconds kBetweenLines{60};
constexpr const char* kEraseLine = "\r\x1b[K";

}  // namespace

StepProgress::StepProgress(std::FILE* stream, StepOptions options) : stream_(stream), options_(std::move(options)) {
  if (options_.heartbeat.count() == 0) return;
  heartbeat_ = std::jthread([this](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      {
        std::unique_lock lock(mutex_);
        ticks_.wait_for(lock, stop, options_.heartbeat, [] { return false; });
      }
      if (!stop.stop_requested()) tick();
    }
  });
}

StepProgress::~StepProgress() {
  heartbeat_ = {};  // stops it and waits for it
  end();
}

void StepProgress::begin(const std::string& step) {
  const std::lock_guard lock(mutex_);
  step_ = printable(step);
  share_.clear();
  began_ = options_.now();
  next_line_ = began_ + kFirstLine;
  if (options_.live) show(began_);
}

void StepProgress::share(const std::string& text) {
  const std::lock_guard lock(mutex_);
  share_ = printable(text);
  if (options_.live && !step_.empty()) show(options_.now());
}

void StepProgress::end() {
  const std::lock_guard lock(mutex_);
  step_.clear();
  erase();
}

void StepProgress::note(const std::string& text) {
  const std::lock_guard lock(mutex_);
  erase();
  fmt::print(stream_, "{}\n", printable(text));
  if (options_.live && !step_.empty()) show(options_.now());
}

void StepProgress::tick() {
  const std::lock_guard lock(mutex_);
  if (!step_.empty()) show(options_.now());
}

void StepProgress::show(Time now) {
  const std::string time = " | " + format_seconds(std::chrono::duration<double>(now - began_).count());
  const std::string text = step_ + time;
  if (options_.live) {
    fmt::print(stream_, "{}{}{}{}", kEraseLine, step_, share_.empty() ? "" : ", " + share_, time);
    shown_ = true;
  } else if (now >= next_line_) {
    fmt::print(stream_, "{}\n", text);
    next_line_ = now + kBetweenLines;
  }
  static_cast<void>(std::fflush(stream_));
}

void StepProgress::erase() {
  if (!std::exchange(shown_, false)) return;
  fmt::print(stream_, "{}", kEraseLine);
  static_cast<void>(std::fflush(stream_));
}

}  // namespace accelopt::report
