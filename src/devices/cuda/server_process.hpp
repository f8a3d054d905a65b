// SPDX-License-Identifier: Apache-2.0
// The worker's side of accelopt-device: the process is started when it is needed, killed when it does not answer, and
// started anew after it was lost.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "sandbox/line_process.hpp"

namespace accelopt::devices::cuda {

/// Finds accelopt-device beside this program, or in ../libexec/accelopt.
/// @error not_found: with the places looked at.
base::Result<std::string> find_server();

/// Of the worker's environment, what the driver and its loader look at: for accelopt-device, and for tools that run it.
std::vector<std::string> server_environment();

class ServerProcess {
 public:
  /// Nothing is started yet. @error io: no memory file.
  static base::Result<ServerProcess> create(std::string program);

  /// Asks and waits for the answer; starts the process if there is none. `bulk` lies in the shared memory file
  /// meanwhile.
  /// @error timed_out: no answer within the limit, the process is dead; unavailable: it ended, and how; else what it
  /// answered.
  base::Result<base::Json> ask(const base::Json& request, const std::vector<std::string_view>& bulk,
                               std::chrono::nanoseconds limit);
  /// Counts the processes: what an earlier one was told the present one does not know. 0: none runs.
  [[nodiscard]] std::uint64_t generation() const { return process_.valid() ? generation_ : 0; }
  void end();

 private:
  explicit ServerProcess(std::string program) : program_(std::move(program)) {}
  base::Result<void> start();
  base::Result<void> lay_out(const std::vector<std::string_view>& bulk);

  std::string program_;
  base::FileDescriptor bulk_;
  std::uint64_t bulk_bytes_ = 0;
  sandbox::LineProcess process_;
  std::uint64_t generation_ = 0;
};

}  // namespace accelopt::devices::cuda
