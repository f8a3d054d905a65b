// SPDX-License-Identifier: Apache-2.0
// The builder with a real NVRTC; without one every test is skipped and says why. No device is needed.
#include "targets/cuda/build.hpp"

#include <gtest/gtest.h>

#include <set>

#include "base/files.hpp"
#include "devices/cuda/builtin_kernels.hpp"
#include "devices/cuda/cubin.hpp"
#include "devices/cuda/disassembler.hpp"
#include "devices/cuda/find_tool.hpp"
#include "devices/cuda/sass_loops.hpp"
#include "targets/cuda/cuda_task.hpp"
#include "targets/cuda/diagnostics.hpp"
#include "targets/cuda/nvrtc.hpp"
#include "targets/cuda/placement.hpp"
#include "targets/cuda/task_header.hpp"

namespace accelopt::targets::cuda {
namespace {

using namespace devices::cuda;

class CudaBuild : public testing::Test {
 protected:
  void SetUp() override {
    if (!no_nvrtc().empty()) GTEST_SKIP() << no_nvrtc();
    if (!shared_) {
      auto builder = make_cuda_builder(scale_task(), build_options(), {});
      ASSERT_TRUE(builder) << builder.error().message;
      shared_ = std::move(*builder);
    }
  }
  static void TearDownTestSuite() { shared_.reset(); }

  static BuiltCudaPtr build(const model::Solution& solution) {
    const auto built = shared_->build(model::Kernel(solution), {});
    EXPECT_TRUE(built) << (built ? "" : built.error().message);
    return built ? *built : std::make_shared<const BuiltCuda>();
  }

  static std::string diagnostics(const model::Solution& solution) {
    const auto built = build(solution);
    EXPECT_FALSE(built->report.built);
    return built->report.diagnostics;
  }

