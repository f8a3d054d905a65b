// SPDX-License-Identifier: Apache-2.0
// The target's parts that need no measuring: header, diagnostics, objects, buffers, cores, lock.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <cstring>
#include <thread>

#include "base/files.hpp"
#include "evaluation/verify/dtype_codec.hpp"
#include "model/tuning.hpp"
#include "small_task.hpp"
#include "syntax/source_check.hpp"
#include "targets/cpu/buffers.hpp"
#include "targets/cpu/build.hpp"
#include "targets/cpu/compiler.hpp"
#include "targets/cpu/counters.hpp"
#include "targets/cpu/diagnostics.hpp"
#include "targets/cpu/elf_object.hpp"
#include "targets/cpu/fault.hpp"
#include "targets/cpu/machine.hpp"

#include "targets/cpu/stream.hpp"
#include "targets/cpu/task_header.hpp"

namespace accelopt::targets::cpu {
namespace {

using base::ErrorCode;
TEST(TaskHeader, DeclaresConstantsAndPrototype) {
  const std::string header = kernel_header(small_task().definition);
  EXPECT_NE(header.find("enum { K = 256 };"), std::string::npos) << header;
  EXPECT_NE(header.find("void kernel(const float* x, const float* g, float s, float* y, int64_t M);"),
            std::string::npos)
      << header;
  const std::string reference = reference_header(small_task().definition);
  EXPECT_NE(reference.find("void reference(const real* x, const real* g, real s, real* y, int64_t M);"),
            std::string::npos)
      << reference;
  EXPECT_EQ(reference_prototype(small_task().definition, model::Language::cpp),
            "extern \"C\" void reference(const real* x, const real* g, real s, real* y, int64_t M)");
  const std::string glue = kernel_glue(small_task().definition);
  EXPECT_NE(
      glue.find(
          "kernel(static_cast<const float*>(a[0]), static_cast<const float*>(a[1]), *static_cast<const float*>(a[2]), "
          "static_cast<float*>(a[3]), *static_cast<const int64_t*>(a[4]))"),
      std::string::npos)
      << glue;
}

/// A program that prints what the header's conversions give, one line a type: every bit pattern to float, and floats
/// back.
std::string conversions(const std::string& program, const model::Definition& definition) {
  const auto folder = *base::TemporaryFolder::create("accelopt-header-test");
  EXPECT_TRUE(base::write_file(folder.path() / "task.h", kernel_header(definition)));
  EXPECT_TRUE(base::write_file(folder.path() / "main.cpp", program));
  const auto compiler = find_compiler("", kPath);
  EXPECT_TRUE(compiler) << compiler.error().message;
  const auto built =
      compile(*compiler, {folder.path(), {"-O2", "-Wall", "-Wextra", "-Werror", "main.cpp", "-o", "main"}, true, {}},
              nullptr, {});
  EXPECT_TRUE(built && built->state.exited && built->state.code == 0)
      << (built ? built->output : built.error().message);
  sandbox::SpawnOptions options;
  options.program = (folder.path() / "main").string();
  const auto ran = sandbox::run(options, {std::chrono::milliseconds{30000}, 64U << 20}, nullptr, {});
  return ran ? ran->output : "";
}

TEST(TaskHeader, SmallFloatsConvertAsTheEvaluatorDoes) {
  model::Definition definition = small_task().definition;
  definition.inputs[0].dtype = model::DType::float16;
  definition.inputs[1].dtype = model::DType::bfloat16;
  definition.inputs[2].dtype = model::DType::float8_e4m3fn;
  definition.outputs[0].dtype = model::DType::float8_e5m2;
  const std::string output = conversions(R"(#include "task.h"
#include <cstdio>
#include <cstring>
static unsigned bits(float v) { unsigned b; memcpy(&b, &v, 4); return b; }
int main() {
  for (unsigned i = 0; i < 65536; ++i) printf("%x %x\n", bits(f16_to_float(f16_t{(uint16_t)i})), bits(bf16_to_float(bf16_t{(uint16_t)i})));
  for (unsigned i = 0; i < 256; ++i) printf("%x %x\n", bits(fp8_e4m3_to_float(fp8_e4m3_t{(uint8_t)i})), bits(fp8_e5m2_to_float(fp8_e5m2_t{(uint8_t)i})));
  for (unsigned long i = 0; i < (1ul << 32); i += 40503) { const unsigned b = (unsigned)i; float v; memcpy(&v, &b, 4);
    printf("%x %x %x %x\n", f16_from_float(v).bits, bf16_from_float(v).bits, fp8_e4m3_from_float(v).bits, fp8_e5m2_from_float(v).bits); }
})",
                                         definition);
  ASSERT_FALSE(output.empty());
  const char* at = output.c_str();
  const auto next = [&at] {
    char* end = nullptr;
    const auto value = static_cast<std::uint32_t>(std::strtoul(at, &end, 16));
    at = end;
    return value;
  };
  const auto same = [](std::uint32_t got, float wanted) {
    float value = 0;
    std::memcpy(&value, &got, sizeof value);
    return std::isnan(wanted) ? std::isnan(value) : value == wanted && std::signbit(value) == std::signbit(wanted);
  };
  int wrong = 0;
  for (std::uint32_t i = 0; i < 65536; ++i) {
    wrong += same(next(), evaluation::float16_to_float(static_cast<std::uint16_t>(i))) ? 0 : 1;
    wrong += same(next(), evaluation::bfloat16_to_float(static_cast<std::uint16_t>(i))) ? 0 : 1;
  }
  for (std::uint32_t i = 0; i < 256; ++i) {
    wrong += same(next(), evaluation::float8_e4m3fn_to_float(static_cast<std::uint8_t>(i))) ? 0 : 1;
    wrong += same(next(), evaluation::float8_e5m2_to_float(static_cast<std::uint8_t>(i))) ? 0 : 1;
  }
  EXPECT_EQ(wrong, 0) << "to float";
  for (std::uint64_t i = 0; i < (1ULL << 32); i += 40503) {
    const auto bits = static_cast<std::uint32_t>(i);
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    const std::uint32_t got[4] = {next(), next(), next(), next()};
    if (std::isnan(value)) continue;
    const double wide = static_cast<double>(value);
    wrong += got[0] == evaluation::float_to_float16(wide) ? 0 : 1;
    wrong += got[1] == evaluation::float_to_bfloat16(wide) ? 0 : 1;
    const bool nan_e4m3 = (got[2] & 0x7fU) == 0x7fU && (evaluation::float_to_float8_e4m3fn(wide) & 0x7fU) == 0x7fU;
    wrong += nan_e4m3 || got[2] == evaluation::float_to_float8_e4m3fn(wide) ? 0 : 1;
    wrong += got[3] == evaluation::float_to_float8_e5m2(wide) ? 0 : 1;
    ASSERT_EQ(wrong, 0) << "from float " << value << ": " << std::hex << got[0] << ' ' << got[1] << ' ' << got[2] << ' '
                        << got[3];
  }
}

TEST(Diagnostics, KeepOnlyTheCandidatesOwnLines) {
  const std::string output =
      "In file included from kernel.cpp:1:\n"
      "/usr/include/secret.h:3:1: note: declared here\n"
      "    3 | the text of another file\n"
      "kernel.cpp: In function 'void kernel()':\n"
      "kernel.cpp:4:3: error: 'a' was not declared (see /home/somebody/file.h)\n"
      "    4 |   a = 1;\n"
      "      |   ^\n";
  const std::string kept = own_diagnostics(output, {"kernel.cpp"});
  EXPECT_EQ(kept, "kernel.cpp:4:3: error: 'a' was not declared (see file.h)\n    4 |   a = 1;\n      |   ^\n");
  EXPECT_EQ(
      own_diagnostics("/usr/bin/ld: /tmp/x.o: in function `kernel':\nx.cpp:(.text+0x1): undefined reference to `f()'\n",
                      {"kernel.cpp"}),
      "link error: undefined reference to `f()'\n");
  EXPECT_LT(own_diagnostics(std::string(20000, 'x') + "\n" + std::string(300, '\n'), {"kernel.cpp"}).size(), 7000U);
}

TEST(Diagnostics, RemarksAreSortedAndCountedOnce) {
  const std::string output =
      "kernel.cpp:9:3: missed: couldn't vectorize loop\n"
      "kernel.cpp:9:3: missed: couldn't vectorize loop\n"
      "kernel.cpp:4:3: optimized: loop vectorized using 32 byte vectors\n"
      "/usr/include/x.h:4:3: optimized: loop vectorized using 32 byte vectors\n"
      "kernel.cpp:4:3: missed: statement clobbers memory: f();\n";
  const std::vector<std::string> remarks = own_remarks(output, {"kernel.cpp"}, 10);
  EXPECT_EQ(remarks, (std::vector<std::string>{"line 4: loop vectorized using 32 byte vectors",
                                               "line 9: couldn't vectorize loop"}));
  EXPECT_EQ(own_remarks(output, {"kernel.cpp"}, 1).size(), 1U);
}

TEST(Diagnostics, RefusedTextNamesItsPlace) {
  EXPECT_EQ(syntax::refused_text("#include <math.h>\n#include \"task.h\"\n"), "");
  EXPECT_TRUE(syntax::refused_text("int a;\n  # include </etc/passwd>\n").starts_with("2:3: error:"));
  EXPECT_TRUE(syntax::refused_text("#include \"../../x\"\n").starts_with("1:1: error:"));
  EXPECT_FALSE(syntax::refused_text("asm(\".incbin \\\"x\\\"\");").empty());
  EXPECT_FALSE(syntax::refused_text("#include MACRO\n").empty());
}

TEST(ElfObject, DamagedFilesAreRefused) {
  for (const std::string& bytes : {std::string(), std::string("not an object"),
                                   std::string("\x7f"
                                               "ELF\x02\x01\x01",
                                               7)}) {
    const auto facts = read_object(bytes);
    ASSERT_FALSE(facts);
    EXPECT_EQ(facts.error().code, ErrorCode::parse);
  }
}

TEST(BuffersTest, TensorsEndAtTheirRegionAndCanariesNoticeWrites) {
  auto created = Buffers::create({{1000, false}, {250, true}}, 7);
  ASSERT_TRUE(created) << created.error().message;
  Buffers buffers = std::move(*created);
  const auto output = buffers.here(1, 250);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(output.data()) % 64, 0U);
  const auto region = buffers.regions().at(1);
  EXPECT_LT(region.address + region.bytes - (buffers.there(1, 250) + 250), 64U);
  EXPECT_EQ(buffers.regions().at(0).writable, 0U);
  buffers.write_canaries(1, 250);
  std::memset(output.data(), 0xff, output.size());
  EXPECT_TRUE(buffers.canaries_whole(1, 250));
  output.data()[250] = ~output.data()[250];
  EXPECT_FALSE(buffers.canaries_whole(1, 250));
  buffers.write_canaries(1, 250);
  output.data()[-1] = ~output.data()[-1];
  EXPECT_FALSE(buffers.canaries_whole(1, 250));
  const std::vector<BufferPlan> too_many(65, BufferPlan{8, true});
  const auto refused = Buffers::create(too_many, 7);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
}

