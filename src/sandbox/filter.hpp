// SPDX-License-Identifier: Apache-2.0
// System call filters, compiled by libseccomp to the program that the kernel runs.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.hpp"

namespace accelopt::sandbox {

/// What the filtered process is about to do.
enum class FilterKind {
  compile,  ///< a compiler: everything but networks, namespaces, tracing and other ways out; refused calls fail
  counted,  ///< as `compile`, and one process that keeps what it has in resident memory: no other process, no memory
            ///< that belongs to a file descriptor or can be kept without being mapped, nothing paged out
  load,     ///< an arena while it loads a candidate: opens and maps files, starts nothing; refused calls are trapped
  call,     ///< an arena that calls a one-threaded candidate: memory and waiting only; refused calls are trapped
  call_threads,  ///< as `call`, and threads of its own
};

/// One instruction as <linux/filter.h> lays it out.
struct FilterInstruction {
  std::uint16_t code = 0;
  std::uint8_t jump_true = 0;
  std::uint8_t jump_false = 0;
  std::uint32_t constant = 0;
};
using FilterProgram = std::vector<FilterInstruction>;

/// The filter's program for this machine's architecture. Memory below `first_free` stays as it is mapped: calls may not
/// unmap, protect or advise on it. @error unsupported: libseccomp cannot build it here.
base::Result<FilterProgram> compile_filter(FilterKind kind, std::uint64_t first_free = 0);

/// The exit code of a child whose program could not be started.
constexpr int kNotStarted = 127;

/// A filter beside others that reports, to a listener, each thread's end and each start of another program, before it
/// happens. Not reported: the exit code kNotStarted, and an execve whose fourth register, which it does not use, holds
/// `pass`. @error unsupported, or of the operating system: libseccomp or the kernel has no such reports.
base::Result<FilterProgram> end_filter(std::uint64_t pass);

/// The name of a system call of this architecture, for messages; "number 12" when unknown.
std::string system_call_name(int number);

}  // namespace accelopt::sandbox
