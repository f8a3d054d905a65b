// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "model/device_wait.hpp"
#include "model/step_share.hpp"
#include "worker/protocol.hpp"

namespace accelopt::worker {

/// How one request to a worker ended.
struct Answer {
  enum class End { answered, died, cancelled } end = End::answered;
  base::Result<base::Json> result;  ///< of `answered`
  bool started = false;             ///< measuring had begun
  double waited_seconds = 0;        ///< for others to leave the device
  std::string reason;               ///< of `died`: how
  std::string last_words;           ///< of `died`: what it said last, for people; may be empty
};

/// One worker process and the requests that wait for it. Any thread may ask. What it writes to standard error goes on
/// to this process's own, and its end is part of the reason when it dies.
class WorkerProcess {
 public:
  /// Gives the time; any thread.
  using Now = std::function<std::chrono::steady_clock::time_point()>;
  /// Variables named in `withheld`, and all whose name sounds like a secret (is_secret_name), stay out of its
  /// environment.
  /// One that takes no byte of a request for `send_limit` is ended.
  /// @error not_found, permission_denied, io: the command cannot be started.
  static base::Result<std::shared_ptr<WorkerProcess>> start(const std::vector<std::string>& command,
                                                            const std::vector<std::string>& withheld = {},
                                                            std::chrono::seconds send_limit = std::chrono::seconds(120),
                                                            Now now = std::chrono::steady_clock::now);
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;
  /// Ends the input and gives the worker a moment, terminates it and what it started, and kills what is left after
  /// another moment.
  ~WorkerProcess();

  /// Waits for its hello; lines that a host prints before it are passed over. To be called before the first `ask`.
  /// @error unavailable: it ended first (the message tells how and what it said); not_found: it ended because there is
  /// no such program at the other end; timed_out: it said no hello within the limit; unsupported: what it says is no
  /// worker's, or of another protocol; cancelled.
  base::Result<Hello> greet(std::chrono::milliseconds limit, const std::stop_token& stop);

  /// Who hears for whom a request waits; to be set before the first `ask`. One call at a time, on a thread of its own.
  void listen_to_waits(std::function<void(const model::DeviceWait&)> told) { told_ = std::move(told); }
  /// Likewise who hears how far a request is.
  void listen_to_progress(std::function<void(const model::StepShare&)> told) { progressed_ = std::move(told); }
  /// Sends the request (an object with `op`; the id is added) and waits for its answer. A worker that says nothing for
  /// `limit`, to this or any other request, is ended: requests wait in its queue for others. Once `stop_waiting` is
  /// requested it may not wait for the device, now or later, or its answer is `cancelled`.
  Answer ask(base::Json request, std::chrono::seconds limit, const std::stop_token& stop,
             const std::stop_token& stop_waiting = {});
  [[nodiscard]] bool alive() const;
  /// How it ended, and what it said last; empty while it is alive.
  [[nodiscard]] std::string end() const;
  /// Whether it was ended because it said nothing for too long.
  [[nodiscard]] bool was_silent() const;

 private:
  struct Pending {
    std::optional<base::Result<base::Json>> result;
    bool started = false;
    double waited_seconds = 0;
  };
  WorkerProcess(pid_t pid, base::FileDescriptor socket, base::FileDescriptor errors, Now now);
  void listen();
  void write();
  /// Under the lock: the writer puts it out behind what was sent before.
  void send(base::Json line);
  bool read_answers(LineBuffer& lines);
  bool read_errors();
  void take_line(const std::string& line);
  void take(const base::Json& message);
  void take_wait(const base::Json& message);
  void take_progress(const base::Json& message);
  void reap();
  void signal_all(int signal);
  void kill_now();
  /// Of the dead; under the lock.
  [[nodiscard]] std::string way_of_its_end() const;
  /// What it said that was no message, for an error's text; under the lock.
  [[nodiscard]] std::string last_words() const;

  pid_t pid_;
  base::FileDescriptor socket_;
  base::FileDescriptor errors_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::condition_variable to_write_;
  std::deque<base::Json> outgoing_;
  bool closing_ = false;  ///< nothing more is written
  const Now now_;
  std::chrono::steady_clock::time_point heard_;  ///< when its last line came
  std::optional<std::chrono::seconds> silent_;   ///< it was ended because it said nothing for so long
  std::map<std::int64_t, std::shared_ptr<Pending>> pending_;
  std::int64_t last_id_ = 0;
  std::optional<Hello> hello_;
  std::size_t noise_bytes_ = 0;  ///< before the hello
  std::string noise_;            ///< the end of what it printed that was no message
  std::string complaint_;        ///< the end of what it wrote to standard error
  bool dead_ = false;
  int status_ = 0;  ///< of waitpid, once dead
  std::function<void(const model::DeviceWait&)> told_;
  std::function<void(const model::StepShare&)> progressed_;
  std::thread reader_;
  std::thread writer_;  ///< alone may wait for a worker that does not read
};

/// Names that a program keeps keys under: they hold KEY, TOKEN, SECRET, PASSWORD, PASSWD or CREDENTIAL as a word
/// between underscores or at an end, in any case.
bool is_secret_name(std::string_view name);

}  // namespace accelopt::worker
