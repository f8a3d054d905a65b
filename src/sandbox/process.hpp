// SPDX-License-Identifier: Apache-2.0
// A confined child process: closed descriptors, limits, namespaces where the machine allows them.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "sandbox/filter.hpp"

namespace accelopt::sandbox {

/// Resource limits of a child; 0 leaves the parent's.
struct Limits {
  std::uint64_t address_space_bytes = 0;
  std::uint64_t data_bytes = 0;
  std::uint64_t stack_bytes = 0;
  std::uint64_t file_bytes = 0;
  bool no_files = false;  ///< a file limit of zero bytes: nothing can be written
  std::uint64_t cpu_seconds = 0;
  std::uint64_t processes = 0;  ///< only kept inside a user namespace of its own, where others do not count
  std::uint64_t descriptors = 0;
};

struct SpawnOptions {
  std::string program;                   ///< absolute path
  std::vector<std::string> arguments;    ///< without the program's own name
  std::vector<std::string> environment;  ///< "NAME=value"; nothing is inherited
  std::string directory = "/";
  std::vector<std::pair<int, int>> descriptors;  ///< (here, there); all others are closed; 0, 1, 2 default to /dev/null
  Limits limits;
  std::vector<int> cores;                            ///< may run on these only; empty: anywhere
  bool own_namespaces = true;                        ///< user, pid, mount, ipc, uts and net, where permitted
  bool named_user = false;                           ///< has a user id in its namespace: make wants one
  bool fixed_layout = false;                         ///< no randomisation of addresses
  const FilterProgram* filter = nullptr;             ///< installed just before the program starts
  const base::FileDescriptor* file_rules = nullptr;  ///< a Landlock rule set
  bool reports_ends = false;                         ///< where this machine can: see Process::ends
  /// Where this machine can, nothing else can be changed, modes and times included; none: whatever its user may change.
  std::optional<std::vector<std::string>> changes_only{};
};

/// How a child ended.
struct ExitState {
  bool exited = false;  ///< false: ended by `signal`
  int code = 0;
  int signal = 0;
  std::chrono::microseconds cpu_time{0};  ///< user and system, of the child and all that it waited for
  std::uint64_t peak_bytes = 0;           ///< resident, of the largest of these processes
};

/// A running child. It is the leader of its own session and dies with this object.
class Process {
 public:
  Process() = default;
  explicit Process(pid_t pid, base::FileDescriptor ends = {}) : pid_(pid), ends_(std::move(ends)) {}
  Process(Process&& other) noexcept : pid_(std::exchange(other.pid_, -1)), ends_(std::move(other.ends_)) {}
  Process& operator=(Process&& other) noexcept;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() { end(); }

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] bool valid() const { return pid_ > 0; }
  /// Where the ends of the child's threads, and starts of another program in its place, are reported before they happen
  /// (end_filter): the child waits until each is answered. Not valid: nothing is reported.
  [[nodiscard]] base::FileDescriptor& ends() { return ends_; }
  /// Sends the signal to the child alone.
  void signal(int number) const;
  /// Whether it has, and is there to be reaped.
  [[nodiscard]] bool has_ended() const;
  /// The end of the child if it has come; reaps it, and kills what it left behind in its process group.
  std::optional<ExitState> try_wait();
  /// Whether the child has begun to end and is not there yet to be reaped.
  [[nodiscard]] bool is_ending() const;
  /// Stops the child (SIGSTOP) and returns once it stands still. The end of the child, if it came instead.
  std::optional<ExitState> stop();
  void resume() const;
  /// Kills the child with everything it started, and reaps it.
  void end();

 private:
  pid_t pid_ = -1;
  base::FileDescriptor ends_;
};

/// Starts the program. @error not_found, permission_denied, io: what the operating system said, with the program's
/// path.
base::Result<Process> spawn(const SpawnOptions& options);

}  // namespace accelopt::sandbox
