// SPDX-License-Identifier: Apache-2.0
// The checks that find cheating, one by one: what the compiler is asked for, late writes, data left beside an output.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>

#include "syntax/source_check.hpp"
#include "targets/cpu/buffers.hpp"
#include "targets/cpu/diagnostics.hpp"
#include "targets/cpu/late_writes.hpp"

namespace accelopt::targets::cpu {
namespace {

TEST(SourceCheck, HonestTextPasses) {
  for (const char* text :
       {"#include <math.h>\n#include \"task.h\"\n", "#if __has_include(<omp.h>)\n#include <omp.h>\n#endif\n",
        "#if defined(__has_include)\n#endif\n", "// #include \"/etc/passwd\"\n", "/* #include \"/etc/passwd\" */\n",
        "const char* s = \"#include \\\"/etc/passwd\\\"\";\n", "const char* s = R\"(\n#include \"/etc/passwd\"\n)\";\n",
        "int a = 1'000'000; // it's\n#include <vector>\n", "#pragma GCC unroll 4\n#pragma omp simd\n",
        "_Pragma(\"GCC ivdep\")\n", "#define A(x) x##1 \\\n  + 2\n", "#undef line\nint line = 1;\n"}) {
    EXPECT_EQ(syntax::refused_text(text), "") << text;
  }
}

TEST(SourceCheck, NothingHidesARequestForFiles) {
  for (const char* text : {"#include \"/etc/passwd\"\n",
                           "#include </etc/passwd>\n",
                           "#include_next \"/etc/passwd\"\n",
                           "#import \"/etc/passwd\"\n",
                           "%:include \"/etc/passwd\"\n",
                           "#inc\\\nlude \"/etc/passwd\"\n",
                           "#inc\\  \nlude \"/etc/passwd\"\n",
                           "/* a */ # /* b\n */ include /**/ \"/etc/passwd\"\n",
                           "const char* s = R\"(/*)\";\n#include \"/etc/passwd\"\n",
                           "const char* s = u8R\"x(/*)x\";\n#include \"/etc/passwd\"\n",
                           "const char* s = R\"(\\\n)\";\n#include \"/etc/passwd\"\n",
                           "const char c = '\"';\n#include \"/etc/passwd\"\n",
                           "// spliced \\\n comment\n#include \"/etc/passwd\"\n",
                           "#include \"a/../../x\"\n",
                           "#include MACRO\n",
                           "#include\n",
                           "#if __has_include(\"/etc/passwd\")\n#endif\n",
                           "#elif __has_include_next(</etc/passwd>)\n",
                           "#if 1 && __has_include(NAME)\n#endif\n",
                           "#define PROBE(x) __has_include(x)\n",
                           "#embed \"/etc/passwd\"\n",
                           "#pragma GCC dependency \"/etc/passwd\"\n",
                           "_Pragma(\"GCC dependency \\\"/etc/passwd\\\"\")\n",
                           "#line 1 \"/etc/passwd\"\n",
                           "# 1 \"/etc/passwd\"\n",
                           "asm(\".incbin \\\"/etc/passwd\\\"\");\n",
                           "#include \"/etc/passwd\""}) {
    EXPECT_NE(syntax::refused_text(text).find("refused"), std::string::npos) << text;
  }
}

TEST(SourceCheck, TheRefusalNamesItsLine) {
  EXPECT_TRUE(syntax::refused_text("int a;\\\n\n/* b\n */ #include \"/x\"\n").starts_with("4:5: error: "))
      << syntax::refused_text("int a;\\\n\n/* b\n */ #include \"/x\"\n");
}

TEST(Diagnostics, NothingThatATerminalActsOnIsQuoted) {
  EXPECT_EQ(own_diagnostics("kernel.cpp:1:2: error: #error \x1b[2J\x07\tgone\r\n", {"kernel.cpp"}),
            "kernel.cpp:1:2: error: #error ?[2J?\tgone?\n");
}

TEST(SourceCheck, TheAssemblersOwnWaysToFilesAreRefused) {
  for (const char* text :
       {"\t.text\n#APP\n\t.incbin \"/etc/passwd\"\n", "x: .INCBIN \"/etc/passwd\"", "\t.include \"/x\"\n",
        "\t.string \"a\\\"b\"; .incbin \"x\"\n", "\t.macro take a b\n", "\t.irpc c,abc\n"}) {
    EXPECT_NE(syntax::refused_assembly(text).find("refused"), std::string::npos) << text;
  }
  EXPECT_EQ(
      syntax::refused_assembly("\t.text\nkernel:\n\tret\n\t.string \"say \\\".incbin\\\"\"\n\t.ascii \".macro\"\n"),
      "");
}

TEST(LateWritesTest, AChangeAfterTheLookIsSeen) {
  std::array<std::byte, 256> output{};
  LateWrites watched({output}, 1);
  watched.remember();
  EXPECT_FALSE(watched.seen());
  for (std::byte& byte : output) byte = std::byte{1};
  EXPECT_TRUE(watched.seen());
}

TEST(LateWritesTest, AHundredthLeftForLaterIsSeenWithinSomeDozenCalls) {
  std::vector<std::byte> output(64 * 1000);
  int seen = 0;
  for (std::uint64_t call = 0; call < 100; ++call) {
    std::fill(output.begin(), output.end(), std::byte{0});
    LateWrites watched({output}, call);
    watched.remember();
    std::fill(output.end() - 640, output.end(), std::byte{1});
    seen += watched.seen() ? 1 : 0;
  }
  EXPECT_GT(seen, 10);
}

TEST(LateWritesTest, OutputsWithoutElementsAreNotLookedAt) {
  LateWrites watched({std::span<const std::byte>()}, 1);
  watched.remember();
  EXPECT_FALSE(watched.seen());
}

TEST(BuffersTest, NothingStaysBesideAnOutput) {
  auto created = Buffers::create({{20000, true}}, 7);
  ASSERT_TRUE(created) << created.error().message;
  Buffers& buffers = *created;
  buffers.write_canaries(0, 100);
  EXPECT_TRUE(buffers.canaries_whole(0, 100));
  std::byte* const far_before = buffers.here(0, 20000).data() + 16;  // where a larger tensor would begin
  const std::byte was = *far_before;
  *far_before = was ^ std::byte{1};
  EXPECT_FALSE(buffers.canaries_whole(0, 100));
  buffers.distrust();
  buffers.write_canaries(0, 100);
  EXPECT_EQ(*far_before, was);
  EXPECT_TRUE(buffers.canaries_whole(0, 100));
  // A larger tensor lay there in between.
  buffers.write_canaries(0, 20000);
  std::memset(buffers.here(0, 20000).data(), 0, 20000);
  EXPECT_TRUE(buffers.canaries_whole(0, 20000));
  buffers.write_canaries(0, 100);
  EXPECT_TRUE(buffers.canaries_whole(0, 100));
  EXPECT_EQ(*far_before, was);
}

}  // namespace
}  // namespace accelopt::targets::cpu
