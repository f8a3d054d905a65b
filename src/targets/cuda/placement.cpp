// SPDX-License-Identifier: Apache-2.0
#include "targets/cuda/placement.hpp"

#include <algorithm>

#include "targets/cuda/cubin.hpp"

namespace accelopt::targets::cuda {
namespace {

/// 16 bytes each: with what every kernel has around them, an odd number of the 128 bytes to which functions are
/// aligned, and no multiple of a page.
constexpr int kPaddingInstructions = 68;

std::string padding(const std::string& name) {
  std::string text = "extern \"C\" __global__ void " + name + "() {\n  asm volatile(\"";
  for (int i = 0; i < kPaddingInstructions; ++i) text += "bar.sync 0;";
  return text + "\");\n}\n";
}

}  // namespace

model::Solution with_padding(const model::Solution& solution) {
  model::Solution out = solution;
  if (out.sources.empty()) return out;
  std::string& text = out.sources.front().text;
  text += (text.ends_with('\n') ? "" : "\n") + padding("AAAA_accelopt_padding") + padding("zzzz_accelopt_padding");
  return out;
}

base::Result<bool> lies_elsewhere(const BuiltCuda& built, const BuiltCuda& copy) {
  if (!copy.report.built || copy.report.machine_code_id != built.report.machine_code_id) return false;
  TRY_ASSIGN(const Cubin one, read_cubin(built.cubin));
  TRY_ASSIGN(const Cubin other, read_cubin(copy.cubin));
  return std::all_of(built.resources.begin(), built.resources.end(), [&](const KernelResources& launched) {
    const auto offset_in = [&](const Cubin& cubin) {
      const auto found = std::find_if(cubin.kernels.begin(), cubin.kernels.end(),
                                      [&](const CubinKernel& kernel) { return kernel.name == launched.kernel; });
      return found == cubin.kernels.end() ? -1 : found->code_offset;
    };
    return offset_in(one) != offset_in(other);
  });
}

}  // namespace accelopt::targets::cuda
