// SPDX-License-Identifier: Apache-2.0
#include "targets/cpu/instruction_mix.hpp"

#include <gtest/gtest.h>

#include "small_task.hpp"
#include "targets/cpu/build.hpp"

namespace accelopt::targets::cpu {
namespace {

// Two nested loops; the inner one has a fused multiply-add from memory, a store, a broadcast and its own branch.
constexpr const char* kNest = R"(
kernel.so:     file format elf64-x86-64

0000000000001100 <.text>:
    1100:	xor    %eax,%eax
    1102:	vxorps %xmm0,%xmm0,%xmm0
    1106:	vbroadcastss (%rdx,%rax,4),%ymm1
    110b:	vfmadd231ps (%rsi,%rax,1),%ymm1,%ymm0
    1111:	vmovups %ymm0,(%rdi,%rax,1)
    1116:	add    $0x20,%rax
    111a:	cmp    %rax,%rcx
    111d:	jne    1106 <kernel+0x6>
    111f:	dec    %r8
    1122:	jne    1102 <kernel+0x2>
    1124:	ret
)";

TEST(InstructionMix, CountsTheInnermostLoop) {
  const auto loops = loops_of(kNest);
  ASSERT_EQ(loops.size(), 1U);
  EXPECT_EQ(loops[0].instructions, 6);
  EXPECT_EQ(loops[0].depth, 2);
  EXPECT_EQ(loops[0].fused, 1);
  EXPECT_EQ(loops[0].arithmetic, 0);
  EXPECT_EQ(loops[0].packed, 1);
  EXPECT_EQ(loops[0].vector_bits, 256);
  EXPECT_EQ(loops[0].loads, 2);
  EXPECT_EQ(loops[0].stores, 1);
  EXPECT_EQ(loops[0].shuffles, 1);
}

TEST(InstructionMix, ScalarWorkIsNoVectorWork) {
  const auto loops = loops_of(
      "  10:\tvmovss (%rsi,%rax,4),%xmm1\n"
      "  14:\tvdivss %xmm2,%xmm1,%xmm1\n"
      "  18:\tvaddss %xmm1,%xmm0,%xmm0\n"
      "  1c:\tadd    %edx,(%rdi)\n"
      "  20:\tjne    10 <f>\n");
  ASSERT_EQ(loops.size(), 1U);
  EXPECT_EQ(loops[0].divisions, 1);
  EXPECT_EQ(loops[0].arithmetic, 1);
  EXPECT_EQ(loops[0].packed, 0);
  EXPECT_EQ(loops[0].vector_bits, 32);
  EXPECT_EQ(loops[0].loads, 2);
  EXPECT_EQ(loops[0].stores, 1);
}

TEST(InstructionMix, TextThatIsNoDisassemblyHasNoLoops) {
  EXPECT_TRUE(loops_of("").empty());
  EXPECT_TRUE(loops_of("objdump: file format not recognized\n:\t\nzz:\tjne 0\n  10:\tjne\n").empty());
  EXPECT_TRUE(describe(loops_of("  10:\tadd $1,%rax\n  14:\tjne 10 <f>\n")).empty()) << "a loop that computes nothing";
}

TEST(InstructionMix, WhichOfSeveralLoopsIsHotIsNotGuessed) {
  const std::string vectors = "  10:\tvfmadd231ps (%rsi,%rax,1),%ymm1,%ymm0\n  14:\tjne    10 <f>\n";
  const std::string more = "  30:\tvaddps (%rdx),%ymm0,%ymm0\n  34:\tjne    30 <f>\n";
  const std::string rest = "  50:\tvaddss (%rdx),%xmm0,%xmm0\n  54:\tjne    50 <f>\n";
  EXPECT_FALSE(describe(loops_of(vectors)).empty());
  const auto bulk = describe(loops_of(vectors + rest));
  ASSERT_FALSE(bulk.empty()) << "the scalar loop is the rest of the other";
  EXPECT_EQ(bulk[1].name, "inner loop: fused multiply-adds");
  EXPECT_EQ(bulk[1].value, 1);
  EXPECT_TRUE(describe(loops_of(vectors + more)).empty());
}

TEST(InstructionMix, ReadsWhatTheCompilerMade) {
  const auto compiler = find_compiler("", kPath);
  ASSERT_TRUE(compiler);
  if (find_program("objdump", kPath).empty()) GTEST_SKIP() << "objdump is not installed";
  const auto builder = KernelBuilder::create(small_task(), {*compiler, {}, nullptr}, {});
  ASSERT_TRUE(builder) << builder.error().message;
  const auto built = (*builder)->build(model::Kernel(small_task().baseline), {});
  ASSERT_TRUE(built && (*built)->report.built);
  const auto text = disassemble(*compiler, kPath, (*built)->shared_object, Lines::hidden, {});
  ASSERT_TRUE(text) << text.error().message;
  const auto items = describe(loops_of(*text));
  ASSERT_FALSE(items.empty());
  EXPECT_EQ(items[0].name, "inner loop");
  EXPECT_GT(items[0].value, 2);
  const auto refused = disassemble(*compiler, kPath, "no object", Lines::hidden, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::ErrorCode::unsupported);
  EXPECT_FALSE(disassemble(*compiler, "/nowhere", "", Lines::hidden, {}));
}

}  // namespace
}  // namespace accelopt::targets::cpu
