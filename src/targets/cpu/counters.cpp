// SPDX-License-Identifier: Apache-2.0
#include "targets/cpu/counters.hpp"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>

namespace accelopt::targets::cpu {
namespace {

struct Event {
  std::uint32_t type;
  std::uint64_t config;
  std::string_view name;
  std::string_view meaning;
};

constexpr std::uint64_t read_misses(std::uint64_t cache) {
  return cache | (PERF_COUNT_HW_CACHE_OP_READ << 8) | (PERF_COUNT_HW_CACHE_RESULT_MISS << 16);
}

constexpr std::size_t kCycles = 0;
constexpr std::size_t kInstructions = 1;
constexpr std::array kEvents{
    Event{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, "cycles", "core clock cycles of one call"},
    Event{PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, "instructions", "instructions that one call retires"},
    Event{PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, "branch misses",
          "branches of one call that went another way than predicted"},
    Event{PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, "stalled cycles",
          "cycles of one call in which nothing could be issued because operands or units were busy"},
    Event{PERF_TYPE_HW_CACHE, read_misses(PERF_COUNT_HW_CACHE_L1D), "L1d load misses",
          "loads of one call that the first-level cache did not hold"},
    Event{PERF_TYPE_HW_CACHE, read_misses(PERF_COUNT_HW_CACHE_LL), "last-level load misses",
          "loads of one call that no cache held: a line of 64 bytes from memory each"},
    Event{PERF_TYPE_HW_CACHE, read_misses(PERF_COUNT_HW_CACHE_DTLB), "dTLB load misses",
          "loads of one call whose page was not in the translation buffer: large strides touch many pages"},
    Event{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, "page faults",
          "pages that one call touched for the first time: memory that it allocates anew in each call"},
};

struct Value {
  std::uint64_t count = 0;
  std::uint64_t enabled = 0;
  std::uint64_t running = 0;
};

int open_event(const Event& event, pid_t process) {
  perf_event_attr attributes;
  std::memset(&attributes, 0, sizeof attributes);
  attributes.size = sizeof attributes;
  attributes.type = event.type;
  attributes.config = event.config;
  attributes.disabled = 1;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return static_cast<int>(syscall(SYS_perf_event_open, &attributes, process, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

std::optional<double> value_of(int file) {
  Value value;
  if (::read(file, &value, sizeof value) != static_cast<ssize_t>(sizeof value) || value.running == 0)
    return std::nullopt;
  return static_cast<double>(value.count) * static_cast<double>(value.enabled) / static_cast<double>(value.running);
}

}  // namespace

Counters::Counters(pid_t process) {
  for (std::size_t i = 0; i < kEvents.size(); ++i) {
    base::FileDescriptor file(open_event(kEvents[i], process));
    if (file.valid()) open_.push_back({i, std::move(file)});
  }
}

void Counters::start() {
  for (const Open& counter : open_) {
    ioctl(counter.file.get(), PERF_EVENT_IOC_RESET, 0);
    ioctl(counter.file.get(), PERF_EVENT_IOC_ENABLE, 0);
  }
}

void Counters::stop() {
  for (const Open& counter : open_) ioctl(counter.file.get(), PERF_EVENT_IOC_DISABLE, 0);
}

std::vector<model::ProfileItem> Counters::read() const {
  std::vector<model::ProfileItem> out;
  std::array<std::optional<double>, kEvents.size()> values;
  for (const Open& counter : open_) {
    auto& value = values[counter.event];
    value = value_of(counter.file.get());
    const Event& event = kEvents[counter.event];
    if (value) out.push_back({std::string(event.name), *value, "a call", std::string(event.meaning)});
  }
  if (values[kCycles] && values[kInstructions] && *values[kCycles] > 0) {
    out.push_back({"instructions a cycle", *values[kInstructions] / *values[kCycles], "",
                   "well under 1: it waits, for memory or for results of its own; 3 and more: it is busy"});
  }
  return out;
}

}  // namespace accelopt::targets::cpu
