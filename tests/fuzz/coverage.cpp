// SPDX-License-Identifier: Apache-2.0
#include "fuzz/coverage.hpp"

#include <cstdint>

namespace accelopt::fuzz {
namespace {

#ifdef ACCELOPT_FUZZ_COVERAGE

constexpr std::size_t kEdges = std::size_t{1} << 18U;

// Zero before any constructor runs, because instrumented code runs then, too; plain arrays, because what they would
// call is instrumented as well. NOLINTBEGIN(modernize-avoid-c-arrays)
bool watching = false;
std::uintptr_t came_from = 0;
std::uint8_t times[kEdges];
std::uint8_t met[kEdges];
std::uint32_t touched[kEdges];
std::size_t touched_count = 0;
// NOLINTEND(modernize-avoid-c-arrays)

/// Bit for how often an edge was taken: once, twice, 3, 4-7, 8-15, 16-31, 32-127, more.
std::uint8_t class_of(std::uint8_t count) {
  if (count < 4) return static_cast<std::uint8_t>(1U << (count - 1U));
  if (count < 8) return 8;
  if (count < 16) return 16;
  if (count < 32) return 32;
  return count < 128 ? 64 : 128;
}

#endif

}  // namespace

#ifdef ACCELOPT_FUZZ_COVERAGE

bool sees_branches() {
  return true;
}

void begin_watching() {
  came_from = 0;
  watching = true;
}

bool end_watching() {
  watching = false;
  bool is_new = false;
  for (std::size_t at = 0; at < touched_count; ++at) {
    const std::uint32_t edge = touched[at];
    const std::uint8_t now = class_of(times[edge]);
    is_new = is_new || (met[edge] & now) == 0;
    met[edge] = static_cast<std::uint8_t>(met[edge] | now);
    times[edge] = 0;
  }
  touched_count = 0;
  return is_new;
}

std::size_t branches_met() {
  std::size_t count = 0;
  for (const std::uint8_t edge : met) count += edge != 0 ? 1 : 0;
  return count;
}

#else

bool sees_branches() {
  return false;
}
void begin_watching() {}
bool end_watching() {
  return false;
}
std::size_t branches_met() {
  return 0;
}

#endif

}  // namespace accelopt::fuzz

#ifdef ACCELOPT_FUZZ_COVERAGE

/// What gcc's -fsanitize-coverage=trace-pc calls in every basic block.
// NOLINTNEXTLINE(bugprone-reserved-identifier): the compiler's name
extern "C" __attribute__((no_sanitize_coverage, no_sanitize("address", "undefined"))) void __sanitizer_cov_trace_pc() {
  using namespace accelopt::fuzz;
  if (!watching) return;
  // Edges and not blocks, as AFL counts them. A program lies elsewhere in every process; distances in it do not change.
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) -
                    reinterpret_cast<std::uintptr_t>(&__sanitizer_cov_trace_pc);
  const std::uintptr_t block = (here * 0x9E3779B97F4A7C15U) >> 40U;
  const std::uintptr_t edge = (block ^ came_from) & (kEdges - 1);
  came_from = block >> 1U;
  std::uint8_t& count = times[edge];
  if (count == 0) touched[touched_count++] = static_cast<std::uint32_t>(edge);
  if (count < 255) ++count;
}

#endif
