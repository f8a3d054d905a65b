// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/result.hpp"

namespace accelopt::evaluation {

/// How one request to a worker ended.
struct Answer {
  enum class End { answered, died, cancelled } end = End::answered;
  base::Result<base::Json> result;  ///< of `answered`
  bool started = false;             ///< measuring had begun
  std::string reason;               ///< of `died`
};

/// One worker process and the requests that wait for it. Any thread may ask.
class WorkerProcess {
 public:
  /// @error not_found, permission_denied, io: the command cannot be started.
  static base::Result<std::shared_ptr<WorkerProcess>> start(const std::vector<std::string>& command);
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;
  /// Ends the input and gives the worker a moment before it is killed.
  ~WorkerProcess();

  /// Sends the request (an object with `op`; the id is added) and waits for its answer.
  Answer ask(base::Json request, std::chrono::seconds limit, const std::stop_token& stop);
  [[nodiscard]] bool alive() const;

 private:
  struct Pending {
    std::optional<base::Result<base::Json>> result;
    bool started = false;
  };
  WorkerProcess(pid_t pid, base::FileDescriptor socket);
  void read_answers();
  void take(const base::Json& message);
  void kill_now();

  pid_t pid_;
  base::FileDescriptor socket_;
  mutable std::mutex mutex_;
  std::mutex output_mutex_;
  std::condition_variable_any changed_;
  std::map<std::int64_t, std::shared_ptr<Pending>> pending_;
  std::int64_t last_id_ = 0;
  bool dead_ = false;
  std::string reason_;
  std::thread reader_;
};

}  // namespace accelopt::evaluation
