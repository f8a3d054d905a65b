// SPDX-License-Identifier: Apache-2.0
#include "model/launch_plan.hpp"

#include <gtest/gtest.h>

#include "model/kernel.hpp"
#include "model/tuning.hpp"
#include "targets/cuda/description.hpp"

namespace accelopt::model {
namespace {

/// y[M, N] = f(x[M, K], w[K, N], scale), M variable.
Definition product_definition() {
  const auto tensor = [](const std::string& name, std::optional<std::vector<std::string>> shape, DType dtype) {
    TensorSpec out;
    out.name = name;
    out.shape = std::move(shape);
    out.dtype = dtype;
    return out;
  };
  using Axes = std::vector<std::string>;
  Definition out;
  out.axes = {{"M", std::nullopt}, {"K", 512}, {"N", 96}};
  out.inputs = {tensor("x", Axes{"M", "K"}, DType::bfloat16), tensor("w", Axes{"K", "N"}, DType::float32),
                tensor("scale", std::nullopt, DType::float32)};
  out.outputs = {tensor("y", Axes{"M", "N"}, DType::float32)};
  return out;
}

const AxisValues kAxes{{"M", 200}, {"K", 512}, {"N", 96}};

constexpr const char* kWhole = R"(// A product.
//@ tune BM in {64, 128}  BK in {32}
//@ require BM >= BK
//@ flags --use_fast_math -maxrregcount=128
//@ scratch partial float32 [cdiv(M, BM), N] zero
//@ tensormap tx of x box=(BK, BM) swizzle=64B
//@ launch split grid=(cdiv(M, BM) * 2, 3) block=(128, 2) smem=BM * BK * 2 cluster=(2) args=(tx, w, partial, M)
  //@ launch sum grid=(M) block=(32) args=(partial, scale, y, N)
)";

tl::expected<LaunchPlan, DirectiveProblem> plan_of(const std::string& source, const AxisValues& axes = kAxes) {
  const auto directives = parse_device_directives(source);
  if (!directives) return tl::make_unexpected(directives.error());
  std::vector<std::int64_t> values;
  for (const TunedName& tuned : directives->tuned) values.push_back(tuned.values.front());
  return bind_launch_plan(*directives, product_definition(), axes, values, targets::cuda::description().launch_limits);
}

TEST(ParseDeviceDirectives, ReadsEveryDirective) {
  const auto directives = parse_device_directives(kWhole);
  ASSERT_TRUE(directives) << directives.error().message;
  ASSERT_EQ(directives->launches.size(), 2U);
  const LaunchDirective& split = directives->launches[0];
  EXPECT_EQ(split.kernel, "split");
  EXPECT_EQ(split.grid[0].text, "cdiv(M, BM) * 2");
  EXPECT_EQ(split.smem->text, "BM * BK * 2");
  EXPECT_EQ(split.cluster.size(), 1U);
  EXPECT_EQ(split.args[2].text, "partial");
  EXPECT_EQ(split.line, 7);
  EXPECT_EQ(directives->launches[1].column, 14);
  EXPECT_TRUE(directives->scratch[0].zero);
  EXPECT_EQ(directives->tensor_maps[0].swizzle_bytes, 64);
  EXPECT_EQ(directives->flags, (std::vector<std::string>{"--use_fast_math", "-maxrregcount=128"}));
  EXPECT_EQ(directives->tuned[1].values, (std::vector<std::int64_t>{32}));
  EXPECT_EQ(directives->required[0].text, "BM >= BK");
}

TEST(BindLaunchPlan, EvaluatesEveryNumber) {
  const auto plan = plan_of(kWhole);
  ASSERT_TRUE(plan) << plan.error().line << ":" << plan.error().column << ": " << plan.error().message;
  const KernelLaunch& split = plan->launches[0];
  EXPECT_EQ(split.grid, (std::array<std::uint32_t, 3>{8, 3, 1}));
  EXPECT_EQ(split.block, (std::array<std::uint32_t, 3>{128, 2, 1}));
  EXPECT_EQ(split.cluster, (std::array<std::uint32_t, 3>{2, 1, 1}));
  EXPECT_EQ(split.shared_bytes, 4096U);
  EXPECT_EQ(split.arguments[0].kind, LaunchArgument::Kind::tensor_map);
  EXPECT_EQ(split.arguments[1].index, 1U);
  EXPECT_EQ(split.arguments[3].kind, LaunchArgument::Kind::axis);
  EXPECT_EQ(split.arguments[3].value, 200);
  EXPECT_EQ(plan->launches[1].cluster, (std::array<std::uint32_t, 3>{0, 0, 0}));
  EXPECT_EQ(plan->launches[1].arguments[1].kind, LaunchArgument::Kind::input);
  ASSERT_EQ(plan->scratch.size(), 1U);
  EXPECT_EQ(plan->scratch[0].bytes, 4 * 4 * 96);
  EXPECT_EQ(plan->tensor_maps[0].shape, (std::vector<std::int64_t>{512, 200}));
  EXPECT_EQ(plan->tensor_maps[0].box, (std::vector<std::uint32_t>{32, 64}));
  EXPECT_EQ(plan->tensor_maps[0].dtype, DType::bfloat16);
}

TEST(BindLaunchPlan, TunedValuesAreThoseThatAreGiven) {
  const auto directives = parse_device_directives(kWhole);
  const auto plan =
      bind_launch_plan(*directives, product_definition(), kAxes, {128, 32}, targets::cuda::description().launch_limits);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->launches[0].grid[0], 4U);
}

