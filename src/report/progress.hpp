// SPDX-License-Identifier: Apache-2.0
// What a run tells while it goes on: for people on a terminal or in a log, and as JSON lines for programs.
#pragma once

#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>

#include "model/events.hpp"
#include "report/event_json.hpp"

namespace accelopt::report {

/// Where and how progress is shown. Tests set the clock and the width.
struct TerminalOptions {
  bool live = false;  ///< a status line that is redrawn in place; else plain lines without escape codes
  std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
  std::optional<std::size_t> columns;         ///< width of the terminal; none: as the terminal says
  std::chrono::milliseconds heartbeat{1000};  ///< how often the line is redrawn when nothing happens; 0: never
};

/// Shows events for people. The stream must outlive the sink; `on` may be called from any thread.
std::unique_ptr<model::EventSink> make_terminal_progress(std::FILE* stream, TerminalOptions options);
std::unique_ptr<model::EventSink> make_terminal_progress(std::FILE* stream, bool is_terminal);

/// Writes each event as one line of JSON, as docs/events.md describes, and flushes it.
std::unique_ptr<model::EventSink> make_json_progress(std::FILE* stream);

}  // namespace accelopt::report
