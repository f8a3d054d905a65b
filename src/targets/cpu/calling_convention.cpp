// SPDX-License-Identifier: Apache-2.0
#include "targets/cpu/calling_convention.hpp"

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "targets/cpu/arena/protocol.hpp"

namespace accelopt::targets::cpu {
namespace {

/// By Preserved.
constexpr std::array<std::string_view, static_cast<std::size_t>(Preserved::count)> kPreservedNames{
    "rsp",
    "rbx",
    "rbp",
    "r12",
    "r13",
    "r14",
    "r15",
    "the direction flag",
    "the control bits of MXCSR (rounding, FTZ, DAZ, exceptions)",
    "the x87 control word",
    "the x87 registers (MMX without emms)",
};

}  // namespace

std::string changed_text(std::uint32_t changed) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kPreservedNames.size(); ++i) {
    if ((changed & bit_of(static_cast<Preserved>(i))) != 0) names.emplace_back(kPreservedNames.at(i));
  }
  if (names.empty()) return {};
  return base::joined(names, ", ") +
         " changed, which the calling convention of x86-64 has a function leave as it found them: its caller would "
         "compute something else; restore them before it returns";
}

}  // namespace accelopt::targets::cpu
