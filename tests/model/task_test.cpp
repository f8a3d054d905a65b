// SPDX-License-Identifier: Apache-2.0
#include "model/task.hpp"

#include <gtest/gtest.h>

#include "model/identity.hpp"

namespace accelopt::model {
namespace {

Task matmul() {
  Task task;
  task.definition.name = "matmul";
  task.definition.axes = {{"M", std::nullopt}, {"K", 16}, {"N", 8}};
  TensorSpec x;
  x.name = "x";
  x.shape = {{"M", "K"}};
  x.init = *parse_init("normal(0, 0.5)");
  x.families = *parse_family("scaled");
  TensorSpec alpha;
  alpha.name = "alpha";
  TensorSpec y;
  y.name = "y";
  y.shape = {{"M", "N"}};
  task.definition.inputs = {x, alpha};
  task.definition.outputs = {y};
  task.definition.cost = {"2*M*N*K", "4*(M*K + M*N)"};
  Workload workload;
  workload.name = "small";
  workload.axes = {{"M", 4}};
  workload.role = Role::held_out;
  task.workloads = {workload};
  task.baseline = {Language::cpp, {{"baseline.cpp", "int x;"}}};
  task.reference = {"reference.cpp", "int y;"};
  task.entry = Entry{"../a.cpp", "f", {"x", "y", "int M"}, "", std::string(64, 'a')};
  task.cpu.cache = Cache::warm;
  return task;
}

TEST(Task, SurvivesJson) {
  const Task task = matmul();
  const base::Json json = task;
  const Task back = json.get<Task>();
  EXPECT_EQ(base::Json(back), json);
  EXPECT_EQ(back.definition.inputs[0].families.size(), 2U);
  EXPECT_FALSE(back.definition.inputs[1].shape);
  EXPECT_EQ(back.workloads[0].role, Role::held_out);
  EXPECT_EQ(back.cpu.cache, Cache::warm);
  EXPECT_EQ(back.entry->args[2], "int M");
  EXPECT_EQ(back.entry->content, task.entry->content);
}

TEST(Task, ShapesComeFromAllAxes) {
  const Task task = matmul();
  const AxisValues axes = bind_axes(task.definition, task.workloads[0]);
  EXPECT_EQ(shape_of(task.definition.inputs[0], axes), (std::vector<std::int64_t>{4, 16}));
  EXPECT_EQ(element_count(task.definition.inputs[0], axes), 64);
  EXPECT_EQ(element_count(task.definition.inputs[1], axes), 1);
  EXPECT_EQ(variable_axes(task.definition), (std::vector<std::string>{"M"}));
}

TEST(TaskId, ChangesWithWhatDecidesAMeasurementAndNotWithHints) {
  const Task task = matmul();
  Task other = task;
  other.hints = "it is slow";
  EXPECT_EQ(task_id(other), task_id(task));
  other.reference.text = "int z;";
  EXPECT_NE(task_id(other), task_id(task));
}

TEST(SourceId, IgnoresLayoutAndCommentsOnly) {
  const Solution a{Language::cpp, {{"k.cpp", "int f() { return 1; } // one"}}};
  const Solution same{Language::cpp, {{"k.cpp", "int f()\n{\n  return 1;\n}\n"}}};
  const Solution other{Language::cpp, {{"k.cpp", "int f() { return 2; }"}}};
  EXPECT_EQ(source_id(a), source_id(same));
  EXPECT_NE(source_id(a), source_id(other));
}

TEST(ParseInit, RoundTripsAndRefusesWithTheKnownForms) {
  for (const char* text :
       {"normal(0, 1)", "abs_normal(0, 2)", "uniform(-1, 1)", "integers(0, 10)", "zeros", "ones", "constant(3.5)",
        "permutation", "indptr(100)", "sorted(0, 1)", "distinct(0, 50)", "values(0, 3, 7.5)", "indptr(total)",
        "integers(1, page_size + 1)", "integers(-9223372036854775807, 9223372036854775807)",
        "integers(9007199254740993, 18446744073709551615)", "integers(0, 18446744073709551616)",
        "distinct(0, min(a, b))"}) {
    const auto spec = parse_init(text);
    ASSERT_TRUE(spec) << text;
    EXPECT_EQ(to_string(*spec), text);
  }
  for (const char* text : {"", "gauss(0, 1)", "normal(0)", "normal(0, 1", "zeros(1)", "uniform(a b, 1)", "values()",
                           "values(a)", "integers(0, cdiv(4, 2)", "indptr(x[0])"}) {
    const auto spec = parse_init(text);
    ASSERT_FALSE(spec) << text;
    EXPECT_EQ(spec.error().code, base::ErrorCode::parse);
    EXPECT_NE(spec.error().message.find("uniform(low, high)"), std::string::npos);
  }
}

TEST(ParseInit, ExpressionsHaveTheirValuesOnceTheAxesDo) {
  const auto open = parse_init("integers(1, cdiv(n, 2) + 1)");
  ASSERT_TRUE(open);
  const auto spec = bound(*open, {{"n", 9}});
  ASSERT_TRUE(spec);
  EXPECT_EQ(to_string(*spec), "integers(1, 6)");
  EXPECT_EQ(to_string(*bound(*open, {{"n", 36028797018963969}})), "integers(1, 18014398509481986)");
  EXPECT_EQ(bound(*open, {{"m", 9}}).error().code, base::ErrorCode::invalid_argument);
}

TEST(Workloads, DrawInputsInAWayOfTheirOwn) {
  Workload workload{.name = "w", .axes = {{"M", 3}}};
  TensorSpec lengths;
  lengths.name = "lengths";
  lengths.shape = {"M"};
  lengths.dtype = DType::int32;
  lengths.init = *parse_init("integers(0, 5)");
  EXPECT_EQ(to_string(init_of(workload, lengths)), "integers(0, 5)");
  EXPECT_FALSE(base::Json(workload).contains("inputs")) << "what has nothing new keeps its id";
  workload.inits.emplace("lengths", *parse_init("values(0, 3, 7)"));
  EXPECT_EQ(to_string(init_of(workload, lengths)), "values(0, 3, 7)");
  const auto back = base::Json(workload).get<Workload>();
  EXPECT_EQ(to_string(init_of(back, lengths)), "values(0, 3, 7)");
  Task task;
  task.workloads = {workload};
  EXPECT_EQ(schema_of(task), 3);
}

TEST(Identity, OrdersAndPrintsItsParts) {
  const Identity first{.iteration = 0, .parent = 1, .plan = 2, .attempt = 0, .fix = 3};
  Identity later = first;
  later.attempt = 1;
  EXPECT_LT(first, later);
  EXPECT_EQ(to_string(first), "i0.b1.p2.a0.f3");
  EXPECT_EQ(to_string(Identity{}), "");
  EXPECT_EQ(base::Json(first).get<Identity>(), first);
}

}  // namespace
}  // namespace accelopt::model