TEST(BuffersTest, ElementAlignment_LeavesNoTensorAtAVector) {
  constexpr auto kElement = evaluation::Alignment::element;
  auto created = Buffers::create({{4096, true, 4}, {4096, true, 4}, {4096, true, 8}, {4096, true, 1}}, 7);
  ASSERT_TRUE(created) << created.error().message;
  Buffers& buffers = *created;
  for (const std::size_t bytes : {8U, 64U, 1000U, 4096U}) {
    for (std::size_t tensor = 0; tensor < 4; ++tensor) {
      const auto region = buffers.regions().at(tensor);
      const std::uint64_t address = buffers.there(tensor, bytes, kElement);
      EXPECT_NE(address % 16, 0U) << tensor << " of " << bytes;
      EXPECT_EQ(address % (tensor == 2 ? 8 : tensor == 3 ? 1 : 4), 0U) << tensor << " of " << bytes;
      EXPECT_LT(region.address + region.bytes - (address + bytes), 64U) << "it ends at a guard page";
      buffers.write_canaries(tensor, bytes);
      const auto values = buffers.here(tensor, bytes, kElement);
      std::memset(values.data(), 0xff, bytes);
      buffers.write_canaries(tensor, bytes, kElement);  // does not reach into the tensor
      EXPECT_TRUE(std::ranges::all_of(values, [](std::byte value) { return value == std::byte{0xff}; }));
      EXPECT_TRUE(buffers.canaries_whole(tensor, bytes, kElement));
      values.data()[-1] = ~values.data()[-1];
      EXPECT_FALSE(buffers.canaries_whole(tensor, bytes, kElement));
      buffers.distrust();
    }
    EXPECT_NE(buffers.there(0, bytes, kElement) % 16, buffers.there(1, bytes, kElement) % 16)
        << "a boundary of one tensor is none of its neighbour";
  }
}

