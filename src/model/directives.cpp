// SPDX-License-Identifier: Apache-2.0
#include "model/directives.hpp"

#include "base/text.hpp"
#include "model/directive_reader.hpp"

namespace accelopt::model {

namespace {

// Code generation only: nothing that reads or writes files, loads plug-ins, changes the language, the ABI or the link.
constexpr std::string_view kFlags =
    "-ffast-math -fno-math-errno -ffinite-math-only -fno-signed-zeros "
    "-fno-trapping-math -fassociative-math -freciprocal-math -funsafe-math-optimizations -fno-rounding-math "
    "-fcx-limited-range -ffp-contract=fast "
    "-ffp-contract=off -funroll-loops -fno-unroll-loops -fno-tree-vectorize -ftree-vectorize -fno-tree-slp-vectorize "
    "-fvect-cost-model=unlimited -fvect-cost-model=dynamic -fvect-cost-model=cheap -mno-recip "
    "-mprefer-vector-width=128 -mprefer-vector-width=256 -mprefer-vector-width=512 -fno-strict-aliasing "
    "-fprefetch-loop-arrays -fomit-frame-pointer -O1 -O2 -O3 -fno-tree-loop-distribute-patterns -fno-schedule-insns2 "
    "-fschedule-insns -floop-interchange -fno-loop-interchange -floop-unroll-and-jam -fno-loop-unroll-and-jam "
    "-fsplit-loops -fgcse-las -fira-region=all -fno-gcse";

/// Allowed, and not listed to models: whoever needs it is told by the error.
constexpr std::string_view kKeepsSpecialValues = "-fno-finite-math-only";

}  // namespace

std::string_view allowed_flags() {
  return kFlags;
}

namespace {

bool is_allowed_flag(std::string_view flag) {
  return base::has_word(kFlags, flag) || flag == kKeepsSpecialValues;
}

tl::expected<void, DirectiveProblem> read_cpu_line(const DirectiveLine& line, CpuDirectives& out) {
  DirectiveReader reader(line);
  const std::string_view keyword = reader.take_until_blank();
  if (keyword == "flags") return reader.read_flags(out.flags, &is_allowed_flag);
  if (keyword == "tune") return reader.read_tune(out);
  if (keyword == "require") return reader.read_require(out);
  return reader.refuse_word(keyword, "unknown directive \"//@ " + quotable(keyword) +
                                         "\"; C and C++ kernels know //@ flags, //@ tune and //@ require");
}

}  // namespace

tl::expected<CpuDirectives, DirectiveProblem> parse_cpu_directives(std::string_view source) {
  const auto lines = directive_lines(source);
  if (!lines) return tl::make_unexpected(lines.error());
  CpuDirectives directives;
  for (const DirectiveLine& line : *lines) {
    if (auto read = read_cpu_line(line, directives); !read) return tl::make_unexpected(read.error());
  }
  return directives;
}

}  // namespace accelopt::model