struct Refusal {
  std::string source;
  int line;
  int column;
  const char* reason;
};

void expect_refused(const Refusal& c, const AxisValues& axes = kAxes) {
  const auto plan = plan_of(c.source, axes);
  ASSERT_FALSE(plan) << c.source;
  EXPECT_NE(plan.error().message.find(c.reason), std::string::npos) << c.source << ": " << plan.error().message;
  EXPECT_EQ(plan.error().line, c.line) << c.source << ": " << plan.error().message;
  EXPECT_EQ(plan.error().column, c.column) << c.source << ": " << plan.error().message;
}

TEST(ParseDeviceDirectives, RefusesWithLineColumnAndReason) {
  for (const Refusal& c : {
           Refusal{"__global__ void k();\n", 1, 1, "no //@ launch"},
           Refusal{"//@ lunch k\n", 1, 5, "unknown directive \"//@ lunch\""},
           Refusal{"//@ launch\n", 1, 11, "expected the name of a kernel, found the end of the line"},
           Refusal{"//@ launch 3k grid=(1)\n", 1, 12, "expected the name of a kernel, found '3'"},
           Refusal{"//@ launch k block=(1) args=(y)\n", 1, 32, "has no grid=(...)"},
           Refusal{"//@ launch k grid=(1) block=(1)\n", 1, 32, "has no args=(...)"},
           Refusal{"//@ launch k grid(1)\n", 1, 18, "expected '=' after grid, found '('"},
           Refusal{"//@ launch k grid=1 block=(1) args=(y)\n", 1, 19, "expected '(' after grid, found '1'"},
           Refusal{"//@ launch k grid=(1,2,3,4) block=(1) args=(y)\n", 1, 26, "grid takes at most 3 values"},
           Refusal{"//@ launch k grid=(1, ) block=(1) args=(y)\n", 1, 23, "expected an expression, found ')'"},
           Refusal{"//@ launch k grid=(1 block=(1) args=(y)\n", 1, 22, "expected an operator or the end"},
           Refusal{"//@ launch k grid=(cdiv(N BN)) block=(1) args=(y)\n", 1, 27, "expected ','"},
           Refusal{"//@ launch k grid=(1.5) block=(1) args=(y)\n", 1, 21, "only whole numbers"},
           Refusal{"//@ launch k grid=(1) grid=(2) block=(1) args=(y)\n", 1, 23, "grid appears twice"},
           Refusal{"//@ launch k grid=(1) threads=(1) args=(y)\n", 1, 23, "unknown option \"threads\" of //@ launch"},
           Refusal{"//@ launch k grid=(1) block=(1) args=(y, N*2)\n", 1, 43, "an argument is a name"},
           Refusal{"//@ launch k grid=(1) block=(1) args=()\n", 1, 39, "expected the name of an input"},
           Refusal{"//@ launch k grid=(1) block=(1) smem= args=(y)\n", 1, 39, "expected an expression"},
           Refusal{"//@ launch k grid=(1) \\\n//@ block=(1) args=(y)\n", 1, 23, "expected grid="},
           Refusal{"//@ launch k grid=(1)\\\n", 1, 22, "a directive is one line and cannot be continued"},
           Refusal{"//@ scratch s [1]\n", 1, 15, "expected a dtype"},
           Refusal{"//@ scratch s half [1]\n", 1, 15, "expected a dtype"},
           Refusal{"//@ scratch s float32 (1)\n", 1, 23, "expected '[' after the shape of s, found '('"},
           Refusal{"//@ scratch s float32 []\n", 1, 24, "expected an expression, found ']'"},
           Refusal{"//@ scratch s float32 [1] zeros\n", 1, 27, "may stand \"zero\" and nothing else"},
           Refusal{"//@ tensormap t x box=(1)\n", 1, 17, "expected \"of TENSOR\""},
           Refusal{"//@ tensormap t of x\n", 1, 21, "has no box"},
           Refusal{"//@ tensormap t of x box=(8) swizzle=96B\n", 1, 38, "swizzle is none, 32B, 64B or 128B"},
           Refusal{"//@ flags -Xptxas -o/etc/passwd\n", 1, 11, "flag \"-Xptxas\" is not on the allow-list"},
           Refusal{"//@ flags -maxrregcount=999\n", 1, 11, "not on the allow-list"},
           Refusal{"int z; //@ launch k\n", 1, 8, "must begin its line"},
           Refusal{"//@ launch k grid=(\xff) block=(1) args=(y)\n", 1, 20, "\\xff"},
           Refusal{"//@ \xc3\x28 k\n", 1, 5, "\\xc3("},
       }) {
    expect_refused(c);
  }
}