  static std::unique_ptr<CudaBuilder> shared_;
};
std::unique_ptr<CudaBuilder> CudaBuild::shared_;

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST_F(CudaBuild, GivesACubinWithItsResources) {
  const auto built = build(scale_kernel(kScaleBody));
  ASSERT_TRUE(built->report.built) << built->report.diagnostics;
  EXPECT_TRUE(
      built->program.cubins.at(0).bytes.starts_with("\x7f"
                                                    "ELF"));
  const std::vector<KernelResources>& kernels = built->program.cubins[0].kernels;
  ASSERT_EQ(kernels.size(), 1U);
  EXPECT_EQ(kernels[0].kernel, "scale_rows");
  EXPECT_GT(kernels[0].registers, 4);
  EXPECT_EQ(kernels[0].spill_bytes, 0);
  EXPECT_GT(built->report.code_bytes, 0);
  ASSERT_FALSE(built->report.remarks.empty());
  expect_contains(built->report.remarks[0], "scale_rows: ");
  expect_contains(built->report.remarks[0], "100 % occupancy");
  expect_contains(shared_->compiler_name(), "NVRTC 1");
  expect_contains(shared_->flags_text(), "sm_90a");
}

TEST_F(CudaBuild, TheSameSourceIsBuiltOnce) {
  EXPECT_EQ(build(scale_kernel(kScaleBody)), build(scale_kernel(kScaleBody)));
}

TEST_F(CudaBuild, NamesAndCommentsDoNotMakeOtherMachineCode) {
  const auto first = build(scale_kernel(kScaleBody));
  model::Solution renamed = scale_kernel(kScaleBody, "// another name\n__device__ int unused(int a) { return a; }\n");
  std::string& text = renamed.sources[0].text;
  for (auto at = text.find("scale_rows"); at != std::string::npos; at = text.find("scale_rows", at))
    text.replace(at, 10, "another_name");
  const auto second = build(renamed);
  ASSERT_TRUE(second->report.built) << second->report.diagnostics;
  EXPECT_EQ(first->report.machine_code_id, second->report.machine_code_id);
  EXPECT_NE(first->report.build_id, second->report.build_id);
}

TEST_F(CudaBuild, AShiftedCopyIsTheSameCodeWithAnotherAlignment) {
  for (const char* body : {kScaleBody, "  y[blockIdx.x] = x[blockIdx.x] / scale;\n"}) {  // the division is a function
    const model::Solution one = scale_kernel(body);
    const auto built_one = build(one);
    ASSERT_TRUE(built_one->report.built) << built_one->report.diagnostics;
    const auto copy_one = build(with_padding(one));
    EXPECT_EQ(copy_one->report.machine_code_id, built_one->report.machine_code_id);
    EXPECT_TRUE(*lies_elsewhere(*built_one, *copy_one));
  }
  const model::Solution solution = scale_kernel(kScaleBody);
  const auto built = build(solution);
  EXPECT_FALSE(*lies_elsewhere(*built, *built));
  // Another program is no copy, wherever it lies.
  const auto other = build(with_padding(scale_kernel("  y[blockIdx.x] = 3.0f;\n")));
  ASSERT_TRUE(other->report.built) << other->report.diagnostics;
  EXPECT_FALSE(*lies_elsewhere(*built, *other));
}

TEST_F(CudaBuild, WhatRunsOtherwiseIsOtherMachineCode) {
  const std::string usual = build(scale_kernel(kScaleBody))->report.machine_code_id;
  model::Solution other_plan = scale_kernel(kScaleBody);
  std::string& text = other_plan.sources[0].text;
  text.replace(text.find("(256)"), 5, "(128)");
  const auto built = build(other_plan);
  ASSERT_TRUE(built->report.built) << built->report.diagnostics;
  EXPECT_NE(built->report.machine_code_id, usual);
  std::string body = kScaleBody;
  body.replace(body.find("= scale *"), 9, "= 2.0f *");
  EXPECT_NE(build(scale_kernel(body))->report.machine_code_id, usual);
  const auto table = [&](const char* value) {
    const auto with = build(scale_kernel("y[blockIdx.x] = table[threadIdx.x % 4];",
                                         std::string("__constant__ float table[4] = {1, 2, 3, ") + value + "};\n"));
    EXPECT_TRUE(with->report.built) << with->report.diagnostics;
    return with->report.machine_code_id;
  };
  EXPECT_NE(table("4"), table("5"));
}

TEST_F(CudaBuild, ErrorsNameLineAndColumnOfTheKernelsOwnText) {
  const std::string text = diagnostics(scale_kernel("  y[0] = nowhere;"));
  EXPECT_TRUE(text.starts_with("kernel.cu:3:10: error: identifier \"nowhere\" is undefined\n")) << text;
  expect_contains(text, "  y[0] = nowhere;\n");
  EXPECT_EQ(text.find('/'), std::string::npos) << text;
}

TEST_F(CudaBuild, AMissingKernelIsNamedWithThoseThatExist) {
  model::Solution other = scale_kernel(kScaleBody);
  other.sources[0].text.replace(other.sources[0].text.find("scale_rows"), 10, "other_name");
  expect_contains(diagnostics(other), "kernel.cu:1:12: error: no kernel \"other_name\"; there are: scale_rows");
  model::Solution mangled = scale_kernel(kScaleBody);
  mangled.sources[0].text.replace(mangled.sources[0].text.find("extern \"C\" "), 11, "");
  expect_contains(diagnostics(mangled), "declare it extern \"C\" __global__ void scale_rows(...)");
}

TEST_F(CudaBuild, ParametersAreHeldAgainstArgs) {
  model::Solution fewer = scale_kernel(kScaleBody);
  std::string& text = fewer.sources[0].text;
  text.replace(text.find("y, M)"), 5, "y)");
  expect_contains(diagnostics(fewer), "scale_rows has 4 parameters, and args has 3 names");
  model::Solution swapped = scale_kernel(kScaleBody);
  swapped.sources[0].text.replace(swapped.sources[0].text.find("(x, scale, y"), 12, "(x, y, scale");
  expect_contains(diagnostics(swapped), "parameter 2 of scale_rows has 4 bytes, and args gives it 8");
}

TEST_F(CudaBuild, AnAxisMayBeAnInt) {
  model::Solution narrow = scale_kernel(kScaleBody);
  narrow.sources[0].text.replace(narrow.sources[0].text.find("int64_t M"), 9, "int M");
  EXPECT_TRUE(build(narrow)->report.built);
}

TEST_F(CudaBuild, ResourcesBeyondTheDeviceAreRefused) {
  expect_contains(diagnostics(scale_kernel("__shared__ float a[20000]; a[threadIdx.x] = x[0]; __syncthreads(); y[0] = "
                                           "a[M];")),
                  "80000 bytes of static shared memory, and 49152 are possible");
  model::Solution bounded = scale_kernel(kScaleBody);
  bounded.sources[0].text.replace(bounded.sources[0].text.find("void scale_rows"), 4, "void __launch_bounds__(128)");
  expect_contains(diagnostics(bounded), "kernel.cu:1:12: error: in workload \"race\" (M=64): a block of 256 threads");
}

TEST_F(CudaBuild, SizesOfHeldOutWorkloadsStaySecret) {
  model::Task task = scale_task();
  task.workloads.push_back({"hidden", {{"M", 977}}, model::Role::held_out, 1.0});
  const auto builder = make_cuda_builder(task, build_options(), {});
  ASSERT_TRUE(builder) << builder.error().message;
  for (const char* broken : {"grid=(cdiv(977, M))", "block=(M)", "smem=M*250"}) {
    model::Solution solution = scale_kernel(kScaleBody);
    std::string& text = solution.sources[0].text;
    const std::string option(broken);
    if (option.starts_with("smem")) {
      text.insert(text.find(" args="), " " + option);
    } else {
      const auto at = text.find(option.substr(0, option.find('=')) + "=(");
      text.replace(at, text.find(')', at) + 1 - at, option);
    }
    const auto built = (*builder)->build(model::Kernel(solution), {});
    ASSERT_TRUE(built) << built.error().message;
    const std::string told = (*built)->report.diagnostics;
    EXPECT_EQ(told.find("hidden"), std::string::npos) << told;
    EXPECT_EQ(told.find("977 "), std::string::npos) << told;
    EXPECT_EQ(told.find("244250"), std::string::npos) << told;
    for (const std::string& remark : (*built)->report.remarks) EXPECT_EQ(remark.find("244250"), std::string::npos);
  }
}

TEST_F(CudaBuild, VariablesAreListedWhateverTheirDeclarationLooksLike) {
  const auto names = [&](const std::string& body, const std::string& declaration = "") {
    const auto built = build(scale_kernel(body, declaration));
    EXPECT_TRUE(built->report.built) << built->report.diagnostics;
    const auto cubin = devices::cuda::read_cubin(built->program.cubins.at(0).bytes);
    std::string out;
    for (const auto& variable : cubin->variables) out += variable.name + " " + std::to_string(variable.bytes) + "\n";
    return out;
  };
  for (const char* declaration :
       {"__device__ int calls;\n", "__managed__ int calls = 3;\n", "static __attribute__((device)) int calls;\n",
        "#define OPENED namespace cuda {\nOPENED __device__ int calls; }\nusing cuda::calls;\n"}) {
    expect_contains(names("y[0] = calls++;", declaration), "calls");
  }
  expect_contains(names("static int calls; y[0] = calls++;"), "calls");
  expect_contains(names("unsigned v; asm volatile(\"{.global .u32 hid; ld.global.u32 %0, [hid]; "
                        "st.global.u32 [hid], 7;}\" : \"=r\"(v)); y[0] = v;"),
                  " 4\n");
  expect_contains(names("y[threadIdx.x] = table[M % 4];", "__constant__ float table[4] = {1, 2, 3, 4};\n"),
                  "table 16\n");
  expect_contains(names("static constexpr float t[4] = {1, 2, 3, 4}; y[0] = t[M % 4] + sinf(x[0]);"),
                  "__cudart_i2opi_f");
  EXPECT_EQ(names("y[0] = x[0];"), "");
}

TEST_F(CudaBuild, WhatNeedsAHostIsRefused) {
  expect_contains(diagnostics(scale_kernel("printf(\"%f\", x[0]);")), "device-side printf is refused");
  expect_contains(diagnostics(scale_kernel("y[0] = *static_cast<float*>(malloc(M));")), "declare //@ scratch memory");
  expect_contains(diagnostics(scale_kernel("child<<<1, 1>>>(y);", "__global__ void child(float* y) { y[0] = 1; }\n")),
                  "a kernel cannot launch kernels");
  expect_contains(diagnostics(scale_kernel("y[0] = helper(x[0]);", "float helper(float a) { return a; }\n")),
                  "Write __device__ before it.");
  expect_contains(diagnostics(scale_kernel("y[0] = helper(1);", "extern \"C\" __device__ int helper(int);\n")),
                  "function 'helper' is declared and defined nowhere");
}

TEST_F(CudaBuild, FilesOfTheMachineStayOutOfReach) {
  for (const char* line : {"#include \"/etc/passwd\"\n", "#include </etc/passwd>\n", "#include \"../../etc/passwd\"\n",
                           "#if __has_include(\"/etc/passwd\")\n#error there\n#endif\n", "#line 1 \"/etc/passwd\"\n"}) {
    expect_contains(diagnostics(scale_kernel(kScaleBody, line)), "refused");
  }
  expect_contains(diagnostics(scale_kernel("asm(\".incbin \\\"/etc/passwd\\\"\");")), "refused");
  expect_contains(diagnostics(scale_kernel("asm(\".inc\" \"bin \\\"/etc/passwd\\\"\");")), "syntax error");
}

TEST_F(CudaBuild, FloodsOfErrorsAreCut) {
  std::string flood;
  for (int i = 0; i < 3000; ++i) flood += "undefined_" + std::to_string(i) + " x" + std::to_string(i) + ";\n";
  const std::string text = diagnostics(scale_kernel(kScaleBody, flood));
  EXPECT_LT(text.size(), 7000U);
  expect_contains(text, "undefined_0");
  expect_contains(diagnostics(scale_kernel(kScaleBody, "template <int N_> struct A { A<N_ + 1> a; }; A<0> z;\n")),
                  "excessive recursion");
}

TEST_F(CudaBuild, FloodsOfRemarksHideNoResources) {
  std::string flood;
  for (int i = 0; i < 3000; ++i) flood += "#pragma message \"" + std::string(400, 'x') + "\"\n";
  const auto built = build(scale_kernel(kScaleBody, flood));
  ASSERT_TRUE(built->report.built) << built->report.diagnostics;
  EXPECT_GT(built->program.cubins.at(0).kernels.at(0).registers, 4);
}

TEST_F(CudaBuild, UsualHeadersAreThere) {
  const std::string headers =
      "#include <cuda_runtime.h>\n#include <cstdint>\n#include <stdint.h>\n#include <cmath>\n#include <cfloat>\n"
      "#include <climits>\n#include <cuda.h>\n#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <mma.h>\n"
      "#include <cuda/std/cstdint>\n#include <cuda/std/limits>\n";
  const auto built = build(scale_kernel(
      "y[0] = INFINITY + FLT_MAX + INT_MAX + static_cast<uint64_t>(M) + __half2float(__float2half(x[0])) + UINT32_MAX;",
      headers));
  EXPECT_TRUE(built->report.built) << built->report.diagnostics;
}

TEST_F(CudaBuild, HeadersOfTheSolutionAreIncluded) {
  model::Solution two = scale_kernel("y[0] = twice(x[0]);", "#include \"twice.cuh\"\n");
  two.sources.push_back({"twice.cuh", "__device__ float twice(float a) { return 2 * a; }\n"});
  EXPECT_TRUE(build(two)->report.built) << build(two)->report.diagnostics;
  two.sources[1].text = "\n__device__ float twice(float a) { return 2 * b; }\n";
  expect_contains(diagnostics(two), "twice.cuh:2:");
  two.sources[1].name = "../twice.cuh";
  expect_contains(diagnostics(two), "others must be headers");
}

TEST_F(CudaBuild, TunedValuesAreMacrosAndNumbersOfThePlan) {
  model::Solution tuned = scale_kernel("y[0] = BLOCK + NEGATIVE;");
  std::string& text = tuned.sources[0].text;
  text.replace(text.find("(256)"), 5, "(BLOCK)");
  const std::string kernel = text;
  text = "//@ tune BLOCK in {64}  NEGATIVE in {-2}\n" + kernel;
  const auto built = build(tuned);
  ASSERT_TRUE(built->report.built) << built->report.diagnostics;
  EXPECT_EQ(built->program.plans.at("M=64").launches.at(0).block, (std::array<std::uint32_t, 3>{64, 1, 1}));
  text = "//@ tune BLOCK in {64, 128}  NEGATIVE in {-2}\n" + kernel;
  expect_contains(diagnostics(tuned), "kernel.cu:1:10: error: 2 configurations are left open");
}

TEST_F(CudaBuild, FeaturesOfHopperCanBeUsed) {
  const std::string body =
      "__shared__ alignas(128) float tile[16 * 64];\n__shared__ alignas(8) uint64_t barrier;\n"
      "if (threadIdx.x == 0) {\n  const uint32_t b = static_cast<uint32_t>(__cvta_generic_to_shared(&barrier));\n"
      "  const uint32_t t = static_cast<uint32_t>(__cvta_generic_to_shared(tile));\n"
      "  asm volatile(\"mbarrier.init.shared.b64 [%0], 1;\" :: \"r\"(b));\n"
      "  asm volatile(\"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, "
      "%3}], [%4];\" :: \"r\"(t), \"l\"(&tx), \"r\"(0), \"r\"(0), \"r\"(b) : \"memory\");\n}\n__syncthreads();\n"
      "asm volatile(\"wgmma.fence.sync.aligned;\" ::: \"memory\");\ny[threadIdx.x] = tile[threadIdx.x];";
  model::Solution hopper;
  hopper.language = model::Language("cuda");
  hopper.sources.push_back({"kernel.cu",
                            "//@ tensormap tx of x box=(64, 16)\n"
                            "//@ launch tiled grid=(cdiv(M, 16) * 2) block=(128) cluster=(2) smem=100000 args=(tx, y)\n"
                            "extern \"C\" __global__ void tiled(const __grid_constant__ CUtensorMap tx, float* y) {\n" +
                                body + "\n}\n"});
  const auto built = build(hopper);
  ASSERT_TRUE(built->report.built) << built->report.diagnostics;
  expect_contains(built->report.remarks[0], "limited by shared memory");
}

TEST_F(CudaBuild, AReferenceIsBuiltInBothPrecisions) {
  model::Task task = scale_task();
  task.reference.text = std::string(kScaleLaunch) +
                        "//@ scratch kept float32 [M]\n"
                        "extern \"C\" __global__ void scale_rows(const real* x, real scale, real* y, int64_t M) {\n"
                        "  for (int i = threadIdx.x; i < N; i += blockDim.x) y[blockIdx.x * N + i] = scale * "
                        "x[blockIdx.x * N + i];\n}\n";
  const auto builder = make_cuda_builder(task, build_options(), {});
  ASSERT_TRUE(builder) << builder.error().message;
  const auto in_double = (*builder)->build_reference("double", {});
  const auto in_float = (*builder)->build_reference("float", {});
  ASSERT_TRUE(in_double) << in_double.error().message;
  ASSERT_TRUE(in_float) << in_float.error().message;
  EXPECT_NE((*in_double)->program.cubins.at(0).bytes, (*in_float)->program.cubins.at(0).bytes);
  const devices::cuda::ScratchBuffer& kept = (*in_double)->program.plans.at("M=64").scratch.at(0);
  EXPECT_EQ(kept.dtype, model::DType::float64);
  EXPECT_EQ(kept.bytes, 64 * sizeof(double));
  EXPECT_EQ(reference_definition(task.definition, model::DType::float64).inputs[0].dtype, model::DType::float64);

  task.reference.text += "broken\n";
  const auto broken = make_cuda_builder(task, build_options(), {});
  ASSERT_TRUE(broken);
  const auto refused = (*broken)->build_reference("double", {});
  ASSERT_FALSE(refused);
  expect_contains(refused.error().message, "reference.cu:6:");
}

TEST_F(CudaBuild, HalfTypesAreCudasOwn) {
  model::Task task = scale_task();
  task.definition.inputs[0].dtype = model::DType::float16;
  task.definition.outputs[0].dtype = model::DType::bfloat16;
  const auto builder = make_cuda_builder(task, build_options(), {});
  ASSERT_TRUE(builder) << builder.error().message;
  model::Solution half;
  half.language = model::Language("cuda");
  half.sources.push_back(
      {"kernel.cu", std::string(kScaleLaunch) +
                        "extern \"C\" __global__ void scale_rows(const __half* x, float scale, __nv_bfloat16* y, "
                        "int64_t M) { y[threadIdx.x] = __float2bfloat16(scale * __half2float(x[threadIdx.x])); }\n"});
  const auto built = (*builder)->build(model::Kernel(half), {});
  ASSERT_TRUE(built) << built.error().message;
  EXPECT_TRUE((*built)->report.built) << (*built)->report.diagnostics;
}

TEST_F(CudaBuild, PrecompiledHeadersGiveTheSameCode) {
  const auto cache = base::TemporaryFolder::create("accelopt-pch");
  ASSERT_TRUE(cache);
  CudaBuildOptions options = build_options();
  options.cache = cache->path();
  const auto builder = make_cuda_builder(scale_task(), options, {});
  ASSERT_TRUE(builder) << builder.error().message;
  const model::Solution grouped = scale_kernel(
      "auto tile = cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block()); "
      "y[blockIdx.x] = tile.shfl_down(x[threadIdx.x], 1);",
      "#include <cooperative_groups.h>\n");
  const auto with = (*builder)->build(model::Kernel(grouped), {});
  ASSERT_TRUE(with) << with.error().message;
  ASSERT_TRUE((*with)->report.built) << (*with)->report.diagnostics;
  EXPECT_EQ((*with)->report.code_bytes, build(grouped)->report.code_bytes);
  EXPECT_EQ((*with)->report.remarks, build(grouped)->report.remarks);
  model::Solution broken = grouped;
  broken.sources[0].text += "broken\n";
  const auto refused = (*builder)->build(model::Kernel(broken), {});
  ASSERT_TRUE(refused);
  EXPECT_TRUE((*refused)->report.diagnostics.starts_with("kernel.cu:6:")) << (*refused)->report.diagnostics;
  std::error_code ignored;
  int kept = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(cache->path(), ignored))
    kept += entry.path().filename() == "headers.pch" ? 1 : 0;
  EXPECT_EQ(kept, 1);
}

TEST_F(CudaBuild, LinesOfTheSourceLeaveTheCodeAsItIs) {
  const model::Solution kernel = scale_kernel("y[blockIdx.x] = x[threadIdx.x];");
  const auto cubin = shared_->cubin_with_lines(model::Kernel(kernel), {});
  ASSERT_TRUE(cubin) << cubin.error().message;
  const auto measured = build(kernel);
  expect_contains(*cubin, ".debug_line");
  EXPECT_EQ(measured->program.cubins.at(0).bytes.find(".debug_line"), std::string::npos);
  EXPECT_TRUE(is_same_code(*cubin, measured->program.cubins.at(0).bytes, {"scale_rows"}));
  EXPECT_FALSE(
      is_same_code(*cubin, build(scale_kernel("y[blockIdx.x] = x[0];"))->program.cubins.at(0).bytes, {"scale_rows"}));
  EXPECT_FALSE(is_same_code(*cubin, cubin->substr(0, cubin->size() / 2), {"scale_rows"}));
  const auto broken = shared_->cubin_with_lines(model::Kernel(scale_kernel("nonsense")), {});
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, base::ErrorCode::invalid_argument);
}

