// SPDX-License-Identifier: Apache-2.0
#include "targets/cuda/description.hpp"

namespace accelopt::targets::cuda {
namespace {

/// What the CUDA programming model allows on every device since compute capability 9.0 (CUDA C++ Programming Guide,
/// "Compute Capabilities", and the driver API's cuTensorMapEncodeTiled).
constexpr model::LaunchLimits kLimits{.grid = {0x7fffffff, 65535, 65535},
                                      .block = {1024, 1024, 64},
                                      .block_threads = 1024,
                                      .cluster_blocks = 16,
                                      .shared_bytes = 232448,
                                      .parameter_bytes = 4096,
                                      .scratch_bytes = 16LL << 30,
                                      .map_bytes = 128,
                                      .map_parameter_alignment = 64,
                                      .map_axes = 5,
                                      .map_box_extent = 256,
                                      .map_extent = 1LL << 32,
                                      .map_stride = 1LL << 40,
                                      .map_alignment = 16};

model::LanguageDescription cuda_cpp() {
  model::LanguageDescription out;
  out.language = model::Language("cuda");
  out.form = model::KernelForm::launches;
  out.c_tokens = true;
  out.title = "CUDA C++";
  out.standard = "c++20";
  out.suffixes = {".cu"};
  out.prompts = "cuda";
  out.fence = "cuda";
  out.header_fence = "cuda";
  out.header_begins = "\n#endif\n";
  // Those that model::is_allowed_device_flag accepts, each in one spelling.
  out.allowed_flags =
      "--use_fast_math --ftz=true --prec-div=false --prec-sqrt=false --fmad=false --extra-device-vectorization "
      "-maxrregcount=128 (or another number from 16 to 255)";
  out.cold_caches = "The caches are cold: the second-level cache is flushed before each timed call.";
  out.warm_caches =
      "The second-level cache is warm: it is not flushed before a timed call, and the inputs were written just before "
      "it.";
  return out;
}

model::TargetDescription describe() {
  model::TargetDescription out;
  out.name = "cuda";
  out.languages = {cuda_cpp()};
  out.reference_suffixes = {".cu", ".cpp", ".c", ".py"};
  out.task_keys = {model::TaskKey::cache};
  out.device = "cuda:0";
  out.devices = "cuda:N for CUDA device N";
  out.own_memory = true;
  out.large_cache = true;
  out.profiles_on_demand = true;
  out.launch_limits = kLimits;
  out.taken_prefixes = {"cuda"};
  out.taken_names = {"blockDim", "blockIdx", "dim3", "gridDim", "threadIdx", "warpSize"};
  return out;
}

}  // namespace

const model::TargetDescription& description() {
  static const model::TargetDescription kDescription = describe();
  return kDescription;
}

}  // namespace accelopt::targets::cuda
