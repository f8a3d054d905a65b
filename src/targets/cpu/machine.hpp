// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace accelopt::targets::cpu {

/// The file whose lock keeps measurements on the processor apart, of all users (evaluation/device_lock.hpp).
inline constexpr const char* kMachineLock = "/tmp/accelopt-cpu.lock";

/// What the machine says about itself.
struct Machine {
  std::string cpu_model;
  std::vector<int> cores;  ///< that this process may use
  std::int64_t l1_bytes = 0;
  std::int64_t l2_bytes = 0;
  std::int64_t last_level_bytes = 0;
  int vector_bits = 128;
  std::string vector_set;        ///< "AVX2", "AVX-512", "NEON", ...
  std::string instruction_sets;  ///< beyond vector_set, as the system calls them: "bmi2 f16c avx512_vnni"; may be empty
  int vector_registers = 16;
  std::int64_t line_bytes = 64;
  std::int64_t page_bytes = 4096;
  bool line_flush = false;  ///< an instruction that flushes one cache line
};

Machine examine_machine();

/// Which core does what while something is measured.
struct CorePlan {
  int worker = 0;
  std::vector<int> arenas;  ///< one a thread of the kernel
  std::vector<int> others;  ///< for compilers; empty: there are no cores to spare, builds pause
  bool one_core = false;    ///< worker and arena share a core
};

/// The plan for device "cpu:<core>" (the arena's core; "cpu" takes the last one).
/// @error invalid_argument: no such core; unsupported: more threads than cores - 1.
base::Result<CorePlan> plan_cores(const Machine& machine, const std::string& device, int threads);

}  // namespace accelopt::targets::cpu
