// SPDX-License-Identifier: Apache-2.0
// The list of targets. How each is made and examined is beside it, in registry.cpp.
#include <array>

#include "targets/cpu/description.hpp"
#include "targets/cuda/description.hpp"
#include "targets/repo/description.hpp"
#include "targets/trainium/description.hpp"
#include "targets/triton/description.hpp"

namespace accelopt::model {
namespace {

/// A target that a task may name, and on which this version measures nothing.
TargetDescription planned(std::string name, LanguageDescription language, std::vector<std::string> reference_suffixes) {
  TargetDescription out;
  out.name = std::move(name);
  out.languages = {std::move(language)};
  out.reference_suffixes = std::move(reference_suffixes);
  out.own_memory = true;
  out.large_cache = true;
  out.profiles_on_demand = true;
  return out;
}

LanguageDescription language(Language key, std::string title, std::string suffix) {
  LanguageDescription out;
  out.language = key;
  out.title = std::move(title);
  out.suffixes = {std::move(suffix)};
  out.fence = key.key();
  out.header_fence = "c";
  return out;
}

}  // namespace

std::span<const TargetDescription* const> targets() {
  static const TargetDescription kOpencl = [] {
    LanguageDescription opencl = language(Language("opencl"), "OpenCL C", ".cl");
    opencl.c_tokens = true;
    return planned("opencl", opencl, {".cpp", ".c", ".py"});
  }();
  static const TargetDescription kNki = planned("nki", language(Language("python"), "Python", ".py"), {".py", ".cpp"});
  static const std::array<const TargetDescription*, 7> kTargets{
      &accelopt::targets::cpu::description(),    &accelopt::targets::cuda::description(),     &kOpencl,
      &accelopt::targets::triton::description(), &accelopt::targets::trainium::description(), &kNki,
      &accelopt::targets::repo::description()};
  return kTargets;
}

}  // namespace accelopt::model
