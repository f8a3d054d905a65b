// SPDX-License-Identifier: Apache-2.0
#include "targets/triton/description.hpp"

namespace accelopt::targets::triton {

const model::TargetDescription& description() {
  static const model::TargetDescription kDescription = [] {
    model::LanguageDescription python;
    python.language = model::Language("python");
    python.form = model::KernelForm::text;
    python.values_comment = "# accelopt configuration:";
    python.title = "Triton";
    python.standard = "Triton 3.6";
    python.suffixes = {".py"};
    python.prompts = "triton";
    python.fence = "python";
    python.header_fence = "c";
    python.cold_caches = "The caches are cold: the second-level cache is flushed before each timed call.";
    python.warm_caches = "The caches are as the call before left them.";
    model::TargetDescription out;
    out.name = "triton";
    out.languages = {python};
    out.reference_suffixes = {".cpp", ".c", ".cu", ".py"};
    out.device = "cuda:0";
    out.interpreter = "triton";
    out.devices = "triton for Triton's interpreter, which checks results and times nothing";
    out.host_may_see_inputs = true;
    out.own_memory = true;
    out.large_cache = true;
    out.profiles_on_demand = true;
    return out;
  }();
  return kDescription;
}

}  // namespace accelopt::targets::triton