std::string launched(const std::string& options) {
  return "//@ launch k " + options + "\n";
}

TEST(BindLaunchPlan, RefusesNamesAndNumbersWithTheirPlace) {
  for (const Refusal& c : {
           Refusal{launched("grid=(M, BM) block=(1) args=(y)"), 1, 23, "unknown name \"BM\"; numbers are made of axes"},
           Refusal{launched("grid=(1) block=(1) args=(y, z)"), 1, 42, "unknown name \"z\"; known are an axis: K, M, N"},
           Refusal{"//@ tune BM in {2}\n" + launched("grid=(1) block=(1) args=(y, BM)"), 2, 42, "is a tuned name"},
           Refusal{launched("grid=(M / (M - 200)) block=(1) args=(y)"), 1, 20, "division by zero (with M=200)"},
           Refusal{launched("grid=(0) block=(1) args=(y)"), 1, 20, "grid x is 0; it must be 1 to 2147483647"},
           Refusal{launched("grid=(1, 65536) block=(1) args=(y)"), 1, 23, "it must be 1 to 65535"},
           Refusal{launched("grid=(M*M*M*M*M) block=(1) args=(y)"), 1, 20, "is 320000000000 (with M=200)"},
           Refusal{launched("grid=(9999999999*9999999999) block=(1) args=(y)"), 1, 20, "does not fit into 64 bits"},
           Refusal{launched("grid=(1) block=(1025) args=(y)"), 1, 30, "1 to 1024"},
           Refusal{launched("grid=(1) block=(1, 1, 65) args=(y)"), 1, 36, "1 to 64"},
           Refusal{launched("grid=(1) block=(64, 32) args=(y)"), 1, 30, "the block has 2048 threads"},
           Refusal{launched("grid=(1) block=(1) smem=232449 args=(y)"), 1, 38, "it must be 0 to 232448"},
           Refusal{launched("grid=(1) block=(1) smem=-1 args=(y)"), 1, 38, "it must be 0 to 232448"},
           Refusal{launched("grid=(3) block=(1) cluster=(2) args=(y)"), 1, 42, "does not divide grid x, which is 3"},
           Refusal{launched("grid=(32, 32) block=(1) cluster=(8, 4) args=(y)"), 1, 47, "a cluster of 32 blocks"},
           Refusal{launched("grid=(1) block=(1) args=(x, w)"), 1, 12, "output \"y\" is in no launch's args"},
           Refusal{"//@ scratch x float32 [1]\n" + launched("grid=(1) block=(1) args=(y)"), 1, 13,
                   "\"x\" is an input already"},
           Refusal{"//@ scratch s float32 [1]\n//@ scratch s int8 [1]\n" + launched("grid=(1) block=(1) args=(y)"), 2,
                   13, "\"s\" is a scratch tensor already"},
           Refusal{"//@ scratch s float32 [M*M*M*M*M]\n" + launched("grid=(1) block=(1) args=(y)"), 1, 24,
                   "an extent of s is 320000000000"},
           Refusal{"//@ scratch s float32 [2000000, 2000000]\n" + launched("grid=(1) block=(1) args=(y)"), 1, 13,
                   "more than 16 GiB"},
           Refusal{
               "//@ scratch s int8 [17179869184]\n//@ scratch t int8 [1]\n" + launched("grid=(1) block=(1) args=(y)"),
               2, 13, "all scratch tensors together"},
       }) {
    expect_refused(c);
  }
}

