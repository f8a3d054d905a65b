// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "sandbox/process.hpp"
#include "targets/cpu/arena/protocol.hpp"
#include "targets/cpu/buffers.hpp"
#include "targets/cpu/build.hpp"
#include "targets/cpu/fault.hpp"
#include "targets/cpu/memory_image.hpp"

namespace accelopt::targets::cpu {

/// How arenas of one task are started.
struct ArenaOptions {
  std::string program;  ///< path of accelopt-arena
  std::vector<int> cores;
  int threads = 1;
  bool one_core = false;  ///< shares its core with the worker
  std::uint64_t memory_bytes = 2ULL << 30;
};

/// Finds accelopt-arena: beside this program, or in ../libexec/accelopt.
/// @error not_found: with the places looked at.
base::Result<std::string> find_arena();

/// One accelopt-arena with a kernel in it. Between calls it is stopped.
class ArenaProcess {
 public:
  /// Starts it and waits until the kernel is loaded. One that fails to load is a dead arena with a reason.
  /// @error io: it cannot be started.
  static base::Result<ArenaProcess> start(const ArenaOptions& options, const BuiltKernel& kernel,
                                          const Buffers& buffers);
  ArenaProcess(ArenaProcess&& other) noexcept;
  ArenaProcess& operator=(ArenaProcess&&) = delete;
  ArenaProcess(const ArenaProcess&) = delete;
  ArenaProcess& operator=(const ArenaProcess&) = delete;
  ~ArenaProcess();

  [[nodiscard]] ArenaControl& control() const { return *control_; }
  [[nodiscard]] sandbox::Process& process() { return process_; }
  /// Why it is dead; empty while it lives.
  [[nodiscard]] const std::string& death() const { return death_; }
  /// The signal that it died of, if it was its own.
  [[nodiscard]] const std::optional<Fault>& fault() const { return fault_; }
  /// Ends it, if it has not ended, and keeps the reason.
  void reap(std::string reason);
  void reap(const sandbox::ExitState& state);
  /// Stops it; false when it turned out dead.
  bool stop();
  /// Whether the stopped arena stands in the loop in which arenas wait for their next call, so that nothing but the
  /// arena's own code runs until then. True as well where the machine does not tell (see watched).
  [[nodiscard]] bool at_home() const;
  /// The same, but one that is on its way there is given a little time; it may turn out dead.
  bool is_at_wait();
  /// Whether the kernel of the stopped arena, back at its wait, left what the calling convention has a function leave
  /// as it was; false: it did not, and is dead. True as well on other processors than x86-64.
  bool preserved();
  /// Whether every helper thread of the stopped arena is gone, or blocked in a futex without a time limit on a word of
  /// its own memory that still has the awaited value, so that continuing the process wakes none. Those that are on
  /// their way there are given a little time; it may turn out dead. True as well where the machine does not tell.
  bool helpers_parked();
  /// Whether the helpers that were parked when it was stopped are blocked there still, now that it goes on.
  [[nodiscard]] bool helpers_rest() const;
  /// Whether this machine tells where a stopped process stands.
  [[nodiscard]] bool watched() const { return place_file_.valid(); }
  /// What its first thread did since its start. Exact while it is stopped.
  struct Schedule {
    std::chrono::nanoseconds ran{0};
    std::chrono::nanoseconds waited{0};  ///< ready to run, and something else had its core
  };
  [[nodiscard]] Schedule schedule() const;
  std::uint32_t next_call() { return ++calls_; }
  /// Takes the image that restore_memory needs, before the first call; it may turn out dead. Nothing with several
  /// threads, whose own memory cannot be told from a kernel's, nor on other processors than x86-64.
  void remember();
  /// Whether there is something to restore: an image, and a call since.
  [[nodiscard]] bool remembered() const { return remembered_ && calls_ > 0; }
  /// Clears the answers of the stopped arena, and looks whether its code and constants are still in place after the
  /// rest was restored; false: they were not, and it is dead.
  bool is_restored();

 private:
  ArenaProcess() = default;
  base::Result<void> await_loading();
  [[nodiscard]] std::optional<std::uint64_t> instruction() const;
  bool no_helper_awake();
  [[nodiscard]] bool parked(const base::FileDescriptor& place) const;
  template <class Still>
  bool settles(Still still);

  sandbox::Process process_;
  base::FileDescriptor schedule_file_;
  base::FileDescriptor place_file_;  ///< tells the next instruction of the stopped process
  int threads_ = 1;
  bool asserts_ = false;                       ///< the kernel calls what a failed assert() ends in
  std::vector<base::FileDescriptor> helpers_;  ///< where each stands, of those alive when it was stopped last
  std::uint64_t home_begin_ = 0;               ///< addresses of the arena's waiting loop
  std::uint64_t home_end_ = 0;
  ArenaControl* control_ = nullptr;
  MemoryImage image_;
  bool remembered_ = false;
  std::string death_;
  std::optional<Fault> fault_;
  std::uint32_t calls_ = 0;
};

}  // namespace accelopt::targets::cpu