TEST(FaultText, OfAnAddress_NamesTheNearestTensor) {
  const std::vector<PlacedTensor> tensors{{"x", 0x100000, 100, false}, {"y", 0x200000, 400, true}};
  const auto meaning = [&](int code, std::uint64_t address) {
    return meaning_of({.signal = SIGSEGV, .code = code, .address = address}, tensors);
  };
  const std::string crashed = "crashed (SIGSEGV): it ";
  EXPECT_EQ(meaning(SEGV_ACCERR, 0x100000 + 8), crashed + "wrote to the input x, at its byte 8 of 100");
  const std::string outside = crashed + "used memory outside its tensors, ";
  EXPECT_EQ(meaning(SEGV_MAPERR, 0x100000 + 100), outside + "1 byte behind the last byte of x");
  EXPECT_EQ(meaning(SEGV_ACCERR, 0x200000 - 4096), outside + "4096 bytes before the first byte of y");
  EXPECT_EQ(meaning(SEGV_MAPERR, 8), crashed + "used a null pointer");
  const std::string unknown =
      crashed + "used memory outside its tensors, wrote to an input, or ran out of stack (8 MiB)";
  EXPECT_EQ(meaning(SEGV_MAPERR, 0x7ffe00000000), unknown) << "near none";
  EXPECT_EQ(meaning(SEGV_MAPERR, ~0ULL), unknown);
  EXPECT_EQ(meaning(SEGV_ACCERR, 0x200000), unknown) << "it may be used";
  EXPECT_EQ(meaning(-12345, 0x100000), unknown) << "the process may say anything";
}