TEST(BindLaunchPlan, RefusesTensorMapsThatTheHardwareDoesNotKnow) {
  const std::string launch = launched("grid=(1) block=(1) args=(y, t)");
  for (const Refusal& c : {
           Refusal{"//@ tensormap t of q box=(8)\n" + launch, 1, 20, "unknown name \"q\""},
           Refusal{"//@ tensormap t of scale box=(8)\n" + launch, 1, 20, "is no tensor of one to five axes"},
           Refusal{"//@ tensormap t of M box=(8)\n" + launch, 1, 20, "is no tensor of one to five axes"},
           Refusal{"//@ tensormap t of x box=(8)\n" + launch, 1, 27, "x has 2 axes, and the box 1"},
           Refusal{"//@ tensormap t of x box=(8, 512)\n" + launch, 1, 30, "an extent of the box is 512"},
           Refusal{"//@ tensormap t of x box=(4, 8)\n" + launch, 1, 27, "is 8 bytes; it must be a multiple of 16"},
           Refusal{"//@ tensormap t of x box=(64, 8) swizzle=32B\n" + launch, 1, 27, "may not be longer than that"},
           Refusal{"//@ scratch s int8 [8, 30]\n//@ tensormap t of s box=(16, 8)\n" + launch, 2, 20,
                   "rows of s are 30 bytes long"},
       }) {
    expect_refused(c);
  }
}

TEST(BindLaunchPlan, RefusesMoreThanAPlanMayHold) {
  std::string launches;
  for (int i = 0; i < 65; ++i) launches += launched("grid=(1) block=(1) args=(y)");
  expect_refused({launches, 65, 12, "more than 64 launches"});
  expect_refused({"//@ launch " + std::string(101, 'k') + " grid=(1) block=(1) args=(y)\n", 1, 12,
                  "the name of a kernel has at most 100 characters"});
  std::string maps;
  std::string names;
  for (int i = 0; i < 40; ++i) {
    const std::string name = "t" + std::to_string(i);
    maps += "//@ tensormap " + name + " of x box=(8, 8)\n";
    names += ", " + name;
  }
  const auto plan = plan_of(maps + launched("grid=(1) block=(1) args=(y" + names + ")"));
  ASSERT_FALSE(plan);
  EXPECT_NE(plan.error().message.find("more than 4096 bytes"), std::string::npos) << plan.error().message;
}

