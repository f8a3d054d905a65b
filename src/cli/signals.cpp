// SPDX-License-Identifier: Apache-2.0
#include "cli/signals.hpp"

#include <csignal>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace accelopt::cli {
namespace {

struct Words {
  std::mutex mutex;
  std::string text = "stopping; what is being measured is finished first, Ctrl-C again stops at once";
};

/// As nohup leaves it for a command that goes on without its terminal.
bool is_hangup_ignored() {
  struct sigaction action {};
  return sigaction(SIGHUP, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

/// Of whoever says them and of the thread that prints them, which still waits for signals while the program ends.
std::shared_ptr<Words> words() {
  static const auto words = std::make_shared<Words>();
  return words;
}

}  // namespace

void say_on_stop(const std::string& text) {
  const auto said = words();
  const std::scoped_lock lock(said->mutex);
  said->text = text;
}

void tell_failed_writes() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error like a full disk, which is told
}

search::Stops watch_signals() {
  struct Sources {
    std::stop_source wind_down;
    std::stop_source abort;
  };
  const auto sources = std::make_shared<Sources>();
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  if (!is_hangup_ignored()) sigaddset(&signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // every later thread inherits this
  std::thread([signals, sources, said = words()] {
    for (;;) {
      int number = 0;
      if (sigwait(&signals, &number) != 0) continue;
      if (sources->wind_down.stop_requested()) {
        // A terminal that closes may send it twice, itself and through the shell: nobody is in a hurry.
        if (number != SIGHUP) sources->abort.request_stop();
      } else {
        {
          const std::scoped_lock lock(said->mutex);
          if (!said->text.empty()) std::fputs(("\naccelopt: " + said->text + "\n").c_str(), stderr);
        }
        sources->wind_down.request_stop();
      }
    }
  }).detach();
  return {sources->wind_down.get_token(), sources->abort.get_token()};
}

}  // namespace accelopt::cli
