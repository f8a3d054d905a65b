// SPDX-License-Identifier: Apache-2.0
// What nvdisasm prints, as it is read: loops are found in code as it really is, and no text misleads or overruns.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/files.hpp"
#include "devices/cuda/disassembler.hpp"
#include "devices/cuda/sass.hpp"
#include "devices/cuda/sass_loops.hpp"
#include "sandbox/probe.hpp"

namespace accelopt::devices::cuda {
namespace {

/// A matrix product over tiles in shared memory, built by NVRTC 13.0 for sm_90a, as nvdisasm 13.5 prints it.
constexpr const char* kGemm = R"sass(	.target	sm_90a
//--------------------- .text.gemm                --------------------------
	.section	.text.gemm,"ax",@progbits
	.align	128
        .global         gemm
        .type           gemm,@function
        .size           gemm,(.L_x_10 - gemm)
        .other          gemm,@"STO_CUDA_ENTRY STV_DEFAULT"
gemm:
.text.gemm:
	//## File "/a/b/kernel.cu", line 1
        /*0000*/  LDC R1, c[0x0][0x28] ;
	//## File "/a/b/kernel.cu", line 4
        /*0010*/  S2R R3, SR_CTAID.Y ;
	//## File "/a/b/kernel.cu", line 6
        /*0020*/  ULDC UR4, c[0x0][0x228] ;
        /*0030*/  IMAD.MOV.U32 R7, RZ, RZ, RZ ;
        /*0040*/  MOV R6, UR4 ;
	//## File "/a/b/kernel.cu", line 3
        /*0050*/  S2R R8, SR_TID.Y ;
        /*0060*/  ULDC.64 UR4, c[0x0][0x208] ;
	//## File "/a/b/kernel.cu", line 6
        /*0070*/  ISETP.GE.AND P0, PT, R6, 0x10, PT ;
	//## File "/a/b/kernel.cu", line 4
        /*0080*/  S2R R9, SR_CTAID.X ;
	//## File "/a/b/kernel.cu", line 3
        /*0090*/  S2R R14, SR_TID.X ;
	//## File "/a/b/kernel.cu", line 4
        /*00a0*/  LEA R0, R3, R8, 0x4 ;
        /*00b0*/  IMAD R9, R9, 0x10, R14 ;
	//## File "/a/b/kernel.cu", line 6
        /*00c0*/  @!P0 BRA `(.L_x_2) ;
        /*00d0*/  S2R R4, SR_CgaCtaId ;
        /*00e0*/  MOV R2, 0x400 ;
	//## File "/a/b/kernel.cu", line 3
        /*00f0*/  HFMA2.MMA R11, -RZ, RZ, 0, 0 ;
	//## File "/a/b/kernel.cu", line 6
        /*0100*/  SHF.R.S32.HI R7, RZ, 0x1f, R6 ;
        /*0110*/  IMAD R10, R0, R6.reuse, R14 ;
        /*0120*/  IADD3 R3, R2, 0x400, RZ ;
        /*0130*/  LEA.HI R12, R7, R6, RZ, 0x4 ;
	//## File "/a/b/kernel.cu", line 3
        /*0140*/  IMAD.MOV.U32 R7, RZ, RZ, RZ ;
	//## File "/a/b/kernel.cu", line 6
        /*0150*/  SHF.R.S32.HI R12, RZ, 0x4, R12 ;
        /*0160*/  LEA R5, R4.reuse, R3, 0x18 ;
        /*0170*/  LEA R3, R4, R2, 0x18 ;
        /*0180*/  IMAD R13, R8.reuse, 0x40, R5 ;
        /*0190*/  IMAD R3, R8, 0x40, R3 ;
	//## File "/a/b/kernel.cu", line 11
        /*01a0*/  IMAD R16, R14.reuse, 0x4, R5 ;
        /*01b0*/  IMAD R13, R14.reuse, 0x4, R13 ;
        /*01c0*/  LEA R14, R14, R3, 0x2 ;
        /*01d0*/  VIADD R15, R3, 0x8 ;
        /*01e0*/  IADD3 R16, R16, 0x80, RZ ;
.L_x_4:
	//## File "/a/b/kernel.cu", line 8
        /*01f0*/  LDC R6, c[0x0][0x228] ;
        /*0200*/  IMAD R18, R11.reuse, 0x10, R8 ;
	//## File "/a/b/kernel.cu", line 7
        /*0210*/  LEA R17, R11, R10, 0x4 ;
        /*0220*/  LDC.64 R4, c[0x0][0x210] ;
	//## File "/a/b/kernel.cu", line 8
        /*0230*/  LDC.64 R2, c[0x0][0x218] ;
        /*0240*/  IMAD R19, R18, R6, R9 ;
	//## File "/a/b/kernel.cu", line 7
        /*0250*/  IMAD.WIDE R4, R17, 0x4, R4 ;
        /*0260*/  LDG.E.CONSTANT R5, desc[UR4][R4.64] ;
	//## File "/a/b/kernel.cu", line 8
        /*0270*/  IMAD.WIDE R2, R19, 0x4, R2 ;
        /*0280*/  LDG.E.CONSTANT R2, desc[UR4][R2.64] ;
	//## File "/a/b/kernel.cu", line 6
        /*0290*/  IADD3 R11, R11, 0x1, RZ ;
	//## File "/a/b/kernel.cu", line 9
        /*02a0*/  IMAD.MOV.U32 R23, RZ, RZ, R16 ;
        /*02b0*/  MOV R22, R15 ;
	//## File "/a/b/kernel.cu", line 6
        /*02c0*/  ISETP.GE.AND P1, PT, R11, R12, PT ;
	//## File "/a/b/kernel.cu", line 9
        /*02d0*/  MOV R17, RZ ;
	//## File "/a/b/kernel.cu", line 7
        /*02e0*/  STS [R14], R5 ;
	//## File "/a/b/kernel.cu", line 8
        /*02f0*/  STS [R13], R2 ;
	//## File "/a/b/kernel.cu", line 9
        /*0300*/  BAR.SYNC.DEFER_BLOCKING 0x0 ;
.L_x_3:
	//## File "/a/b/kernel.cu", line 12
        /*0310*/  LDS R18, [R23+-0x80] ;
	//## File "/a/b/kernel.cu", line 11
        /*0320*/  VIADD R17, R17, 0x4 ;
	//## File "/a/b/kernel.cu", line 12
        /*0330*/  LDS.64 R2, [R22+-0x8] ;
	//## File "/a/b/kernel.cu", line 11
        /*0340*/  ISETP.NE.AND P0, PT, R17, 0x10, PT ;
	//## File "/a/b/kernel.cu", line 12
        /*0350*/  LDS R19, [R23+-0x40] ;
        /*0360*/  LDS R20, [R23] ;
        /*0370*/  LDS.64 R4, [R22] ;
        /*0380*/  LDS R21, [R23+0x40] ;
	//## File "/a/b/kernel.cu", line 11
        /*0390*/  IADD3 R22, R22, 0x10, RZ ;
        /*03a0*/  IADD3 R23, R23, 0x100, RZ ;
	//## File "/a/b/kernel.cu", line 12
        /*03b0*/  FFMA R2, R18, R2, R7 ;
        /*03c0*/  FFMA R3, R19, R3, R2 ;
        /*03d0*/  FFMA R4, R20, R4, R3 ;
        /*03e0*/  FFMA R7, R21, R5, R4 ;
	//## File "/a/b/kernel.cu", line 11
        /*03f0*/  @P0 BRA `(.L_x_3) ;
	//## File "/a/b/kernel.cu", line 14
        /*0400*/  BAR.SYNC.DEFER_BLOCKING 0x0 ;
	//## File "/a/b/kernel.cu", line 6
        /*0410*/  @!P1 BRA `(.L_x_4) ;
.L_x_2:
	//## File "/a/b/kernel.cu", line 16
        /*0420*/  LDC.64 R2, c[0x0][0x220] ;
        /*0430*/  IMAD R9, R0, R6, R9 ;
        /*0440*/  IMAD.WIDE R2, R9, 0x4, R2 ;
        /*0450*/  STG.E desc[UR4][R2.64], R7 ;
.L_x_8:
	//## File "/a/b/kernel.cu", line 17
        /*0460*/  EXIT ;
.L_x_5:
        /*0470*/  BRA `(.L_x_5);
.L_x_10:


)sass";

/// A section with these lines; every instruction gets its address.
std::string section(const std::string& kernel, const std::vector<std::string>& lines) {
  std::string out = "\t.section\t.text." + kernel + ",\"ax\",@progbits\n";
  int address = 0;
  for (const std::string& line : lines) {
    const bool is_code = !line.ends_with(':') && !line.starts_with("//");
    out += is_code ? "        /*" + std::to_string(address) + "*/   " + line + " ;\n" : line + "\n";
    address += is_code ? 16 : 0;
  }
  return out;
}

std::vector<std::string> told(const std::string& text, const std::vector<std::string>& kernels = {"f"}) {
  std::vector<std::string> out;
  for (const model::ProfileItem& item : describe_sass_loops(text, kernels))
    out.push_back(item.name + " " + std::to_string(static_cast<int>(item.value)) + ": " + item.meaning);
  return out;
}

using Lines = std::vector<std::string>;

TEST(SassLoops, OfARealKernelAreRankedByNesting) {
  const auto items = describe_sass_loops(kGemm, {"gemm"});
  ASSERT_EQ(items.size(), 2);
  EXPECT_EQ(items[0].name, "gemm: hot loop 1");
  EXPECT_EQ(items[0].value, 15);
  EXPECT_EQ(
      items[0].meaning,
      "lines 11 to 12; inside 1 more; a turn: 4 FFMA, 4 LDS, 2 LDS.64, 5 others; found by nesting, not by samples");
  EXPECT_EQ(items[1].name, "gemm: hot loop 2");
  EXPECT_EQ(items[1].value, 20);
  EXPECT_EQ(items[1].meaning,
            "lines 6 to 9, 14; a turn: 4 IMAD, 2 LDG, 2 STS, 2 BAR, 10 others; found by nesting, not by samples");
}

TEST(SassLoops, OfKernelsThatAreNotLaunchedAreNotTold) {
  EXPECT_TRUE(describe_sass_loops(kGemm, {"gem", "emm", ""}).empty());
}

TEST(SassLoops, ACodeThatJumpsBackFromAsideIsNone) {
  // As compilers lay out what is rarely needed: behind the end, with a jump back.
  EXPECT_EQ(told(section("f", {"MOV R1, R2", "@P0 BRA `(.rare)", ".back:", "FADD R1, R1, R2", "EXIT",
                               ".rare:", "FMUL R1, R1, R1", "BRA `(.back)"})),
            Lines());
}

TEST(SassLoops, WithSeveralEntriesOrUnknownJumpsAreNotTold) {
  EXPECT_EQ(told(section(
                "f", {"@P0 BRA `(.b)", ".a:", "FADD R1, R1, R2", ".b:", "FMUL R1, R1, R1", "@P1 BRA `(.a)", "EXIT"})),
            Lines());
  const Lines loop{".a:", "FADD R1, R1, R2", "@P1 BRA `(.a)"};
  for (const char* unknown : {"BRX R2 -0x90", "@P0 BRA `(.c)", "@P0 BRA 0x40"}) {
    Lines code = loop;
    code.insert(code.end(), {unknown, "EXIT"});
    EXPECT_EQ(told(section("f", code)), Lines()) << unknown;
  }
  EXPECT_EQ(told(section("f", loop)).size(), 1);
}

TEST(SassLoops, JumpsThroughATableAndCallsAreFollowed) {
  const Lines out =
      told(section("f", {".a:", "BRX R2 -0x90 (*\"BRANCH_TARGETS .x,.y\"*)", ".x:", "CALL.REL.NOINC `($slow)",
                         "BRA `(.z)", ".y:", "FMUL R1, R1, R1", ".z:", "@P0 BRA `(.a)", "EXIT",
                         "$slow:", ".s:", "MUFU.RCP R1, R1", "@P0 BRA `(.s)", "RET.REL.NODEC R4 `(f)"}));
  ASSERT_EQ(out.size(), 2);
  EXPECT_TRUE(out[0].starts_with("f: hot loop 1 5: a turn: 1 FMUL, 1 CALL, 3 others;")) << out[0];
  EXPECT_TRUE(out[1].starts_with("f: hot loop 2 2: a turn: 1 MUFU, 1 other;")) << out[1];
}

TEST(SassLoops, ThatOnlyWaitAreNotTold) {
  EXPECT_EQ(told(section("f", {".a:", "HGMMA.64x64x16.F32.BF16 R24, gdesc[UR8], R24, gsb0",
                               ".w:", "SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [UR4], R3", "@!P1 BRA `(.w)",
                               "LDG.E.128 R4, desc[UR4][R2.64]", "HFMA2.MMA R9, -RZ, RZ, 0, 0",
                               "IMAD.MOV.U32 R1, RZ, RZ, R2", "@P0 BRA `(.a)", "EXIT"})),
            Lines{"f: hot loop 1 5: a turn: 1 HGMMA, 1 LDG.128, 3 others; found by nesting, not by samples"});
}

TEST(SassLoops, AtMostThreeAndNoneOfLittleWeightAreTold) {
  Lines code;
  for (const char* label : {".a", ".b", ".c", ".d"})
    code.insert(code.end(), {std::string(label) + ":", "FADD R1, R1, R2", std::string("@P0 BRA `(") + label + ")"});
  EXPECT_EQ(told(section("f", code)).size(), 3);
  code = {".a:", ".b:", "FADD R1, R1, R2", "@P0 BRA `(.b)", "@P0 BRA `(.a)", ".c:", "FMUL R1, R1, R2", "@P0 BRA `(.c)"};
  EXPECT_EQ(told(section("f", code)).size(), 1 + 1);  // a's own one jump is a twentieth
}

TEST(SassLoops, LinesAreThoseOfTheMainFileAlone) {
  const auto lines_with = [](const std::string& comment) {
    return told(section("f", {".a:", comment, "FADD R1, R1, R2", "@P0 BRA `(.a)"})).at(0);
  };
  EXPECT_TRUE(lines_with("//## File \"/x/kernel.cu\", line 7").starts_with("f: hot loop 1 2: line 7; "));
  for (const char* other : {"//## File \"/x/other.cuh\", line 7", "//## File \"/x/kernel.cu\", line -7",
                            "//## File \"/x/kernel.cu\", line 99999999999", "//## File \"/x/mykernel.cu\", line 7",
                            R"(//## File "/x/kernel.cu", line 3\n", line 9)", "//## File "}) {
    EXPECT_TRUE(lines_with(other).starts_with("f: hot loop 1 2: a turn")) << other << lines_with(other);
  }
}

TEST(Sass, EveryCutOfTheTextIsRead) {
  const std::string text = kGemm;
  for (std::size_t size = 0; size < text.size(); size += 7) {
    EXPECT_LE(describe_sass_loops(text.substr(0, size), {"gemm"}).size(), 2);
    EXPECT_LE(describe_sass_loops(text.substr(size), {"gemm"}).size(), 2);
  }
}

TEST(Sass, OddLinesAreRefused) {
  for (const char* odd : {"/*0010*/ ;", "/*0010*/ ../../x R1;", "/*0010*/ @P0", ".a:", "/*"}) {
    const std::string text = section("f", {".a:", "FADD R1, R1, R2", "@P1 BRA `(.a)"}) + odd + "\n";
    EXPECT_TRUE(describe_sass_loops(text, {"f"}).empty()) << odd;
  }
}

TEST(Sass, CodeBeyondTheBoundsIsNotRead) {
  const std::string loop = section("f", {".a:", "FADD R1, R1, R2", "@P1 BRA `(.a)"});
  std::string longer = loop;
  for (int i = 0; i < 70000; ++i) longer += "/*0000*/ NOP;\n";
  EXPECT_TRUE(read_sass(longer, "f", "kernel.cu").code.empty());
  std::string jumping = loop;
  for (int i = 0; i < 5000; ++i) jumping += "/*0000*/ @P0 BRA `(.a) ;\n";
  EXPECT_TRUE(loops_of(read_sass(jumping, "f", "kernel.cu")).empty());
  std::string table = loop + "/*0000*/ BRX R2 (*\"BRANCH_TARGETS ";
  for (int i = 0; i < 20000; ++i) table += ".a,";
  EXPECT_TRUE(loops_of(read_sass(table + ".a\"*) ;\n", "f", "kernel.cu")).empty());
}

class Disassembler : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = base::TemporaryFolder::create("accelopt-disassembler-test");
    ASSERT_TRUE(folder);
    folder_.emplace(std::move(*folder));
  }

  /// An nvdisasm that carries this out.
  std::string fake(const std::string& script) {
    const auto program = folder_->path() / "nvdisasm";
    EXPECT_TRUE(base::write_file(program, "#!/bin/sh\n[ \"$1\" = --version ] && exit 0\n" + script));
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    return program.string();
  }

  std::optional<base::TemporaryFolder> folder_;
};

