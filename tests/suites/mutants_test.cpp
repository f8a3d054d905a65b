// SPDX-License-Identifier: Apache-2.0
#include "suites/mutants.hpp"

#include <gtest/gtest.h>

#include "suites/task_folder.hpp"

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
  ASSERT_EQ(mutants.size(), 9U);
  for (const Mutant& mutant : mutants) {
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

TEST(Mutants, ACopyIsOfTheInputOfTheSameShapeIfThereIsOne) {
  model::Task task = product();
  EXPECT_EQ(find(derive_mutants(task), "copy of input").does, "y is a copy of lhs");
  task.definition.inputs[1].shape = task.definition.outputs[0].shape;
  EXPECT_EQ(find(derive_mutants(task), "copy of input").does, "y is a copy of rhs");
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
  const model::Task rich = with_rich_inputs(task);
  EXPECT_FALSE(rich.definition.numerics.normwise.has_value());
  EXPECT_EQ(rich.definition.inputs[0].init.kind, model::InitKind::normal);
  EXPECT_EQ(rich.definition.inputs[0].families.size(), 6U);
  EXPECT_TRUE(rich.definition.inputs[1].families.empty()) << "integers keep their meaning";
  EXPECT_TRUE(rich.definition.inputs[2].families.empty()) << "scalars have no families";
}

TEST(Mutants, OfTheBundledTasksApplyButForReductionsOfElementwiseOperators) {
  for (const auto* name : {"adamw", "bmm_softmax", "mamba", "matmul", "silu"}) {
    const auto task = load_task(std::filesystem::path(ACCELOPT_SUITES) / "nkibench-cpu" / name);
    ASSERT_TRUE(task) << task.error().message;
    for (const Mutant& mutant : derive_mutants(*task)) {
      const bool elementwise = std::string_view(name) == "adamw" || std::string_view(name) == "silu";
      EXPECT_EQ(mutant.skipped.empty(), !(elementwise && mutant.kind == MutantKind::reduction))
          << name << ": " << mutant.name << ": " << mutant.skipped;
    }
  }
}

}  // namespace
}  // namespace accelopt::suites
