// SPDX-License-Identifier: Apache-2.0
#include "targets/cpu/description.hpp"

#include "model/directives.hpp"

namespace accelopt::targets::cpu {
namespace {

model::LanguageDescription c_family(model::Language language, std::string title, std::string standard,
                                    std::vector<std::string> suffixes) {
  model::LanguageDescription out;
  out.language = language;
  out.form = model::KernelForm::function;
  out.c_tokens = true;
  out.title = std::move(title);
  out.standard = std::move(standard);
  out.suffixes = std::move(suffixes);
  out.prompts = "cpp";  // C and C++ share their contract
  out.fence = language.key();
  out.header_fence = "c";
  out.allowed_flags = model::allowed_flags();
  out.cold_caches = "The caches are cold: inputs and outputs are flushed from all caches before each timed call.";
  out.warm_caches = "The caches are warm: the tensors were touched just before each timed call.";
  return out;
}

model::TargetDescription describe() {
  model::TargetDescription out;
  out.name = "cpu";
  out.languages = {c_family(model::Language::cpp, "C++", "gnu++20", {".cpp", ".cc", ".cxx"}),
                   c_family(model::Language::c, "C", "gnu17", {".c"})};
  out.reference_suffixes = {".cpp", ".c"};
  out.task_keys = {model::TaskKey::threads, model::TaskKey::cache};
  out.takes_every_tensor = true;
  out.device = "cpu";
  out.devices = "cpu, cpu:N for kernels on core N";
  return out;
}

}  // namespace

const model::TargetDescription& description() {
  static const model::TargetDescription kDescription = describe();
  return kDescription;
}

}  // namespace accelopt::targets::cpu