TEST(Cores, WorkerAndArenaNeverShareAndThreadsFit) {
  Machine machine;
  machine.cores = {0, 1, 2, 3};
  const auto plan = plan_cores(machine, "cpu:2", 2);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->arenas.front(), 2);
  EXPECT_EQ(plan->arenas.size(), 2U);
  EXPECT_EQ(std::count(plan->arenas.begin(), plan->arenas.end(), plan->worker), 0);
  EXPECT_EQ(plan->others.size(), 1U);
  machine.cores = {0, 1};
  EXPECT_TRUE(plan_cores(machine, "cpu", 1)->others.empty()) << "no cores to spare: builds pause";
  EXPECT_EQ(plan_cores(machine, "cpu:9", 1).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(plan_cores(machine, "cpu:x", 1).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(plan_cores(machine, "cpu", 2).error().code, ErrorCode::unsupported);
  machine.cores = {5};
  EXPECT_TRUE(plan_cores(machine, "cpu", 1)->one_core);
}

TEST(Compilers, AMissingOneNamesWhatToInstall) {
  const auto none = find_compiler("", "/nowhere");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::unsupported);
  EXPECT_NE(none.error().message.find("apt-get install"), std::string::npos);
  EXPECT_FALSE(find_compiler("/nowhere/g++", kPath));
}

