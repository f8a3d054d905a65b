// SPDX-License-Identifier: Apache-2.0
#include "model/directives.hpp"

#include <algorithm>

namespace accelopt::model {

const std::vector<std::string_view>& allowed_flags() {
  // Code generation only: nothing that reads or writes files, loads plug-ins, changes the language, the ABI or the
  // link.
  static const std::vector<std::string_view> flags{"-ffast-math",
                                                   "-fno-math-errno",
                                                   "-ffinite-math-only",
                                                   "-fno-signed-zeros",
                                                   "-fno-trapping-math",
                                                   "-fassociative-math",
                                                   "-freciprocal-math",
                                                   "-funsafe-math-optimizations",
                                                   "-fno-rounding-math",
                                                   "-fcx-limited-range",
                                                   "-ffp-contract=fast",
                                                   "-ffp-contract=off",
                                                   "-funroll-loops",
                                                   "-fno-unroll-loops",
                                                   "-fno-tree-vectorize",
                                                   "-ftree-vectorize",
                                                   "-fno-tree-slp-vectorize",
                                                   "-fvect-cost-model=unlimited",
                                                   "-fvect-cost-model=dynamic",
                                                   "-fvect-cost-model=cheap",
                                                   "-mno-recip",
                                                   "-mprefer-vector-width=128",
                                                   "-mprefer-vector-width=256",
                                                   "-mprefer-vector-width=512",
                                                   "-fno-strict-aliasing",
                                                   "-fprefetch-loop-arrays",
                                                   "-fomit-frame-pointer",
                                                   "-O1",
                                                   "-O2",
                                                   "-O3",
                                                   "-fno-tree-loop-distribute-patterns",
                                                   "-fno-schedule-insns2",
                                                   "-fschedule-insns",
                                                   "-floop-interchange",
                                                   "-fno-loop-interchange",
                                                   "-floop-unroll-and-jam",
                                                   "-fno-loop-unroll-and-jam",
                                                   "-fsplit-loops",
                                                   "-fgcse-las",
                                                   "-fira-region=all",
                                                   "-fno-gcse"};
  return flags;
}

tl::expected<CpuDirectives, DirectiveProblem> parse_cpu_directives(std::string_view source) {
  CpuDirectives directives;
  int line_number = 0;
  while (!source.empty()) {
    ++line_number;
    const auto end = source.find('\n');
    const std::string_view line = source.substr(0, end);
    source.remove_prefix(end == std::string_view::npos ? source.size() : end + 1);
    const auto start = line.find_first_not_of(" \t");
    if (start == std::string_view::npos || !line.substr(start).starts_with("//@")) continue;

    std::size_t at = start + 3;
    const auto next_word = [&]() -> std::string_view {
      at = std::min(line.find_first_not_of(" \t\r", at), line.size());
      const std::size_t word_end = std::min(line.find_first_of(" \t\r", at), line.size());
      return line.substr(at, word_end - at);
    };
    const auto refuse = [&](std::string message) {
      return tl::make_unexpected(DirectiveProblem{line_number, static_cast<int>(at) + 1, std::move(message)});
    };
    const std::string_view keyword = next_word();
    if (keyword != "flags") {
      return refuse("unknown directive \"//@ " + std::string(keyword) + "\"; C and C++ kernels know //@ flags");
    }
    at += keyword.size();
    for (std::string_view flag = next_word(); !flag.empty(); at += flag.size(), flag = next_word()) {
      const auto& allowed = allowed_flags();
      if (std::find(allowed.begin(), allowed.end(), flag) == allowed.end()) {
        return refuse("flag \"" + std::string(flag) + "\" is not on the allow-list of //@ flags");
      }
      directives.flags.emplace_back(flag);
    }
  }
  return directives;
}

}  // namespace accelopt::model