TEST_F(CudaBuild, LoopsAreFoundWhereTheSourceHasThem) {
  std::map<std::string, std::string> environment = build_options().environment;
  for (const char* name : {"PATH", "ACCELOPT_NVDISASM"}) {
    if (const char* const value = getenv(name)) environment[name] = value;
  }
  const auto tool = find_tool(disassembler(), environment, {});
  if (!tool) GTEST_SKIP() << tool.error().message;
  const auto cubin = shared_->cubin_with_lines(
      model::Kernel(scale_kernel(
          "float sum = 0;\n#pragma unroll 1\nfor (int i = 0; i < M; ++i)\nsum += x[i] * scale;\n*y = sum;")),
      {});
  ASSERT_TRUE(cubin) << cubin.error().message;
  const auto text = disassemble(tool->path, *cubin, {});
  ASSERT_TRUE(text) << text.error().message;
  const auto loops = describe_sass_loops(*text, {"scale_rows"});
  ASSERT_EQ(loops.size(), 1) << *text;
  EXPECT_TRUE(loops[0].meaning.starts_with("lines 5 to 6; a turn: 1 FFMA, ")) << loops[0].meaning;
  expect_contains(loops[0].meaning, "1 LDG, ");
}

TEST_F(CudaBuild, TrustedCodeIsBuiltWithItsDefinitions) {
  const auto cubin = shared_->build_trusted(
      "check.cu", "extern \"C\" __global__ void check(float* y) { y[0] = VALUE; }\n", {"-DVALUE=3"}, {});
  ASSERT_TRUE(cubin) << cubin.error().message;
  const auto broken = shared_->build_trusted("check.cu", "nonsense\n", {}, {});
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, base::ErrorCode::internal);
}

