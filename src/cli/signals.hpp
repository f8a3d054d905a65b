// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "search/attempt.hpp"

namespace accelopt::cli {

/// A reader that went away, or a limit on the size of files, is an error of the write, and ends no command by a signal.
void tell_failed_writes();

/// Turns SIGINT, SIGTERM and, unless it is ignored (nohup), SIGHUP into stop requests for the whole program: the first
/// winds down (finish what is being measured, keep everything, exit cleanly), a second one that is no SIGHUP aborts
/// (still resumable). To be called once, from main, before any thread starts.
search::Stops watch_signals();

/// What is printed at the first signal; empty: nothing. For commands that measure nothing.
void say_on_stop(const std::string& text);

}  // namespace accelopt::cli
