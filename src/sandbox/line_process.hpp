// SPDX-License-Identifier: Apache-2.0
// A child process that is asked and answers in lines of text.
#pragma once

#include <chrono>
#include <cstddef>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "sandbox/process.hpp"

namespace accelopt::sandbox {

class LineProcess {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  LineProcess() = default;
  /// Starts the program with a channel to this process at each of the descriptors `at`. `name` is what errors call it.
  /// @error as spawn; io: no channel.
  static base::Result<LineProcess> start(SpawnOptions options, const std::vector<int>& at, std::string name);

  /// @error unavailable: it reads no more; timed_out; cancelled.
  base::Result<void> send(std::string_view line, Deadline deadline, const std::stop_token& stop = {});
  /// The next line, without its end. @error unavailable: it closed the channel; timed_out; cancelled; exhausted: a line
  /// of more than `most_bytes`.
  base::Result<std::string> receive(Deadline deadline, std::size_t most_bytes, const std::stop_token& stop = {});

  [[nodiscard]] bool valid() const { return process_.valid(); }
  void end();
  /// Waits a little for a process that is ending by itself, and ends it. How it ended, in words.
  std::string reap();

 private:
  LineProcess(Process process, base::FileDescriptor channel, std::string name)
      : process_(std::move(process)), channel_(std::move(channel)), name_(std::move(name)) {}
  /// Waits until the channel can be used. @error timed_out, cancelled.
  base::Result<void> wait_for(short events, Deadline deadline, const std::stop_token& stop) const;

  Process process_;
  base::FileDescriptor channel_;
  std::string name_;
  std::string buffer_;
};

}  // namespace accelopt::sandbox
