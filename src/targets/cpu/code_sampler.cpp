// SPDX-License-Identifier: Apache-2.0
#include "targets/cpu/code_sampler.hpp"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>

#include "targets/cpu/mappings.hpp"

namespace accelopt::targets::cpu {
namespace {

constexpr std::size_t kDataPages = 32;  ///< a power of two; 16 bytes a sample

std::size_t page_size() {
  return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

std::size_t map_bytes() {
  return (1 + kDataPages) * page_size();
}

int open_clock(pid_t process, std::chrono::nanoseconds period) {
  perf_event_attr attributes;
  std::memset(&attributes, 0, sizeof attributes);
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_CPU_CLOCK;
  attributes.sample_period = static_cast<std::uint64_t>(period.count());
  attributes.sample_type = PERF_SAMPLE_IP;
  attributes.disabled = 1;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  return static_cast<int>(syscall(SYS_perf_event_open, &attributes, process, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

/// The kernel's file is the memory file of that name (arena_process.cpp).
bool is_kernels(const Mapping& mapping) {
  return mapping.name.starts_with("/memfd:kernel");
}

bool is_library(const Mapping& mapping) {
  return std::filesystem::path(mapping.name).filename().string().starts_with("lib");
}

}  // namespace

CodeSampler::CodeSampler(pid_t process, std::chrono::nanoseconds period)
    : process_(process), file_(open_clock(process, period)) {
  if (!file_.valid()) return;
  void* const map = mmap(nullptr, map_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
  if (map != MAP_FAILED) pages_ = map;
}

CodeSampler::~CodeSampler() {
  if (pages_ != nullptr) munmap(pages_, map_bytes());
}

void CodeSampler::start() {
  if (attached()) ioctl(file_.get(), PERF_EVENT_IOC_ENABLE, 0);
}

std::vector<std::uint64_t> CodeSampler::addresses() const {
  // Nothing was taken away before, so the ring never wrapped: when it was full, later samples were dropped.
  const auto* const head = static_cast<const perf_event_mmap_page*>(pages_);
  const std::uint64_t end = std::min<std::uint64_t>(head->data_head, kDataPages * page_size());
  std::atomic_thread_fence(std::memory_order_acquire);
  const char* const data = static_cast<const char*>(pages_) + page_size();
  std::vector<std::uint64_t> out;
  perf_event_header record;
  for (std::uint64_t at = 0; at + sizeof record + sizeof(std::uint64_t) <= end; at += record.size) {
    std::memcpy(&record, data + at, sizeof record);
    if (record.size == 0) break;
    if (record.type != PERF_RECORD_SAMPLE) continue;
    std::memcpy(&out.emplace_back(), data + at + sizeof record, sizeof(std::uint64_t));
  }
  return out;
}

evaluation::CodeSamples CodeSampler::stop() {
  evaluation::CodeSamples out;
  if (!attached()) return out;
  ioctl(file_.get(), PERF_EVENT_IOC_DISABLE, 0);
  const std::vector<Mapping> mappings = mappings_of(process_);
  for (const std::uint64_t address : addresses()) {
    const auto found = std::ranges::find_if(mappings, [&](const Mapping& mapping) {
      return mapping.executable() && address >= mapping.begin && address < mapping.end;
    });
    if (found == mappings.end()) continue;
    // The linker gives code the same place in the file and in memory.
    if (is_kernels(*found)) out.own.push_back(address - found->begin + found->offset);
    if (is_library(*found)) ++out.library[std::filesystem::path(found->name).filename().string()];
  }
  return out;
}

bool can_sample() {
  static const bool allowed = CodeSampler(0, std::chrono::milliseconds(1)).attached();
  return allowed;
}

}  // namespace accelopt::targets::cpu
