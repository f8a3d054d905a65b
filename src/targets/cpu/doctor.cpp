// SPDX-License-Identifier: Apache-2.0
#include "targets/cpu/doctor.hpp"

#include <fmt/format.h>

#include "sandbox/probe.hpp"
#include "targets/cpu/arena_process.hpp"
#include "targets/cpu/compiler.hpp"
#include "targets/cpu/cpu_target.hpp"
#include "targets/cpu/machine.hpp"

namespace accelopt::targets::cpu {

using State = evaluation::Finding::State;

int examine(const evaluation::Environment& environment, const evaluation::Report& report) {
  const auto add = [&](const std::string& name, State state, const std::string& detail,
                       const std::string& advice = "") {
    report({name, state, detail, advice});
  };
  const auto path = environment.find("PATH");
  const std::string search_path = path == environment.end() ? CpuOptions().search_path : path->second;
  int missing = 0;
  for (const std::string name : {"g++", "clang++"}) {
    const auto compiler = find_compiler(name, search_path);
    if (compiler)
      add(name, State::ok, compiler->name);
    else
      add(name, State::missing, "not found", name == "g++" ? "apt-get install g++" : "optional: apt-get install clang");
  }
  if (!find_compiler("", search_path)) ++missing;

  const auto arena = find_arena();
  if (arena)
    add("arena", State::ok, *arena);
  else {
    add("arena", State::missing, arena.error().message, "install accelopt-arena beside accelopt");
    ++missing;
  }

  const auto machine = examine_machine();
  add("processor", State::ok,
      fmt::format("{}, {} cores, {}", machine.cpu_model, machine.cores.size(), machine.vector_set));
  if (!machine.line_flush) {
    add("cache flush", State::degraded, "no instruction that flushes one cache line",
        "cold caches are made by touching memory, which is slower and noisier");
  }
  if (machine.cores.size() < 2) {
    add("cores", State::degraded, "one core: worker and kernel share it", "times are noisier; give accelopt two cores");
  } else if (machine.cores.size() < 4) {
    add("cores", State::ok, "builds pause while a kernel is timed (no core to spare)");
  }
  const std::string lacking = sandbox::missing_isolation();
  add("sandbox", lacking.empty() ? State::ok : State::degraded, sandbox::isolation(),
      lacking.empty() ? "" : "results say less than they could, and say so (isolation, in every evaluation)");
  for (const sandbox::Layer& layer : sandbox::layers()) {
    const bool present = layer.state == sandbox::LayerState::present;
    add(layer.name, present ? State::ok : State::degraded,
        fmt::format("{}: {}", sandbox::to_string(layer.state), present ? layer.gives : layer.costs), layer.advice);
  }
  return missing;
}

}  // namespace accelopt::targets::cpu