TEST(Builder, ClangBuildsToo) {
  const auto compiler = find_compiler("clang++", kPath);
  if (!compiler) GTEST_SKIP() << "clang++ is not installed";
  const auto builder = KernelBuilder::create(small_task(), {*compiler, {}, nullptr}, {});
  ASSERT_TRUE(builder) << builder.error().message;
  const auto built = (*builder)->build(model::Kernel(solution_of(kSmallFast)), {});
  ASSERT_TRUE(built);
  EXPECT_TRUE((*built)->report.built) << (*built)->report.diagnostics;
  const auto broken = (*builder)->build(model::Kernel(solution_of("#include \"task.h\"\nint x = y;\n")), {});
  ASSERT_TRUE(broken);
  EXPECT_NE((*broken)->report.diagnostics.find("kernel.cpp:2:"), std::string::npos) << (*broken)->report.diagnostics;
}

TEST(Builder, CBuildsToo) {
  const auto compiler = find_compiler("g++", kPath);
  if (!compiler) GTEST_SKIP() << "g++ is not installed";
  const auto builder = KernelBuilder::create(small_task(), {*compiler, {}, nullptr}, {});
  ASSERT_TRUE(builder) << builder.error().message;
  const std::string body = " { for (int64_t i = 0; i < M; ++i) y[i] = s + x[i] * g[0]; }\n";
  const auto built =
      (*builder)->build(model::Kernel(solution_of("#include \"task.h\"\nvoid kernel(const float* restrict x, const "
                                                  "float* g, float s, float* restrict y, int64_t M)" +
                                                      body,
                                                  model::Language::c)),
                        {});
  ASSERT_TRUE(built);
  EXPECT_TRUE((*built)->report.built) << (*built)->report.diagnostics;
}

TEST(Builder, AShiftedCopyIsTheSameCodeElsewhere) {
  const auto compiler = find_compiler("", kPath);
  ASSERT_TRUE(compiler);
  const auto builder = KernelBuilder::create(small_task(), {*compiler, {}, nullptr}, {});
  ASSERT_TRUE(builder) << builder.error().message;
  const model::Solution solution = small_task().baseline;
  const auto usual = (*builder)->build(model::Kernel(solution), {});
  const auto shifted = (*builder)->build(model::Kernel(solution), {}, evaluation::Placement::shifted);
  ASSERT_TRUE(usual && shifted);
  ASSERT_TRUE((*shifted)->report.built) << (*shifted)->report.diagnostics;
  EXPECT_NE((*usual)->report.machine_code_id, (*shifted)->report.machine_code_id);
  EXPECT_NE((*shifted)->shared_object.find(std::string(1216, '\x90')), std::string::npos);
  EXPECT_EQ((*usual)->report.code_bytes, (*shifted)->report.code_bytes);
}

TEST(Builder, NamesDoNotReachTheMachineCode) {
  const auto compiler = find_compiler("", kPath);
  ASSERT_TRUE(compiler);
  const auto builder = KernelBuilder::create(small_task(), {*compiler, {}, nullptr}, {});
  ASSERT_TRUE(builder);
  const auto with_name = [&](const std::string& name) {
    const auto built = (*builder)->build(
        model::Kernel(solution_of("#include \"task.h\"\n__attribute__((noinline)) float " + name +
                                  "(const float* r, const float* g) { float t = 0; for (int64_t k = 0; k < K; ++k) "
                                  "t += r[k] * g[k]; return t; }\n"
                                  "extern \"C\" void kernel(const float* x, const float* g, float s, float* y, "
                                  "int64_t M) { for (int64_t i = 0; i < M; ++i) y[i] = " +
                                  name + "(x + i * K, g) + s; }\n")),
        {});
    EXPECT_TRUE(built && (*built)->report.built) << (built ? (*built)->report.diagnostics : "");
    return built ? (*built)->report.machine_code_id : "";
  };
  EXPECT_EQ(with_name("dot"), with_name("another_name_for_it"));
}

/// A kernel that sums `WIDTH` elements at a time, under what stands above it.
std::string tuned_kernel(const std::string& directives) {
  return directives + R"(#include "task.h"
extern "C" void kernel(const float* x, const float* g, float s, float* y, int64_t M) {
  for (int64_t i = 0; i < M; ++i) {
    float sums[WIDTH] = {};
    for (int64_t k = 0; k < K; k += WIDTH)
      for (int64_t l = 0; l < WIDTH; ++l) sums[l] += x[i * K + k + l] * x[i * K + k + l] * g[k + l];
    float sum = 0.0f;
    for (int64_t l = 0; l < WIDTH; ++l) sum += sums[l];
    y[i] = sum + s;
  }
}
)";
}

