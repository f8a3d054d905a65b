// SPDX-License-Identifier: Apache-2.0
// Kernels of a known cost: a task's baseline with a launch of one thread behind its own.
#pragma once

#include <cstdint>
#include <string>

#include "model/task.hpp"

namespace accelopt::bench {

/// In CUDA C++, with this body.
inline model::Solution followed_by(const model::Task& task, const std::string& body) {
  return model::with_main_text(
      task.baseline, model::main_text(task.baseline) + "\n//@ launch accelopt_last grid=(1) block=(1) args=(" +
                         task.definition.outputs.front().name +
                         ")\nextern \"C\" __global__ void accelopt_last(void*) {\n  " + body + "\n}\n");
}

/// In Triton: busy for so many clock cycles; with several configurations, which differ by a cycle each.
inline model::Solution followed_by_triton_wait(const model::Task& task, std::int64_t cycles, int configurations) {
  const std::string clock =
      R"(tl.inline_asm_elementwise("mov.u64 $0, %clock64;", "=l", [], dtype=tl.int64, is_pure=False, pack=1))";
  const bool tuned = configurations > 1;
  std::string text = model::main_text(task.baseline) + "\n\nrun_alone = run\n\n\n";
  if (tuned)
    text += "@triton.autotune(configs=[triton.Config({\"MORE\": more}) for more in range(" +
            std::to_string(configurations) + ")], key=[])\n";
  text += "@triton.jit\ndef accelopt_last(out, CYCLES: tl.constexpr, MORE: tl.constexpr):\n    begin = " + clock +
          "\n    now = begin\n    while now - begin < CYCLES + MORE:\n        now = " + clock +
          "\n\n\ndef run(*tensors):\n    run_alone(*tensors)\n    accelopt_last[(1,)](tensors[-1], CYCLES=" +
          std::to_string(cycles) + (tuned ? ")\n" : ", MORE=0, num_warps=1)\n");
  return model::with_main_text(task.baseline, text);
}

/// A thread that is busy for so many clock cycles, in the language of the task's baseline.
inline model::Solution followed_by_wait(const model::Task& task, std::int64_t cycles, int configurations = 1) {
  if (task.baseline.sources.front().name.ends_with(".py")) return followed_by_triton_wait(task, cycles, configurations);
  return followed_by(
      task, "const long long until = clock64() + " + std::to_string(cycles) + ";\n  while (clock64() < until) {\n  }");
}

}  // namespace accelopt::bench
