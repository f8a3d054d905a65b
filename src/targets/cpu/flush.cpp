// SPDX-License-Identifier: Apache-2.0
#include "targets/cpu/flush.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace accelopt::targets::cpu {
namespace {

constexpr std::size_t kLine = 64;

#if defined(__x86_64__)
__attribute__((target("clflushopt"))) void flush_lines(std::span<const std::byte> bytes) {
  for (std::size_t at = 0; at < bytes.size(); at += kLine) {
    _mm_clflushopt(const_cast<std::byte*>(bytes.data() + at));
  }
}
#elif defined(__aarch64__)
void flush_lines(std::span<const std::byte> bytes) {
  for (std::size_t at = 0; at < bytes.size(); at += kLine)
    asm volatile("dc civac, %0" : : "r"(bytes.data() + at) : "memory");
}
#else
void flush_lines(std::span<const std::byte>) {}
#endif

void wait_for_flush() {
#if defined(__x86_64__)
  _mm_mfence();
#elif defined(__aarch64__)
  asm volatile("dsb sy" : : : "memory");
#endif
}

}  // namespace

Flusher::Flusher(bool by_line, std::int64_t last_level_bytes)
    : by_line_(by_line),
      touched_bytes_(by_line ? 0 : static_cast<std::size_t>(last_level_bytes) * 2),
      other_(touched_bytes_) {}

void Flusher::flush(std::span<const std::byte> bytes) {
  if (by_line_) flush_lines(bytes);
}

void Flusher::flush_now(const std::vector<std::span<const std::byte>>& lines) const {
  if (!by_line_) return;
  for (const auto line : lines) flush_lines(line);
  wait_for_flush();
}

void Flusher::finish() {
  if (by_line_) wait_for_flush();
  for (std::size_t at = 0; at < other_.size(); at += kLine) {
    volatile std::byte* line = &other_[at];
    *line = static_cast<std::byte>(static_cast<unsigned>(*line) + 1U);
  }
}

}  // namespace accelopt::targets::cpu
