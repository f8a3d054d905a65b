// SPDX-License-Identifier: Apache-2.0
#include "targets/cpu/fault.hpp"

#include <fmt/format.h>

#include <csignal>

namespace accelopt::targets::cpu {
namespace {

constexpr std::uint64_t kNear = 1ULL << 30;       ///< bytes from a tensor: what is further away was not meant for it
constexpr std::uint64_t kNullPage = 64ULL << 10;  ///< where nothing is ever mapped

std::string bytes_text(std::uint64_t bytes) {
  return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s");
}

/// Where the address lies; empty: near none of the tensors, or within one that may be used.
std::string place_of(std::uint64_t address, std::span<const PlacedTensor> tensors) {
  std::string place;
  std::uint64_t nearest = kNear;
  for (const PlacedTensor& tensor : tensors) {
    const std::uint64_t end = tensor.address + tensor.bytes;
    if (address >= tensor.address && address < end) {
      if (tensor.writable) return {};
      return fmt::format("it wrote to the input {}, at its byte {} of {}", tensor.name, address - tensor.address,
                         tensor.bytes);
    }
    const bool before = address < tensor.address;
    const std::uint64_t distance = before ? tensor.address - address : address - end + 1;
    if (distance >= nearest) continue;
    nearest = distance;
    place = fmt::format("it used memory outside its tensors, {} {} of {}", bytes_text(distance),
                        before ? "before the first byte" : "behind the last byte", tensor.name);
  }
  return place;
}

std::string meaning_of_segment_fault(const Fault& fault, std::span<const PlacedTensor> tensors) {
  const std::string crashed = "crashed (SIGSEGV): ";
#if defined(__x86_64__)
  // A general protection fault, of which the processor gives no address.
  if (fault.code == SI_KERNEL && fault.address == 0) {
    return crashed +
           "an aligned instruction met an address that is not aligned (tensors are aligned for their element type "
           "only), or a pointer held what is no address";
  }
#endif
  const bool located = fault.code == SEGV_MAPERR || fault.code == SEGV_ACCERR;
  if (located && fault.address < kNullPage) return crashed + "it used a null pointer";
  const std::string place = located ? place_of(fault.address, tensors) : "";
  if (!place.empty()) return crashed + place;
  return crashed + "it used memory outside its tensors, wrote to an input, or ran out of stack (8 MiB)";
}

}  // namespace

std::string meaning_of(const Fault& fault, std::span<const PlacedTensor> tensors) {
  switch (fault.signal) {
    case SIGSEGV:
      return meaning_of_segment_fault(fault, tensors);
    case SIGBUS:
      return "crashed (SIGBUS): it used memory that is not there or misaligned";
    case SIGFPE:
      return "crashed (SIGFPE): an integer division by zero or an overflow in a division";
    case SIGILL:
      return "crashed (SIGILL): an illegal instruction, or control ran past the end of a function that returns a value";
    case SIGABRT:
      return "aborted (SIGABRT): a failed assertion, a corrupted heap or an exception that nothing caught";
    case SIGSYS:
      return "was ended for a system call that kernels may not use";
    case SIGKILL:
      return "was killed: it used more memory than it may have";
    case SIGXCPU:
      return "was killed: it used more processor time than it may have";
    default:
      return "was ended by signal " + std::to_string(fault.signal);
  }
}

}  // namespace accelopt::targets::cpu