TEST(Builder, FiniteMath_OfABaselineThatAsksForNan_IsRefused) {
  const auto compiler = find_compiler("", kPath);
  ASSERT_TRUE(compiler);
  const std::string kernel =
      "#include <math.h>\n#include \"task.h\"\n"
      "extern \"C\" void kernel(const float* x, const float* g, float s, float* y, int64_t M) {\n"
      "  for (int64_t i = 0; i < M; ++i) y[i] = isnan(x[i]) ? s : g[0];\n}\n";
  model::Task task = small_task();
  task.baseline = solution_of(kernel);
  const auto builder = KernelBuilder::create(task, {*compiler, {}, nullptr}, {});
  ASSERT_TRUE(builder);
  const auto diagnostics = [&](const std::string& line) {
    const auto built = (*builder)->build(model::Kernel(solution_of(line + kernel)), {});
    return built ? (*built)->report.diagnostics : built.error().message;
  };
  EXPECT_NE(diagnostics("//@ flags -ffast-math\n").find("the baseline asks for them (isnan)"), std::string::npos);
  EXPECT_NE(diagnostics("#pragma GCC optimize(\"fast-math\")\n").find("(isnan)"), std::string::npos);
  EXPECT_EQ(diagnostics("//@ flags -ffast-math -fno-finite-math-only\n"), "");
}

TEST(Builder, TunedNamesAreMacros) {
  const auto compiler = find_compiler("", kPath);
  ASSERT_TRUE(compiler);
  const auto builder = KernelBuilder::create(small_task(), {*compiler, {}, nullptr}, {});
  ASSERT_TRUE(builder);
  const model::Solution open =
      solution_of(tuned_kernel("//@ tune WIDTH in {4, 8, 1000}\n//@ require K % WIDTH == 0\n"));
  const model::Solution four = model::with_values(open, {4});
  const model::Solution eight = model::with_values(open, {8});
  const auto with_four = (*builder)->build(model::Kernel(four), {});
  const auto with_eight = (*builder)->build(model::Kernel(eight), {});
  const auto defined = (*builder)->build(model::Kernel(model::standing_alone(eight)), {});
  for (const auto& built : {with_four, with_eight, defined}) {
    ASSERT_TRUE(built);
    EXPECT_TRUE((*built)->report.built) << (*built)->report.diagnostics;
  }
  EXPECT_NE((*with_four)->report.build_id, (*with_eight)->report.build_id);
  EXPECT_NE((*with_four)->report.machine_code_id, (*with_eight)->report.machine_code_id);
  EXPECT_EQ((*with_eight)->report.machine_code_id, (*defined)->report.machine_code_id);

  const auto undecided = (*builder)->build(model::Kernel(open), {});
  ASSERT_TRUE(undecided);
  EXPECT_FALSE((*undecided)->report.built);
  EXPECT_NE((*undecided)->report.diagnostics.find("kernel.cpp:1:10: error: 2 configurations are left open"),
            std::string::npos)
      << (*undecided)->report.diagnostics;
  const auto rejected = (*builder)->build(model::Kernel(model::with_values(open, {1000})), {});
  ASSERT_TRUE(rejected);
  EXPECT_NE((*rejected)->report.diagnostics.find("kernel.cpp:2:13: error: no configuration is left"), std::string::npos)
      << (*rejected)->report.diagnostics;
}

