// SPDX-License-Identifier: Apache-2.0
#include "sandbox/peak_memory.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

#include "base/files.hpp"

namespace accelopt::sandbox {
namespace {

/// Counters of the kernel are behind by some pages a processor: a figure this little over ours may still be ours.
constexpr std::uint64_t kSlack = 1UL << 20;

/// Of a process that runs; 0: it has ended.
std::uint64_t peak_of(const std::string& process) {
  const auto text = base::read_file("/proc/" + process + "/status");
  if (!text) return 0;
  const std::string_view status = *text;
  constexpr std::string_view kMark = "\nVmHWM:";
  std::size_t at = status.find(kMark);
  if (at == status.npos) return 0;
  at = status.find_first_not_of(" \t", at + kMark.size());
  if (at == status.npos) return 0;
  std::uint64_t kibibytes = 0;
  std::from_chars(status.data() + at, status.data() + status.size(), kibibytes);
  return kibibytes * 1024;
}

}  // namespace

void PeakMemory::look(pid_t thread) {
  if (own_ == 0) own_ = peak_of("self");
  seen_ = std::max(seen_, peak_of(std::to_string(thread)));
}

std::uint64_t PeakMemory::bytes(std::uint64_t told) const {
  const bool hidden = seen_ != 0 && told <= own_ + kSlack;
  return hidden ? seen_ : std::max(told, seen_);
}

}  // namespace accelopt::sandbox
