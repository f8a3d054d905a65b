// SPDX-License-Identifier: Apache-2.0
#include "cli/signals.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <future>
#include <stop_token>

#include <unistd.h>

namespace accelopt::cli {
namespace {

/// In a process of its own: what watches the signals does so until the process ends.
class WatchSignals : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  [[noreturn]] static void exit_once_wound_down(int number) {
    say_on_stop("");
    const search::Stops stops = watch_signals();
    std::promise<void> stopped;
    const std::stop_callback callback(stops.wind_down, [&stopped] { stopped.set_value(); });
    ::kill(::getpid(), number);
    stopped.get_future().wait();
    std::_Exit(stops.abort.stop_requested() ? 1 : 0);
  }
};

TEST_F(WatchSignals, AClosedTerminalWindsDown) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    EXPECT_EXIT(
        {
          std::signal(SIGHUP, SIG_DFL);
          exit_once_wound_down(number);
        },
        testing::ExitedWithCode(0), "");
  }
}

TEST_F(WatchSignals, AnIgnoredHangupStaysIgnored) {
  EXPECT_EXIT(
      {
        std::signal(SIGHUP, SIG_IGN);
        watch_signals();
        ::kill(::getpid(), SIGHUP);
        sigset_t blocked;
        pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
        std::_Exit(sigismember(&blocked, SIGHUP));
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace accelopt::cli
