// SPDX-License-Identifier: Apache-2.0
// Kernels with a known difference: the difference is time.
#pragma once

#include <optional>
#include <string>

#include "model/solution.hpp"

namespace accelopt::bench {

/// `baseline` with a wait at the end of each call, as long as `share` of the call's own time; nothing when no plain
/// `void kernel(` is found in its text.
inline std::optional<model::Solution> delayed(const model::Solution& baseline, double share) {
  std::string text = model::main_text(baseline);
  const std::size_t head = text.find("void kernel(");
  const std::size_t body = head == std::string::npos ? head : text.find('{', head);
  if (body == std::string::npos) return std::nullopt;
  text.insert(body + 1, "\n  const accelopt_wait wait_at_the_end;\n");
  text.insert(0,
              "#include <immintrin.h>\n"
              "#include <x86intrin.h>\n"
              "namespace {\n"
              "struct accelopt_wait {\n"
              "  unsigned long long begin = __rdtsc();\n"
              "  ~accelopt_wait() {\n"
              "    const unsigned long long end = __rdtsc();\n"
              "    const auto until = end + static_cast<unsigned long long>(static_cast<double>(end - begin) * " +
                  std::to_string(share) +
                  ");\n"
                  "    while (__rdtsc() < until) _mm_pause();\n"
                  "  }\n"
                  "};\n"
                  "}\n");
  return model::with_main_text(baseline, text);
}

}  // namespace accelopt::bench
