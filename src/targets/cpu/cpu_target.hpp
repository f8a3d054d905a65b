// SPDX-License-Identifier: Apache-2.0
// C and C++ kernels on this machine's processor.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "evaluation/target.hpp"

namespace accelopt::targets::cpu {

struct CpuOptions {
  std::string device = "cpu";  ///< "cpu:<core>": the core that kernels run on; "cpu": the last one
  std::string compiler;        ///< "g++", "clang++", or a path to one; empty: the first that there is
  std::string search_path = "/usr/local/bin:/usr/bin:/bin";  ///< where compilers are looked for
  std::string arena;                                         ///< path of accelopt-arena; empty: beside this program
  std::filesystem::path cache;              ///< of measured peaks and of what the compiler made; empty: none
  std::uint64_t memory_bytes = 2ULL << 30;  ///< that a kernel may allocate
};

std::unique_ptr<evaluation::Target> make_cpu_target(CpuOptions options);

}  // namespace accelopt::targets::cpu