TEST_F(CudaBuild, ThePeaksOfMatrixUnitsAreMeasuredByWgmmaWhereItIsAndNotOneByOne) {
  const auto names_of = [](const std::string& architecture) {
    const auto nvrtc = locate_nvrtc({{}, {}, {}, cuda_environment()});
    EXPECT_TRUE(nvrtc);
    const NvrtcJob job{"peak_kernels.cu",
                       std::string(peak_kernels_text()),
                       {"--gpu-architecture=" + architecture, "--std=c++20", "--ptxas-options=-v"},
                       {},
                       {},
                       {},
                       {}};
    const auto outcome = compile(*nvrtc, job, nullptr, {});
    EXPECT_TRUE(outcome);
    EXPECT_TRUE(outcome->compiled) << outcome->log;
    // ptxas says so where it waits for one wgmma before it gives the next.
    EXPECT_EQ(device_remarks(outcome->log), std::vector<std::string>());
    const auto cubin = read_cubin(outcome->cubin);
    EXPECT_TRUE(cubin);
    std::set<std::string> names;
    for (const CubinKernel& kernel : cubin->kernels) names.insert(kernel.name);
    return names;
  };
  const std::set<std::string> hopper = names_of("sm_90a");
  for (const char* name : {"accelopt_wgmma_bfloat16", "accelopt_wgmma_float16", "accelopt_wgmma_tf32"})
    EXPECT_EQ(hopper.count(name), 1U) << name;
  const std::set<std::string> older = names_of("sm_80");
  EXPECT_EQ(older.count("accelopt_mma_bfloat16"), 1U);
  EXPECT_EQ(older.count("accelopt_wgmma_bfloat16"), 0U);
}