TEST(Builder, AReferenceInC_IsBuiltAsC) {
  const auto compiler = find_compiler("", kPath);
  ASSERT_TRUE(compiler);
  model::Task task = small_task();
  task.reference = {
      "reference.c",
      "#include \"task.h\"\n#include <math.h>\n#include <stdlib.h>\n"
      "_Static_assert(sizeof(exp((real)1)) == sizeof(real), \"computes in real\");\n"
      "static real same(real I) { return I; }\n"
      "void reference(const real *restrict x, const real *restrict g, real s, real *restrict y, int64_t M) {\n"
      "  real *new = malloc(sizeof *new);\n  *new = same(s);\n"
      "  for (int64_t i = 0; i < M; ++i) y[i] = *new;\n  free(new);\n}\n"};
  for (const char* real : {"double", "float"}) {
    const auto builder = KernelBuilder::create(task, {*compiler, {}, nullptr}, {});
    ASSERT_TRUE(builder);
    const auto reference = (*builder)->build_reference(real, {});
    EXPECT_TRUE(reference.has_value()) << reference.error().message;
  }
  task.reference.text += "int broken = nothing;\n";
  const auto builder = KernelBuilder::create(task, {*compiler, {}, nullptr}, {});
  const auto broken = (*builder)->build_reference("double", {});
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().message.find("reference.c:12:"), std::string::npos) << broken.error().message;
}

TEST(Builder, AReferenceThatDoesNotBuildIsAnError) {
  const auto compiler = find_compiler("", kPath);
  ASSERT_TRUE(compiler);
  model::Task task = small_task();
  task.reference.text = "#include \"task.h\"\nint broken = nothing;\n";
  const auto builder = KernelBuilder::create(task, {*compiler, {}, nullptr}, {});
  ASSERT_TRUE(builder);
  const auto reference = (*builder)->build_reference("double", {});
  ASSERT_FALSE(reference);
  EXPECT_EQ(reference.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(reference.error().message.find("reference.cpp:2:"), std::string::npos) << reference.error().message;
}

TEST(Counters, CountWhatHappensBetweenStartAndStop) {
  Counters counters(0);
  if (counters.empty())
    GTEST_SKIP() << "no counters: kernel.perf_event_paranoid is over 2, a container forbids them, or there are none";
  constexpr std::size_t kPages = 64;
  void* map = mmap(nullptr, kPages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(map, MAP_FAILED);
  madvise(map, kPages * 4096, MADV_NOHUGEPAGE);
  counters.start();
  for (std::size_t page = 0; page < kPages; ++page) static_cast<volatile char*>(map)[page * 4096] = 1;
  counters.stop();
  munmap(map, kPages * 4096);
  double faults = -1;
  double rate = -1;
  bool cycles = false;
  for (const model::ProfileItem& item : counters.read()) {
    EXPECT_FALSE(item.meaning.empty()) << item.name;
    if (item.name == "page faults") faults = item.value;
    if (item.name == "instructions a cycle") rate = item.value;
    cycles = cycles || item.name == "cycles";
  }
  EXPECT_GE(faults, kPages);
  EXPECT_EQ(rate > 0, cycles);  // what follows from a counter is told where the counter is
}

TEST(Counters, NoneForAProcessThatIsNotThere) {
  EXPECT_TRUE(Counters(0x7ffffff0).empty());
}

TEST(Stream, WritesTheSameBytesWhicheverWay) {
  constexpr std::uint64_t kWord = 0x0123456789abcdefULL;
  for (const std::size_t size : {0U, 1U, 8U, 15U, 16U, 63U, 64U, 1000U}) {
    alignas(64) std::array<std::byte, 1024> usual{};
    alignas(64) std::array<std::byte, 1024> streamed{};
    fill(std::span(usual).first(size), kWord, Bypass::nothing);
    fill(std::span(streamed).first(size), kWord, Bypass::caches);
    EXPECT_EQ(usual, streamed) << size;
    std::uint64_t first = 0;
    std::memcpy(&first, streamed.data(), std::min(size, sizeof first));
    if (size >= sizeof first) {
      EXPECT_EQ(first, kWord);
    }
    EXPECT_EQ(streamed[size], std::byte{0}) << size;  // and not one more
    alignas(64) std::array<std::byte, 1024> copied{};
    copy(std::span<const std::byte>(usual).first(size), std::span(copied).first(size), Bypass::caches);
    EXPECT_EQ(copied, usual) << size;
  }
}

}  // namespace
}  // namespace accelopt::targets::cpu
