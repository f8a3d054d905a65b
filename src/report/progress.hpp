// SPDX-License-Identifier: Apache-2.0
// What a run tells while it goes on: for people on a terminal or in a log, and as JSON lines for programs.
#pragma once

#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "model/events.hpp"
#include "report/event_json.hpp"

namespace accelopt::report {

/// events: a line per event that matters, and counts of the rest. all: every attempt and every lesson as well.
enum class Detail { events, all };

/// Whether the line that says how the run ended is shown, or left to a caller who prints the result itself.
enum class LastLine { shown, left_out };

/// Where and how progress is shown. Tests set the clock and the width.
struct TerminalOptions {
  bool live = false;  ///< a status line that is redrawn in place; else plain lines without escape codes
  Detail detail = Detail::events;
  LastLine last_line = LastLine::shown;
  std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
  std::optional<std::size_t> columns;         ///< width of the terminal; none: as the terminal says
  std::chrono::milliseconds heartbeat{1000};  ///< how often the line is redrawn when nothing happens; 0: never
  std::chrono::seconds longest_silence{60};   ///< of a log: then the status is a line of its own
  std::string prefix{};                       ///< of every line of a log: whose it is where several runs write one
};

/// Shows events for people. The stream must outlive the sink; `on` may be called from any thread.
std::unique_ptr<model::EventSink> make_terminal_progress(std::FILE* stream, TerminalOptions options);

/// Writes each event as one line of JSON, as docs/events.md describes, and flushes it. `task`: the field
/// `suite_task` of every line, where several runs write to one stream; empty: no field.
std::unique_ptr<model::EventSink> make_json_progress(std::FILE* stream, std::string task = "");

}  // namespace accelopt::report
