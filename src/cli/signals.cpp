// SPDX-License-Identifier: Apache-2.0
#include "cli/signals.hpp"

#include <csignal>
#include <cstdio>
#include <thread>

namespace accelopt::cli {

search::Stops watch_signals() {
  static std::stop_source wind_down;
  static std::stop_source abort;
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // every later thread inherits this
  std::signal(SIGPIPE, SIG_IGN);
  std::thread([signals] {
    for (;;) {
      int number = 0;
      if (sigwait(&signals, &number) != 0) continue;
      if (wind_down.stop_requested()) {
        abort.request_stop();
      } else {
        std::fputs("\naccelopt: stopping; what is being measured is finished first, Ctrl-C again stops at once\n",
                   stderr);
        wind_down.request_stop();
      }
    }
  }).detach();
  return {wind_down.get_token(), abort.get_token()};
}

}  // namespace accelopt::cli
