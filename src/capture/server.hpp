// SPDX-License-Identifier: Apache-2.0
// The process that captures Triton solutions and traces NKI kernels: Python in a sandbox, which forks for each request.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "capture/python.hpp"
#include "sandbox/json_process.hpp"

namespace accelopt::capture {

/// What a solution is written in.
enum class FrontEnd { triton, nki };

struct ServerOptions {
  Python python;
  FrontEnd front_end = FrontEnd::triton;
  std::vector<int> cores{};                ///< where it and its children may run; empty: anywhere
  std::filesystem::path folder{};          ///< below which interpreted tensors lie; empty: nothing is interpreted
  std::chrono::seconds start_limit{60};    ///< importing and warming up takes about a second of an idle core
  std::chrono::seconds answer_limit{150};  ///< longer than a request's own limit
};

/// What a request came to: one of both is null.
struct Answer {
  base::Json ok;
  base::Json error;  ///< of docs/triton.md: kind, message, file, line, ...
};

/// One request at a time; any thread. Started when it is first asked, and anew after it was lost.
class CaptureServer {
 public:
  explicit CaptureServer(ServerOptions options) : options_(std::move(options)) {}

  /// Sends the request under a number of its own. @error unsupported: Python or Triton do not start, with what they
  /// said; unavailable: the process was lost; timed_out; corrupt; cancelled.
  base::Result<Answer> ask(base::Json request, const std::stop_token& stop);
  /// "Triton 3.6.0 (Python 3.11.7, ptxas 12.8)", or "Python 3.11.7". @error as `ask`.
  base::Result<std::string> version(const std::stop_token& stop);

 private:
  base::Result<void> start(const std::stop_token& stop);

  ServerOptions options_;
  std::mutex mutex_;
  std::optional<base::TemporaryFolder> files_;  ///< holds the package, and a folder for scratch
  sandbox::JsonProcess process_;
  std::string version_;
};

}  // namespace accelopt::capture
