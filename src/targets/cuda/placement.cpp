// SPDX-License-Identifier: Apache-2.0
#include "targets/cuda/placement.hpp"

#include <algorithm>

#include "devices/cuda/cubin.hpp"

namespace accelopt::targets::cuda {
namespace {

using devices::cuda::Cubin;
using devices::cuda::CubinKernel;
using devices::cuda::KernelResources;

/// 16 bytes each: with what every kernel has around them, nine of the 128 bytes to which functions are aligned, so that
/// neither one of these kernels nor two of them take a multiple of 512 bytes.
constexpr int kPaddingBarriers = 60;
constexpr std::int64_t kApart = 512;

std::string padding(const std::string& name) {
  std::string text = "extern \"C\" __global__ void " + name + "() {\n  ";
  for (int i = 0; i < kPaddingBarriers; ++i) text += "__syncthreads();";
  return text + "\n}\n";
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
  TRY_ASSIGN(const Cubin one, devices::cuda::read_cubin(built.program.cubins.at(0).bytes));
  TRY_ASSIGN(const Cubin other, devices::cuda::read_cubin(copy.program.cubins.at(0).bytes));
  const std::vector<KernelResources>& kernels = built.program.cubins[0].kernels;
  return std::all_of(kernels.begin(), kernels.end(), [&](const KernelResources& launched) {
    const auto offset_in = [&](const Cubin& cubin) {
      const auto found = std::find_if(cubin.kernels.begin(), cubin.kernels.end(),
                                      [&](const CubinKernel& kernel) { return kernel.name == launched.kernel; });
      return found == cubin.kernels.end() ? -1 : found->code_offset;
    };
    return offset_in(other) >= 0 && offset_in(one) % kApart != offset_in(other) % kApart;
  });
}

}  // namespace accelopt::targets::cuda