TEST(ParseDeviceDirectives, HostileTextEndsInARefusal) {
  const std::string deep = std::string(600, '(') + "1" + std::string(600, ')');
  EXPECT_NE(plan_of(launched("grid=(" + deep + ") block=(1) args=(y)")).error().message.find("longer than 1000"),
            std::string::npos);
  const std::string nested = std::string(300, '(') + "1" + std::string(300, ')');
  EXPECT_NE(plan_of(launched("grid=(" + nested + ") block=(1) args=(y)")).error().message.find("nested too deeply"),
            std::string::npos);
  EXPECT_FALSE(plan_of("//@ launch " + std::string(1 << 20, 'k')));
  EXPECT_LT(plan_of("//@ " + std::string(1 << 20, '\x80')).error().message.size(), 500U);
  EXPECT_FALSE(plan_of(launched("grid=(" + std::string(1 << 20, '('))));
  std::string many;  // each line is looked at once
  for (int i = 0; i < 100000; ++i) many += "//@ require 1\n";
  EXPECT_NE(plan_of(many).error().message.find("no //@ launch"), std::string::npos);
}

TEST(BindLaunchPlan, AnAxisOfZeroIsNamed) {
  AxisValues axes = kAxes;
  axes["M"] = 0;
  expect_refused({launched("grid=(cdiv(M, 64)) block=(1) args=(y)"), 1, 20, "grid x = cdiv(M, 64) is 0 (with M=0)"},
                 axes);
}

Solution cuda_solution(const std::string& text) {
  Solution out;
  out.language = Language("cuda");
  out.sources.push_back({"kernel.cu", text});
  return out;
}

TEST(TuningOfDeviceKernels, TheSameDirectivesGiveTheSameSpace) {
  const auto space = Kernel(cuda_solution(kWhole)).space(product_definition());
  ASSERT_TRUE(space) << space.error().message;
  EXPECT_EQ(space->names, (std::vector<std::string>{"BM", "BK"}));
  EXPECT_EQ(space->configurations.size(), 2U);
  const Solution fixed = with_values(cuda_solution(kWhole), {128, 32});
  EXPECT_NE(main_text(fixed).find("//@ tune BM in {128}  BK in {32}"), std::string::npos);
  EXPECT_FALSE(Kernel(fixed).space(product_definition())->open());
  EXPECT_NE(source_id(fixed), source_id(cuda_solution(kWhole)));
}

TEST(TuningOfDeviceKernels, NamesOfCudaAreTaken) {
  for (const char* name : {"threadIdx", "blockDim", "cudaError"}) {
    const auto space =
        Kernel(cuda_solution("//@ tune " + std::string(name) + " in {1}\n" + launched("grid=(1) block=(1) args=(y)")))
            .space(product_definition());
    ASSERT_FALSE(space) << name;
    EXPECT_NE(space.error().message.find("is taken"), std::string::npos) << space.error().message;
  }
}

TEST(TuningOfDeviceKernels, StandingAloneKeepsTheDirectives) {
  const std::string text = "//@ tune BM in {64}\n" + launched("grid=(BM) block=(1) args=(y)") + "int a[BM];\n";
  EXPECT_EQ(main_text(standing_alone(cuda_solution(text))), "#ifndef BM\n#define BM 64\n#endif\n" + text);
}

TEST(SourceIdOfDeviceKernels, DirectivesAndNotCommentsDecide) {
  const std::string launch = launched("grid=(1) block=(32) args=(y)");
  EXPECT_EQ(source_id(cuda_solution(launch + "int a;")), source_id(cuda_solution("// said\n" + launch + "int  a;")));
  EXPECT_NE(source_id(cuda_solution(launch)), source_id(cuda_solution(launched("grid=(1) block=(64) args=(y)"))));
}

}  // namespace
}  // namespace accelopt::model