TEST_F(CudaBuild, AStopEndsACompilation) {
  std::stop_source source;
  source.request_stop();
  const auto stopped = shared_->build(model::Kernel(scale_kernel("y[0] = 17;")), source.get_token());
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, base::ErrorCode::cancelled);
  EXPECT_TRUE(build(scale_kernel("y[0] = 17;"))->report.built);  // nothing of it was kept
}

TEST_F(CudaBuild, AnArchitectureThatNvrtcDoesNotKnowIsRefused) {
  CudaBuildOptions options = build_options();
  options.limits.architecture = "sm_12";
  const auto builder = make_cuda_builder(scale_task(), options, {});
  ASSERT_FALSE(builder);
  EXPECT_EQ(builder.error().code, base::ErrorCode::unsupported);
}

TEST(FindNvrtc, SaysWhatIsMissing) {
  CudaBuildOptions options = build_options();
  options.nvrtc = "/nowhere/libnvrtc.so.13";
  const auto missing = find_nvrtc(options);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, base::ErrorCode::unsupported);
  expect_contains(missing.error().message, "/nowhere/libnvrtc.so.13");
  options.helper = "/nowhere/accelopt-nvrtc";
  const auto no_helper = find_nvrtc(options);
  ASSERT_FALSE(no_helper);
  expect_contains(no_helper.error().message, "/nowhere/accelopt-nvrtc: no such program");
}

}  // namespace
}  // namespace accelopt::targets::cuda
