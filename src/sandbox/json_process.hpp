// SPDX-License-Identifier: Apache-2.0
// A child process that greets with a JSON object, and answers each numbered request with one of the same number.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>

#include "base/json.hpp"
#include "base/result.hpp"
#include "sandbox/line_process.hpp"

namespace accelopt::sandbox {

/// It is ended after any error: what it would say next may answer an earlier request.
class JsonProcess {
 public:
  JsonProcess() = default;
  /// Starts the program with its standard input and output as the channel. `name` is what errors call it.
  /// @error as spawn; io: no channel.
  static base::Result<JsonProcess> start(SpawnOptions options, std::string name, std::size_t most_answer_bytes);

  /// The object that it says by itself. @error unavailable: it ended, and how; timed_out; cancelled; exhausted: a
  /// longer line; corrupt: no object.
  base::Result<base::Json> receive(std::chrono::seconds limit, const std::stop_token& stop);
  /// Numbers the request, sends it, and waits for its answer. @error as `receive`; corrupt: an answer to another
  /// request.
  base::Result<base::Json> ask(base::Json request, std::chrono::seconds limit, const std::stop_token& stop);

  [[nodiscard]] bool valid() const { return process_.valid(); }
  void end() { process_.end(); }

 private:
  JsonProcess(LineProcess process, std::string name, std::size_t most_answer_bytes)
      : process_(std::move(process)), name_(std::move(name)), most_answer_bytes_(most_answer_bytes) {}

  LineProcess process_;
  std::string name_;
  std::size_t most_answer_bytes_ = 0;
  std::int64_t last_id_ = 0;
};

}  // namespace accelopt::sandbox