TEST_F(Disassembler, IsGivenTheCubinAndTheLinesOption) {
  const auto text = disassemble(fake("echo \"$1 $2\"; cat \"$3\"\n"), "code", {});
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(*text, "-c -g\ncode");
}

TEST_F(Disassembler, WithoutAnEndOrABoundIsUnsupported) {
  for (const char* script : {"while :; do :; done\n", "while :; do echo endless; done\n"}) {
    const auto text = disassemble(fake(script), "code", {}, std::chrono::seconds(2));
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().code, base::ErrorCode::unsupported) << script;
  }
}

TEST_F(Disassembler, ReadsNoOtherFiles) {
  if (sandbox::capabilities().landlock == 0) GTEST_SKIP() << "this kernel has no Landlock";
  const auto secret = base::TemporaryFolder::create("accelopt-disassembler-test");
  ASSERT_TRUE(secret);
  ASSERT_TRUE(base::write_file(secret->path() / "secret", "secret"));
  const auto text = disassemble(fake("cat " + (secret->path() / "secret").string() + "; exit 0\n"), "code", {});
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(text->find("secret\n"), std::string::npos) << *text;
  EXPECT_NE(text->find("ermission denied"), std::string::npos) << *text;
}

}  // namespace
}  // namespace accelopt::devices::cuda
