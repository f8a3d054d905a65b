// SPDX-License-Identifier: Apache-2.0
#include "targets/cpu/hot_loops.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <sstream>
#include <string>

namespace accelopt::targets::cpu {
namespace {

// A loop over rows with a loop over columns in it, and a second loop behind it.
constexpr const char* kCode = R"(
    1100:	xor    %eax,%eax
    1102:	vxorps %xmm0,%xmm0,%xmm0
    1106:	vfmadd231ps (%rsi,%rax,1),%ymm1,%ymm0
    111a:	cmp    %rax,%rcx
    111d:	jne    1106 <kernel+0x6>
    111f:	dec    %r8
    1122:	jne    1102 <kernel+0x2>
    1130:	movss  %xmm0,(%rdi)
    1134:	jne    1130 <kernel+0x30>
    1138:	ret
)";
constexpr const char* kLinedCode = R"(
kernel():
/tmp/accelopt-build.x1/kernel.cpp:3
    1100:	xor    %eax,%eax
/tmp/accelopt-build.x1/kernel.cpp:4 (discriminator 2)
    1102:	vxorps %xmm0,%xmm0,%xmm0
/tmp/accelopt-build.x1/kernel.cpp:6
    1106:	vfmadd231ps (%rsi,%rax,1),%ymm1,%ymm0
/usr/include/c++/12/bits/stl_algo.h:90
    111a:	cmp    %rax,%rcx
/tmp/accelopt-build.x1/kernel.cpp:5
    111d:	jne    1106 <kernel+0x6>
/tmp/accelopt-build.x1/kernel.cpp:4
    111f:	dec    %r8
    1122:	jne    1102 <kernel+0x2>
/tmp/accelopt-build.x1/kernel.cpp:9
    1130:	movss  %xmm0,(%rdi)
    1134:	jne    1130 <kernel+0x30>
    1138:	ret
)";

evaluation::CodeSamples samples_at(const std::map<std::uint64_t, int>& counts) {
  evaluation::CodeSamples out;
  for (const auto& [address, count] : counts) out.own.insert(out.own.end(), static_cast<std::size_t>(count), address);
  return out;
}

TEST(HotLoops, AreNamedWithShareLinesAndInstructions) {
  const auto samples = samples_at({{0x1106, 60}, {0x111a, 10}, {0x1102, 5}, {0x1130, 25}});
  const auto items = describe_hot_loops(kCode, kLinedCode, samples);
  ASSERT_EQ(items.size(), 2U) << "the loop over rows has five samples of its own, which is no tenth";
  EXPECT_EQ(items[0].name, "hot loop 1");
  EXPECT_EQ(items[0].value, 70);
  EXPECT_EQ(items[0].unit, "% of the samples");
  EXPECT_EQ(items[0].meaning,
            "lines 5 to 6; a turn: 3 instructions, 1 fused multiply-adds, 256 bits wide, 1 loads; most samples at: "
            "vfmadd231ps (%rsi,%rax,1),%ymm1,%ymm0 85 %; cmp %rax,%rcx 14 %");
  EXPECT_EQ(items[1].name, "hot loop 2");
  EXPECT_EQ(items[1].value, 25);
  EXPECT_TRUE(items[1].meaning.starts_with("line 9; ")) << items[1].meaning;
}

TEST(HotLoops, InstructionsAreNamedWhereSamplesGather) {
  std::ostringstream code;
  std::map<std::uint64_t, int> counts;
  for (std::uint64_t address = 0x1000; address < 0x1064; address += 4) {
    code << "    " << std::hex << address << ":\taddss %xmm1,%xmm0\n";
    counts[address] = 4;
  }
  code << "    1064:\tjne    1000 <kernel>\n";
  const auto items = describe_hot_loops(code.str(), "", samples_at(counts));
  ASSERT_EQ(items.size(), 1U);
  EXPECT_EQ(items[0].meaning.find("most samples"), std::string::npos) << items[0].meaning;
}

TEST(HotLoops, LinesOfOtherCodeAreNotTold) {
  std::string other = kLinedCode;
  other.replace(other.find("vxorps"), 6, "vmovap");
  const auto items = describe_hot_loops(kCode, other, samples_at({{0x1106, 100}}));
  ASSERT_EQ(items.size(), 1U);
  EXPECT_TRUE(items[0].meaning.starts_with("a turn: ")) << items[0].meaning;
}

TEST(HotLoops, FewSamplesSayNothingAndLibrariesAreNamed) {
  EXPECT_TRUE(describe_hot_loops(kCode, "", samples_at({{0x1106, 49}})).empty());
  EXPECT_TRUE(describe_hot_loops(kCode, "", samples_at({{0x1138, 90}})).empty()) << "in no loop";
  auto samples = samples_at({{0x1106, 40}});
  samples.library = {{"libm.so.6", 60}, {"libc.so.6", 3}};
  const auto items = describe_hot_loops(kCode, "", samples);
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(items[0].value, 39);
  EXPECT_EQ(items[1].name, "in libm.so.6");
  EXPECT_EQ(items[1].value, 58);
}

}  // namespace
}  // namespace accelopt::targets::cpu
