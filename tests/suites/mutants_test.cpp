// SPDX-License-Identifier: Apache-2.0
#include "suites/mutants.hpp"

#include <gtest/gtest.h>

#include <regex>

#include "model/launch_plan.hpp"
#include "suites/mutant_text.hpp"
#include "suites/task_folder.hpp"
#include "targets/cuda/description.hpp"

namespace accelopt::suites {
namespace {

using model::DType;
using model::Family;

model::Task product() {
  model::Task task;
  task.definition.name = "product";
  task.definition.axes = {{"M", std::nullopt}, {"N", 24}, {"K", 64}};
  task.definition.inputs = {{"lhs", std::vector<std::string>{"M", "K"}, DType::float32, {}, {Family::positive}},
                            {"rhs", std::vector<std::string>{"K", "N"}, DType::float32, {}, {}},
                            {"scale", std::nullopt, DType::float32, {}, {}}};
  task.definition.outputs = {{"y", std::vector<std::string>{"M", "N"}, DType::float32, {}, {}}};
  task.workloads = {{"large", {{"M", 64}}, model::Role::race, 1.0}};
  task.baseline = {model::Language::cpp,
                   {{"baseline.cpp", "//@ flags -ffast-math\n#include \"task.h\"\nextern \"C\" void kernel() {}\n"}}};
  return task;
}

const Mutant& find(const std::vector<Mutant>& mutants, std::string_view name) {
  static const Mutant missing;
  for (const Mutant& mutant : mutants) {
    if (mutant.name == name) return mutant;
  }
  ADD_FAILURE() << "no mutant " << name;
  return missing;
}

std::string skipped(const model::Task& task, std::string_view name) {
  return find(derive_mutants(task), name).skipped;
}

TEST(Mutants, AreTheBaselineUnderAnotherNameAndAKernelThatSpoilsIt) {
  const std::vector<Mutant> mutants = derive_mutants(product());
  ASSERT_EQ(mutants.size(), 11U);
  for (const Mutant& mutant : mutants) {
    if (mutant.kind == MutantKind::epsilon) continue;
    EXPECT_EQ(mutant.skipped, "") << mutant.name;
    EXPECT_FALSE(mutant.does.empty()) << mutant.name;
    ASSERT_EQ(mutant.solution.sources.size(), 2U);
    const std::string& kernel = mutant.solution.sources[0].text;
    const std::string& baseline = mutant.solution.sources[1].text;
    EXPECT_EQ(kernel.find("//@ flags -ffast-math\n"), 0U) << "the baseline's flags are its own too";
    EXPECT_NE(
        kernel.find("extern \"C\" void kernel(const float* lhs, const float* rhs, float scale, float* y, int64_t M)"),
        std::string::npos);
    EXPECT_EQ(baseline.find("#define kernel "), 0U);
    EXPECT_NE(baseline.find(product().baseline.sources[0].text), std::string::npos);
  }
}

TEST(Mutants, OfCBaselinesAreCompiledAsC) {
  model::Task task = product();
  task.baseline = {model::Language::c, {{"baseline.c", "void kernel() {}\n"}, {"tables.h", "/* tables */\n"}}};
  const std::vector<Mutant> mutants = derive_mutants(task);
  const Mutant& zeros = find(mutants, "zeros");
  ASSERT_EQ(zeros.solution.sources.size(), 3U);
  EXPECT_EQ(zeros.solution.language, model::Language::cpp);
  EXPECT_EQ(zeros.solution.sources[1].name, "baseline.c");
  EXPECT_EQ(zeros.solution.sources[1].text.find("extern"), std::string::npos);
  EXPECT_EQ(zeros.solution.sources[2].name, "tables.h");
}

TEST(Mutants, ThatDoNotApplyAreSkippedByNameWithTheReason) {
  model::Task task = product();
  task.definition.outputs[0].shape = std::vector<std::string>{"M"};
  EXPECT_EQ(skipped(task, "one row unwritten"), "output y has no row axis");
  task.definition.outputs[0].shape = std::vector<std::string>{"N", "K", "M"};
  EXPECT_EQ(skipped(task, "1 % of the reduction skipped"),
            "every axis of the floating inputs is also one of the outputs");
  task = product();
  task.definition.outputs[0].shape = std::vector<std::string>{};
  EXPECT_EQ(skipped(task, "constant"), "output y has one element only");
  EXPECT_EQ(skipped(task, "last tile skipped"), "output y has one element only");
  task = product();
  task.workloads[0].axes["M"] = 1;
  EXPECT_EQ(skipped(task, "one row unwritten"), "output y has one row only");
  task.definition.outputs[0].dtype = DType::int32;
  EXPECT_EQ(skipped(task, "copy of input"), "no input tensor has the type of output y");
  EXPECT_EQ(skipped(task, "computed one precision lower"), "every output is exact (integers or masks)");
  task = product();
  task.definition.numerics.lower_precision = true;
  EXPECT_EQ(skipped(task, "computed one precision lower"), "the task permits it: numerics.lower_precision = true");
  task = product();
  task.definition.inputs = {task.definition.inputs[2]};
  EXPECT_EQ(skipped(task, "inputs mutated"), "there is no input tensor");
  EXPECT_EQ(skipped(task, "computed one precision lower"),
            "no input tensor has a floating type with a lower one below it");
}

TEST(Mutants, SpoilOneOutputAtATimeAndOneReductionAtATime) {
  model::Task task = product();
  task.definition.outputs.push_back({"z", std::vector<std::string>{"M"}, DType::float32, {}, {}});
  task.definition.inputs[1].shape = std::vector<std::string>{"K", "R"};
  task.definition.axes.push_back({"R", 8});
  const std::vector<Mutant> mutants = derive_mutants(task);
  EXPECT_EQ(find(mutants, "zeros (output y)").does, "every element of y is 0");
  EXPECT_EQ(find(mutants, "zeros (output z)").does, "every element of z is 0");
  const std::string over_k = find(mutants, "1 % of the reduction skipped (over K)").solution.sources[0].text;
  EXPECT_NE(over_k.find("changed_lhs"), std::string::npos);
  EXPECT_NE(over_k.find("changed_rhs"), std::string::npos);
  const std::string over_r = find(mutants, "1 % of the reduction skipped (over R)").solution.sources[0].text;
  EXPECT_EQ(over_r.find("changed_lhs"), std::string::npos);
}

TEST(Mutants, AScalarCountsAsOneOfItsValues) {
  model::Task task = product();
  const auto call = [&](const char* init) {
    task.definition.inputs[2].init = *model::parse_init(init);
    const std::string text = find(derive_mutants(task), "scalar ignored").solution.sources[0].text;
    return text.substr(text.rfind("  baseline_of_the_task("));
  };
  EXPECT_EQ(call("constant(0.5)"), "  baseline_of_the_task(lhs, rhs, (float)(0.5), y, M);\n}\n");
  EXPECT_EQ(call("uniform(1, 2)"), "  baseline_of_the_task(lhs, rhs, (float)(1), y, M);\n}\n");
  EXPECT_EQ(call("ones"), "  baseline_of_the_task(lhs, rhs, (float)(1), y, M);\n}\n");
}

TEST(Mutants, ACopyIsOfTheInputOfTheSameShapeIfThereIsOne) {
  model::Task task = product();
  EXPECT_EQ(find(derive_mutants(task), "copy of input").does, "y is a copy of lhs");
  task.definition.inputs[1].shape = task.definition.outputs[0].shape;
  EXPECT_EQ(find(derive_mutants(task), "copy of input").does, "y is a copy of rhs");
}

TEST(Mutants, OfIntegers_AreNarrower) {
  model::Task task = product();
  for (model::TensorSpec& input : task.definition.inputs) {
    if (input.shape) input = {input.name, input.shape, DType::int32, {model::InitKind::integers, 0, 100}, {}};
  }
  task.definition.outputs[0].dtype = DType::int64;
  const std::vector<Mutant> mutants = derive_mutants(task);
  const Mutant& half = find(mutants, "integers in half the width (output y)");
  EXPECT_EQ(half.kind, MutantKind::half_width);
  EXPECT_NE(half.solution.sources[0].text.find("y[mutant_i] = (int32_t)y[mutant_i];"), std::string::npos);
  for (const char* input : {"lhs", "rhs"}) {
    const std::string behind = std::string(" bits (input ") + input + ")";
    EXPECT_NE(find(mutants, "inputs cut to 16" + behind).solution.sources[0].text.find("(int16_t)mutant_changed_"),
              std::string::npos);
    EXPECT_EQ(find(mutants, "inputs cut to 8" + behind).kind, MutantKind::narrow_input);
  }
  task.definition.inputs[0].dtype = DType::uint16;
  task.definition.inputs[1].init.kind = model::InitKind::permutation;
  task.definition.outputs[0].dtype = DType::int8;
  EXPECT_EQ(derive_mutants(task).size(), derive_mutants(product()).size() + 1)
      << "of 16 bits only 8 are fewer, an order is none of numbers, and there is no int4_t";
  EXPECT_NE(find(derive_mutants(task), "inputs cut to 8 bits (input lhs)").does.find("uint8_t"), std::string::npos);
}

TEST(Mutants, VariantsOfTheTaskTellWhatWouldMendIt) {
  model::Task task = product();
  task.definition.numerics = {true, 1e-2};
  task.definition.inputs[0].init = {model::InitKind::zeros, 0, 0};
  task.definition.inputs[1].dtype = DType::int32;
  const model::Task measured = with_measured_bounds(task);
  EXPECT_FALSE(measured.definition.numerics.lower_precision);
  EXPECT_FALSE(measured.definition.numerics.normwise.has_value());
  EXPECT_EQ(measured.definition.inputs[0].init.kind, model::InitKind::zeros);
  model::Workload listing{"listing", {}, model::Role::check, 1.0};
  for (const model::TensorSpec& input : task.definition.inputs)
    listing.inits.emplace(input.name, model::InitSpec{model::InitKind::ones});
  task.workloads.push_back(listing);
  const model::Task rich = with_rich_inputs(task);
  for (const model::TensorSpec& input : rich.definition.inputs) {
    EXPECT_EQ(rich.workloads.back().inits.contains(input.name), !model::is_floating(input.dtype))
        << "a workload's own floating inputs become rich, too";
  }
  EXPECT_FALSE(rich.definition.numerics.normwise.has_value());
  EXPECT_EQ(rich.definition.inputs[0].init.kind, model::InitKind::normal);
  EXPECT_EQ(rich.definition.inputs[0].families.size(), model::kTransformations.size() - 2)
      << "extremes is of integers, outliers come with scaled";
  task.definition.outputs[0].dtype = DType::int32;
  EXPECT_EQ(with_rich_inputs(task).definition.inputs[0].families.size(), model::kTransformations.size() - 3)
      << "which of two nearly equal values an index names is for each kernel to say";
  EXPECT_TRUE(rich.definition.inputs[1].families.empty()) << "integers keep their meaning";
  EXPECT_TRUE(rich.definition.inputs[2].families.empty()) << "scalars have no families";
}

TEST(Mutants, SmallConstantsAreDroppedFromCodeAlone) {
  const auto text =
      without_small_constants("/* 1e-5 */ a = b + 1e-5f; // 1e-6\nc = x1e-5 + 2.5e-3 + 1E-6 + 1.5e2 + 7.;\n");
  EXPECT_EQ(text, "/* 1e-5 */ a = b + 0.0f; // 1e-6\nc = x1e-5 + 2.5e-3 + 0.0 + 1.5e2 + 7.;\n");
  EXPECT_FALSE(without_small_constants("y = 0.5f * 1e3f; // 1e-9"));
  EXPECT_FALSE(without_small_constants(""));
}

/// Every mutant of every bundled CUDA task has a plan that can be launched, for every workload.
TEST(CudaMutants, OfTheBundledTasksHaveLaunchPlans) {
  const auto tasks = find_suite_tasks(std::filesystem::path(ACCELOPT_SUITES) / "nkibench-cuda");
  ASSERT_TRUE(tasks);
  for (const auto& folder : *tasks) {
    const auto task = load_task(folder);
    ASSERT_TRUE(task) << task.error().message;
    const std::vector<Mutant> mutants = derive_mutants(*task);
    EXPECT_GE(mutants.size(), 14U);
    std::size_t applied = 0;
    for (const Mutant& mutant : mutants) {
      if (!mutant.skipped.empty()) continue;
      ++applied;
      SCOPED_TRACE(task->definition.name + ": " + mutant.name);
      const auto directives = model::parse_device_directives(main_text(mutant.solution));
      ASSERT_TRUE(directives) << directives.error().line << ": " << directives.error().message;
      for (const model::Workload& workload : task->workloads) {
        const auto plan = model::bind_launch_plan(*directives, task->definition, bind_axes(task->definition, workload),
                                                  {}, targets::cuda::description().launch_limits);
        ASSERT_TRUE(plan) << workload.name << ": " << plan.error().line << ": " << plan.error().message;
      }
    }
    EXPECT_GE(applied, 7U) << task->definition.name;
  }
}

/// Axes and tensors may have such names: a mutant that declared one of them would hide the task's own.
TEST(Mutants, DeclareNoNameThatAnAxisMayHave) {
  model::Task cuda = product();
  cuda.target = "cuda";
  cuda.definition.outputs[0].shape = std::vector<std::string>{"M", "K"};
  cuda.baseline = {model::Language("cuda"),
                   {{"baseline.cu",
                     "//@ launch run grid=(M) block=(32) args=(lhs, y, M)\n"
                     "extern \"C\" __global__ void run(float* x) { *x = expf(*x - fmaxf(*x, 1)); }\n"}}};
  model::Task in_place = product();
  in_place.definition.inputs[0].inout = in_place.definition.outputs[0].inout = true;
  const std::regex names(
      R"(\b(rows?|columns|length|count|first|largest|i|outer|inner|extent|skipped|place|sums?|mean)\b)");
  for (const model::Task& task : {product(), in_place, cuda}) {
    for (const Mutant& mutant : derive_mutants(task)) {
      if (!mutant.skipped.empty()) continue;
      std::smatch found;
      const std::string& text = mutant.solution.sources[0].text;
      EXPECT_FALSE(std::regex_search(text, found, names)) << mutant.name << " has " << found.str() << ":\n" << text;
    }
  }
}

TEST(CudaMutants, StatisticsAreLeftOutWhereTheReducedAxisIsAlsoAnOutputs) {
  const auto task =
      load_task(std::filesystem::path(ACCELOPT_SUITES).parent_path() / "examples" / "cuda" / "row_softmax");
  ASSERT_TRUE(task) << task.error().message;
  const std::vector<Mutant> mutants = derive_mutants(*task);
  const Mutant& mutant = find(mutants, "1 % left out of the statistics");
  EXPECT_EQ(mutant.skipped, "");
  const auto directives = model::parse_device_directives(main_text(mutant.solution));
  ASSERT_TRUE(directives);
  const auto baseline = model::parse_device_directives(main_text(task->baseline));
  // The baseline, the changed input, the baseline again, and what is taken of it.
  ASSERT_EQ(directives->launches.size(), 2 * baseline->launches.size() + 2);
  EXPECT_EQ(directives->launches.back().args[0].text, "mutant_again_" + task->definition.outputs[0].name);
}

model::Task cuda_task_of(const std::string& folder) {
  const auto task = load_task(std::filesystem::path(ACCELOPT_SUITES).parent_path() / folder);
  EXPECT_TRUE(task) << task.error().message;
  return task ? *task : model::Task();
}

/// Names of the launched kernels, in order.
std::vector<std::string> launched(const Mutant& mutant) {
  std::vector<std::string> out;
  const auto directives = model::parse_device_directives(main_text(mutant.solution));
  EXPECT_TRUE(directives);
  for (const auto& launch : directives->launches) out.push_back(launch.kernel);
  return out;
}

TEST(CudaMutants, StatisticsComeAnElementLate) {
  const std::vector<Mutant> mutants = derive_mutants(cuda_task_of("examples/cuda/row_softmax"));
  const Mutant& mutant = find(mutants, "statistics an element late");
  EXPECT_EQ(launched(mutant), (std::vector<std::string>{"softmax", "mutant_change_x", "softmax", "mutant_take_y"}));
  const std::string text = main_text(mutant.solution);
  EXPECT_NE(text.find("mutant_i / ((int64_t)1) % N > 0 ? x[mutant_i - ((int64_t)1)] : x[mutant_i]"), std::string::npos)
      << text;
  EXPECT_NE(
      text.find("if (mutant_i / ((int64_t)1) % N + 1 < N) y[mutant_i] = mutant_again_y[mutant_i + ((int64_t)1)];"),
      std::string::npos);
}

TEST(CudaMutants, TheMaximumIsTakenOverTheWrongAxis) {
  const auto kernels = [](const std::string& folder) {
    const std::vector<Mutant> mutants = derive_mutants(cuda_task_of(folder));
    return launched(find(mutants, "maximum over the wrong axis"));
  };
  EXPECT_EQ(kernels("examples/cuda/row_softmax"),
            (std::vector<std::string>{"mutant_change_x", "mutant_wrong_maximum", "softmax"}));
  // Where launches pass the rows on, it comes between them.
  EXPECT_EQ(kernels("suites/nkibench-cuda/bmm_softmax"),
            (std::vector<std::string>{"bmm", "mutant_wrong_maximum", "softmax_rows"}));
  EXPECT_EQ(kernels("suites/nkibench-cuda/gqa_full"),
            (std::vector<std::string>{"scores", "mutant_wrong_maximum", "softmax_rows", "weighted_sum"}));
  const std::vector<Mutant> mutants = derive_mutants(cuda_task_of("suites/nkibench-cuda/gqa_full"));
  const std::string text = main_text(find(mutants, "maximum over the wrong axis").solution);
  EXPECT_NE(text.find("__global__ void mutant_wrong_maximum(float* p, "), std::string::npos) << text;
  EXPECT_NE(text.find("float* const mutant_first = p + mutant_i / mutant_columns * mutant_rows * mutant_columns + "
                      "mutant_i % mutant_columns;"),
            std::string::npos);
}

TEST(CudaMutants, TheMaximumIsNotSubtracted) {
  const std::vector<Mutant> mutants = derive_mutants(cuda_task_of("suites/nkibench-cuda/gqa_full"));
  const Mutant& mutant = find(mutants, "maximum not subtracted");
  EXPECT_EQ(mutant.kind, MutantKind::maximum);
  const std::string text = main_text(mutant.solution);
  EXPECT_NE(text.find("largest = mutant_no_maximum(largest, row[j]);"), std::string::npos) << text;
  EXPECT_EQ(text.find("fmaxf("), std::string::npos);
  EXPECT_EQ(launched(mutant), (std::vector<std::string>{"scores", "softmax_rows", "weighted_sum"}));
}

TEST(CudaMutants, OfAMaximumNeedOneAndAnExponential) {
  EXPECT_FALSE(without_maximum("y = fmaxf(x, 0.0f);"));
  EXPECT_FALSE(without_maximum("y = expf(x); // fmaxf"));
  EXPECT_FALSE(without_maximum("y = expf(std::max(1, 2)) * my_fmaxf(1);"));
  const auto changed = without_maximum("y = expf(x - fmaxf(x, z)); // fmaxf(a)");
  ASSERT_TRUE(changed);
  EXPECT_TRUE(changed->ends_with("y = expf(x - mutant_no_maximum(x, z)); // fmaxf(a)")) << *changed;
  const std::vector<Mutant> mutants = derive_mutants(cuda_task_of("suites/nkibench-cuda/rmsnorm_matmul"));
  EXPECT_NE(find(mutants, "maximum not subtracted").skipped, "");
  EXPECT_NE(find(mutants, "maximum over the wrong axis").skipped, "");
  EXPECT_EQ(find(mutants, "statistics an element late").skipped, "");
}

TEST(CudaMutants, ScratchAndTensorMapsAreNotSharedByTheTwoRuns) {
  model::Task task = product();
  task.target = "cuda";
  task.definition.outputs[0].shape = std::vector<std::string>{"M", "K"};
  task.baseline = {model::Language("cuda"),
                   {{"baseline.cu",
                     "//@ scratch part float32 [M, K] zero\n"
                     "//@ tensormap tiles of lhs box=(32, 8) swizzle=128B\n"
                     "//@ launch run grid=(M) block=(32) smem=1024 args=(tiles, lhs, part, y, M)\n"
                     "/*\n//@ launch never grid=(1) block=(1) args=(y)\n*/\n"
                     "extern \"C\" __global__ void run() {}\n"}}};
  const std::vector<Mutant> mutants = derive_mutants(task);
  const std::string text = main_text(find(mutants, "1 % left out of the statistics").solution);
  EXPECT_NE(text.find("//@ scratch mutant_again_part float32 [M, K] zero\n"), std::string::npos) << text;
  EXPECT_NE(text.find("//@ tensormap mutant_again_tiles of mutant_changed_lhs box=(32, 8) swizzle=128B\n"),
            std::string::npos);
  EXPECT_NE(text.find("//@ launch run grid=(M) block=(32) smem=1024 args=(mutant_again_tiles, mutant_changed_lhs, "
                      "mutant_again_part, mutant_again_y, M)\n"),
            std::string::npos);
  EXPECT_NE(text.find("// launch run grid=(M)"), std::string::npos) << "the baseline's own lines are comments now";
  const auto directives = model::parse_device_directives(text);
  ASSERT_TRUE(directives);
  for (const auto& launch : directives->launches) EXPECT_NE(launch.kernel, "never");
}

TEST(Mutants, BundledTasks_TakeAllButElementwiseReductions) {
  for (const auto* name : {"adamw", "bmm_softmax", "mamba", "matmul", "silu"}) {
    const auto task = load_task(std::filesystem::path(ACCELOPT_SUITES) / "nkibench-cpu" / name);
    ASSERT_TRUE(task) << task.error().message;
    for (const Mutant& mutant : derive_mutants(*task)) {
      if (mutant.kind == MutantKind::epsilon) continue;  // where the baseline has such constants
      const bool elementwise = std::string_view(name) == "adamw" || std::string_view(name) == "silu";
      EXPECT_EQ(mutant.skipped.empty(), !(elementwise && mutant.kind == MutantKind::reduction))
          << name << ": " << mutant.name << ": " << mutant.skipped;
    }
  }
}

TEST(Mutants, ComparisonsWithNumbers_AreForcedBothWays) {
  model::Task task = product();
  task.baseline.sources[0].text =
      "#if __GNUC__ > 3\n#endif\n"
      "void kernel(const float* x, float* y) {  // x > 2\n"
      "  for (int i = 0; i < 4; ++i) {\n"
      "    if (x[i] > 1e6f) y[i] = x[i] <= -0.5 ? 1 : x[i] << 3;\n"
      "    const Vector<4> v = x[i] > y[i];\n"
      "  }\n}\n";
  const std::vector<Mutant> mutants = derive_mutants(task);
  const auto branches = std::count_if(mutants.begin(), mutants.end(),
                                      [](const Mutant& mutant) { return mutant.kind == MutantKind::branch; });
  EXPECT_EQ(branches, 4);
  const Mutant& never = find(mutants, "comparison always false (line 5, \"> 1e6f\")");
  EXPECT_NE(never.solution.sources[0].text.find("if (x[i] > 1e6f == 2) y"), std::string::npos);
  const Mutant& always = find(mutants, "comparison always true (line 5, \"<= -0.5\")");
  EXPECT_NE(always.solution.sources[0].text.find("x[i] <= -0.5 != 2 ? 1"), std::string::npos);
}

TEST(Mutants, ComparisonsOfValues_ChangeWhereTheyAreEqual) {
  model::Task task = product();
  task.baseline.sources[0].text =
      "#include <vector>\n"
      "extern \"C\" void kernel(const float* x, const double* edges, float* y, int64_t M, int64_t K) {\n"
      "  int64_t low = 0, high = M;\n"
      "  while (x[low] < x[high]) {\n"
      "    if (edges[low + 1] < x[high]) y[low] = static_cast<float>(x[low]);  // x[0] < y[0]\n"
      "    if (low < high) y[0] = 1; unsigned int at = 0; if (at < K) y[0] = 2;\n"
      "    float best = x[0];\n"
      "    if (x[low + 1] > best) best = x[low + 1];\n"
      "    if (x[low] > best) { best = x[low]; }\n"
      "    best = x[low] > best ? x[low] : best;\n"
      "    if (x[low] >= best) { best = x[low]; high = low; }\n"
      "    if (best < 2.0f) return;\n"
      "  }\n}\n";
  const std::vector<Mutant> mutants = derive_mutants(task);
  const auto boundaries = std::count_if(mutants.begin(), mutants.end(),
                                        [](const Mutant& mutant) { return mutant.kind == MutantKind::boundary; });
  EXPECT_EQ(boundaries, 2) << "not of loops, sizes, and maxima";
  const Mutant& less = find(mutants, "equal values the other way (line 5, \"edges[low + 1] < x[high]\")");
  EXPECT_NE(less.solution.sources[0].text.find("if (edges[low + 1] <= x[high]) y"), std::string::npos);
  const Mutant& greater = find(mutants, "equal values the other way (line 11, \"x[low] >= best\")");
  EXPECT_NE(greater.solution.sources[0].text.find("if (x[low] > best) { best"), std::string::npos);
}

TEST(Mutants, OtherText_HasNone) {
  model::Task task = product();
  task.target = "triton";
  task.baseline = {model::Language("python"), {{"baseline.py", "def kernel(x): pass\n"}}};

  EXPECT_TRUE(derive_mutants(task).empty());
}

}  // namespace
}  // namespace accelopt::suites
