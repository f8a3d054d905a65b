// SPDX-License-Identifier: Apache-2.0
// What a signal that ended a candidate's process says about the candidate.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace accelopt::targets::cpu {

/// A signal, and what the candidate's process said about it: its numbers may be anything.
struct Fault {
  int signal = 0;
  int code = 0;               ///< si_code
  std::uint64_t address = 0;  ///< si_addr of SIGSEGV and SIGBUS
};

/// A tensor of the call in hand, in the candidate's process.
struct PlacedTensor {
  std::string name;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  bool writable = false;
};

/// What happened, to be read behind "the kernel": of memory that it may not use, the nearest tensor and the distance in
/// bytes, if one is near. `tensors` may be empty.
std::string meaning_of(const Fault& fault, std::span<const PlacedTensor> tensors = {});

}  // namespace accelopt::targets::cpu
