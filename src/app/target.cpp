// SPDX-License-Identifier: Apache-2.0
#include "app/target.hpp"

#include "app/device.hpp"
#include "targets/registry.hpp"

namespace accelopt::app {

std::filesystem::path cache_folder(const Environment& environment) {
  if (const auto cache = environment("XDG_CACHE_HOME")) return std::filesystem::path(*cache) / "accelopt";
  const auto home = environment("HOME");
  return home ? std::filesystem::path(*home) / ".cache" / "accelopt" : std::filesystem::path();
}

evaluation::Environment target_environment(const Environment& environment) {
  evaluation::Environment out;
  for (const targets::Entry& target : targets::registry()) {
    for (const std::string& name : target.variables) {
      if (auto value = environment(name)) out[name] = std::move(*value);
    }
  }
  return out;
}

base::Result<std::unique_ptr<evaluation::Target>> make_target(const Shell& shell, const std::string& device,
                                                              const std::string& compiler) {
  TRY_ASSIGN(const DeviceName name, parse_device(device));
  const targets::Entry* const target = targets::find_entry(name.kind);
  ACCELOPT_ASSERT(target != nullptr, "a device of no target");
  return target->make(
      {device, name.number, compiler, cache_folder(shell.environment), target_environment(shell.environment)});
}

}  // namespace accelopt::app
