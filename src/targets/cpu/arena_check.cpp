// SPDX-License-Identifier: Apache-2.0
#include "targets/cpu/arena_check.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string_view>
#include <vector>

#include "base/files.hpp"
#include "targets/cpu/arena/protocol.hpp"
#include "targets/cpu/mappings.hpp"

namespace accelopt::targets::cpu {
namespace {

/// Whether some page of the range is no longer its file's: it was written, and the process has a copy of its own.
bool has_own_pages(int page_table, const Mapping& mapping) {
  constexpr std::uint64_t kPresent = 1ULL << 63;
  constexpr std::uint64_t kSwapped = 1ULL << 62;
  constexpr std::uint64_t kOfFile = 1ULL << 61;
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::vector<std::uint64_t> entries((mapping.end - mapping.begin) / page);
  const auto bytes = static_cast<ssize_t>(entries.size() * sizeof(std::uint64_t));
  const auto at = static_cast<off_t>(mapping.begin / page * sizeof(std::uint64_t));
  if (pread(page_table, entries.data(), static_cast<std::size_t>(bytes), at) != bytes) return false;
  for (const std::uint64_t entry : entries) {
    if ((entry & kSwapped) != 0 || ((entry & kPresent) != 0 && (entry & kOfFile) == 0)) return true;
  }
  return false;
}

/// The number of filters that a process is under; nothing where the kernel is too old to tell.
std::optional<int> filter_count(const std::string& process) {
  constexpr std::string_view kLine = "\nSeccomp_filters:";
  const auto status = base::read_file("/proc/" + process + "/status");
  const auto at = status ? status->find(kLine) : std::string::npos;
  int count = 0;
  if (at == std::string::npos || std::sscanf(status->c_str() + at + kLine.size(), "%d", &count) != 1) return {};
  return count;
}

bool control_pages_hold(const std::vector<Mapping>& mappings) {
  struct Page {
    std::uint64_t at;
    std::string_view access;
  };
  for (const Page& page : {Page{kControlAddress, "r--s"}, Page{kControlAddress + kOrdersBytes, "rw-s"},
                           Page{kPrivateAddress, "r--p"}, Page{kImageAddress, "r--s"}}) {
    bool found = false;
    for (const Mapping& mapping : mappings)
      found = found || (mapping.begin == page.at && mapping.access == page.access);
    if (!found) return false;
  }
  return true;
}

}  // namespace

std::string altered_by_loading(pid_t arena, int filters) {
  const std::vector<Mapping> mappings = mappings_of(arena);
  const base::FileDescriptor page_table(
      open(("/proc/" + std::to_string(arena) + "/pagemap").c_str(), O_RDONLY | O_CLOEXEC));
  if (mappings.empty() || !page_table.valid()) return {};
  if (!control_pages_hold(mappings)) return "it replaced memory that it shares with the worker";
  for (const Mapping& mapping : mappings) {
    if (!mapping.executable() || mapping.name == "[vdso]" || mapping.name == "[vsyscall]") continue;
    if (mapping.name.empty() || mapping.name.front() != '/') return "it made code that no file holds";
    if (mapping.access.find('w') != std::string::npos || has_own_pages(page_table.get(), mapping)) {
      return "it changed code";
    }
  }
  const auto before = filter_count("self");
  const auto now = filter_count(std::to_string(arena));
  if (before && now && *now != *before + filters) return "its system call filter is not in force";
  return {};
}

}  // namespace accelopt::targets::cpu
