// SPDX-License-Identifier: Apache-2.0
// Tensors that are changed in place, indices with ties, and types: what schema 2 of task.toml adds. Generators over
// axes and workloads that draw in a way of their own: what schema 3 adds.
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "suites/mutants.hpp"
#include "suites/task_folder.hpp"
#include "suites/task_reader.hpp"
#include "suites/task_writer.hpp"

namespace accelopt::suites {
namespace {

const std::string kHead = R"toml(schema = 2
name = "t"
target = "cpu"
[axes]
Q = "var"
N = 64
k = 3
)toml";
const std::string kTail = R"toml(
[[workloads]]
name = "w"
axes = { Q = 8 }
role = "race"
)toml";
const std::string kInput = "[[inputs]]\nname = \"a\"\nshape = [\"Q\"]\ndtype = \"float32\"\ninit = \"normal(0, 1)\"\n";
const std::string kInout =
    "[[inout]]\nname = \"x\"\nshape = [\"Q\", \"N\"]\ndtype = \"float32\"\ninit = \"normal(0, 1)\"\n";
const std::string kPlaces =
    "[[outputs]]\nname = \"places\"\nshape = [\"Q\", \"k\"]\ndtype = \"int32\"\nties = \"dists\"\n";
const std::string kDists = "[[ties]]\nname = \"dists\"\nshape = [\"Q\", \"N\"]\ndtype = \"float32\"\n";

class TensorKinds : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = base::TemporaryFolder::create("accelopt-task");
    ASSERT_TRUE(folder) << folder.error().message;
    folder_ = std::move(*folder);
  }
  base::Result<model::Task> load(const std::string& tensors, const std::string& head = kHead) {
    return load_text(head + tensors + kTail);
  }
  base::Result<model::Task> load_text(const std::string& toml) {
    EXPECT_TRUE(base::write_file(folder_->path() / "task.toml", toml));
    EXPECT_TRUE(base::write_file(folder_->path() / "baseline.cpp", "extern \"C\" void kernel();\n"));
    EXPECT_TRUE(base::write_file(folder_->path() / "reference.cpp", "extern \"C\" void reference();\n"));
    return load_task(folder_->path());
  }
  void expect_refused(const std::string& tensors, std::string_view message, const std::string& head = kHead) {
    const auto task = load(tensors, head);
    ASSERT_FALSE(task) << "loads in spite of " << message;
    EXPECT_NE(task.error().message.find(message), std::string::npos) << task.error().message;
  }
  /// The task after it was written and read again is the same.
  void expect_written_back(const model::Task& task) {
    ASSERT_TRUE(write_task(task, folder_->path() / "copy"));
    const auto copy = load_task(folder_->path() / "copy");
    ASSERT_TRUE(copy) << copy.error().message;
    EXPECT_EQ(base::Json(*copy).dump(1), base::Json(task).dump(1));
    EXPECT_EQ(base::Json(base::Json(task).get<model::Task>()), base::Json(task));
  }

  std::optional<base::TemporaryFolder> folder_;
};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  text.replace(text.find(from), from.size(), to);
  return text;
}

TEST_F(TensorKinds, KnownKeys_AreListedOnce) {
  expect_refused(kInput + kInout,
                 "known keys are schema, name, op_type, description, axes, inputs, inout, outputs, ties,",
                 "op_typ = \"t\"\n" + kHead);
}

TEST_F(TensorKinds, InoutTensorsAreInputsAndOutputs) {
  const auto task = load(kInput + kInout);
  ASSERT_TRUE(task) << task.error().message;
  ASSERT_EQ(task->definition.inputs.size(), 2U);
  ASSERT_EQ(task->definition.outputs.size(), 1U);
  EXPECT_FALSE(model::is_passed_as_input(task->definition.inputs[1]));
  EXPECT_EQ(model::contents_of(task->definition, task->definition.outputs[0]), 1U);
  expect_written_back(*task);
}

TEST_F(TensorKinds, InoutTensorsHaveAShapeAndAnInit) {
  expect_refused(replaced(kInout, "shape = [\"Q\", \"N\"]\n", ""), "inout[0].shape: missing");
  expect_refused(replaced(kInout, "init = \"normal(0, 1)\"\n", ""), "inout[0].init: missing");
  expect_refused(kInput, "outputs: missing");
  expect_refused(replaced(kInput, "\"a\"", "\"x\"") + kInout, "is already the name of an input");
}

TEST_F(TensorKinds, OldSchemasHaveNoNewKeys) {
  const std::string old = replaced(kHead, "schema = 2", "schema = 1");
  expect_refused(kInout, "schema: must be 2", old);
  expect_refused(kInput + kPlaces + kDists, "schema: must be 2", old);
  const std::string wide = "[[outputs]]\nname = \"y\"\nshape = [\"Q\"]\ndtype = \"uint32\"\n";
  expect_refused(kInput + wide, "schema: must be 2", old);
  const auto task = load(kInput + wide);
  ASSERT_TRUE(task) << task.error().message;
  expect_written_back(*task);
  const auto plain = load(kInput + replaced(wide, "uint32", "int32"));
  ASSERT_TRUE(plain);
  EXPECT_EQ(model::schema_of(*plain), 1) << "what has nothing new opens everywhere";
}

const std::string kPaged = R"toml(schema = 3
name = "t"
target = "cpu"
[axes]
Q = "var"
pages = "var"
[[inputs]]
name = "ids"
shape = ["Q"]
dtype = "int32"
init = "GENERATOR"
[[outputs]]
name = "y"
shape = ["Q"]
dtype = "float32"
[[workloads]]
name = "a"
role = "race"
axes = { Q = 3, pages = 9 }
)toml";

TEST_F(TensorKinds, GeneratorsTakeAxes) {
  for (const char* init : {"distinct(0, pages)", "indptr(pages)", "integers(1, pages * 2 + 1)", "values(0, 1, 2)"}) {
    const auto task = load_text(replaced(kPaged, "GENERATOR", init));
    ASSERT_TRUE(task) << task.error().message;
    expect_written_back(*task);
    EXPECT_EQ(model::schema_of(*task), 3);
  }
  for (const auto& [init, message] : {std::pair{"distinct(0, blocks)", "inputs[0].init: unknown axis \"blocks\""},
                                      {"distinct(0, pages - 7)", "distinct(0, 2) holds fewer numbers than a row"},
                                      {"integers(pages, 5)", "integers(9, 5): the low end must be under the high end"},
                                      {"indptr(pages / 0)", "workloads[0].axes: \"ids\": "},
                                      {"values(0, 1)", "the input has 3 elements"},
                                      {"values(0, 1, 7.5)", "not whole"},
                                      {"values(0, 1, 3000000000)", "int32 does not hold"}}) {
    const auto task = load_text(replaced(kPaged, "GENERATOR", init));
    ASSERT_FALSE(task) << init;
    EXPECT_NE(task.error().message.find(message), std::string::npos) << task.error().message;
  }
}

TEST_F(TensorKinds, WorkloadsDrawInputsOfTheirOwn) {
  const std::string drawn = replaced(kPaged, "GENERATOR", "integers(0, 9)");
  const auto with = [&](const std::string& own) { return load_text(drawn + "inputs = { " + own + " }\n"); };
  const auto task = with("ids = \"values(2, 0, 1)\"");
  ASSERT_TRUE(task) << task.error().message;
  expect_written_back(*task);
  EXPECT_EQ(to_string(model::init_of(task->workloads[0], task->definition.inputs[0])), "values(2, 0, 1)");
  for (const auto& [own, message] :
       {std::pair{"idz = \"ones\"", "workloads[0].inputs.idz: unknown input \"idz\"; did you mean \"ids\"?"},
        {"ids = \"values(2, 0)\"", "workloads[0].inputs: \"ids\": values(2, 0): the input has 3 elements"},
        {"ids = \"magic(2)\"", "workloads[0].inputs.ids: cannot read"},
        {"ids = \"normal(0, 1)\"", "draws real numbers"},
        {"ids = \"integers(0, rows)\"", "unknown axis \"rows\""}}) {
    const auto refused = with(own);
    ASSERT_FALSE(refused) << own;
    EXPECT_NE(refused.error().message.find(message), std::string::npos) << refused.error().message;
  }
  const auto old = load_text(replaced(drawn, "schema = 3", "schema = 2") + "inputs = { ids = \"ones\" }\n");
  ASSERT_FALSE(old);
  EXPECT_NE(old.error().message.find("schema: must be 3"), std::string::npos) << old.error().message;
}

TEST_F(TensorKinds, OtherTargetsRefuseThemByName) {
  const std::string cuda = replaced(kHead, "target = \"cpu\"", "target = \"cuda\"");
  expect_refused(kInout, "inout: only tasks with target = \"cpu\"", cuda);
  expect_refused(kInput + kPlaces + kDists, "ties: only tasks with target = \"cpu\"", cuda);
}

TEST_F(TensorKinds, InputsThatTheHostMaySee) {
  const std::string schema = "schema = 3";
  const std::string triton = replaced(replaced(kHead, "target = \"cpu\"", "target = \"triton\""),
                                      kHead.substr(kHead.find("schema"), schema.size()), schema);
  const std::string output = "[[outputs]]\nname = \"y\"\nshape = [\"Q\"]\ndtype = \"float32\"\n";
  const std::string seen = kInput + "visible = true\n";
  expect_refused(seen + output, "inputs: \"a\": only tasks with target = \"triton\" may have inputs that are visible",
                 replaced(triton, "target = \"triton\"", "target = \"cuda\""));
  expect_refused(seen + output, "schema: must be 3", replaced(triton, schema, "schema = 2"));
  expect_refused(replaced(seen, "shape = [\"Q\"]\n", "") + output, "inputs[0].visible: a scalar is passed by value",
                 triton);
  expect_refused(seen + replaced(output, "dtype", "visible = true\ndtype"), "outputs[0].visible", triton);
  expect_refused(replaced(seen, "[\"Q\"]", "[\"Q\", \"N\"]") + output, "larger than 1 MiB together",
                 replaced(triton, "N = 64", "N = 65536"));
  const auto task = read_task_toml(triton + seen + output + kTail);
  ASSERT_TRUE(task.problems.empty()) << task.problems.front().message;
  EXPECT_TRUE(task.task.definition.inputs.at(0).visible);
  EXPECT_TRUE(base::Json(task.task).get<model::Task>().definition.inputs.at(0).visible);
  EXPECT_FALSE(base::Json(task.task)["definition"]["outputs"][0].contains("visible")) << "other ids stay";
  EXPECT_TRUE(read_task_toml(format_task_toml(task.task)).task.definition.inputs.at(0).visible);
}

TEST_F(TensorKinds, TiesNameRowsOfValues) {
  const auto task = load(kInput + kPlaces + kDists);
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_EQ(model::ties_of(task->definition, task->definition.outputs[0]), 1U);
  EXPECT_EQ(model::reference_definition(task->definition).outputs.back().name, "dists");
  EXPECT_FALSE(model::has_exact_output(task->definition));
  expect_written_back(*task);
  EXPECT_TRUE(load(kInput + replaced(kPlaces, "[\"Q\", \"k\"]", "[\"Q\"]") + kDists));
}

TEST_F(TensorKinds, TiesThatNameNothingAreRefused) {
  expect_refused(kInput + kPlaces, "\"dists\" is no [[ties]] tensor and no output");
  expect_refused(kInput + replaced(kPlaces, "int32", "float32") + kDists, "belongs to outputs that are indices");
  expect_refused(kInput + kPlaces + replaced(kDists, "float32", "int32"), "must have a floating dtype");
  expect_refused(kInput + kPlaces + replaced(kDists, "[\"Q\", \"N\"]", "[\"N\", \"Q\"]"),
                 "must have the output's rows");
  expect_refused(kInput + kPlaces + replaced(kDists, "[\"Q\", \"N\"]", "[]"), "must have the output's rows");
  expect_refused(kInput + replaced(kPlaces, "[\"Q\", \"k\"]", "[]") + kDists, "must have the output's rows");
  expect_refused(kInput + replaced(kPlaces, "ties = \"dists\"\n", "") + kDists, "no output says ties = \"dists\"");
}

TEST_F(TensorKinds, MutantsOfInoutTensorsChangeThemInPlace) {
  const auto task = load(kInout);
  ASSERT_TRUE(task) << task.error().message;
  bool left = false;
  for (const Mutant& mutant : derive_mutants(*task)) {
    EXPECT_TRUE(mutant.kind != MutantKind::mutated_input || !mutant.skipped.empty()) << "it may change its tensor";
    if (!mutant.skipped.empty() || mutant.kind == MutantKind::epsilon) continue;
    const std::string& text = mutant.solution.sources.front().text;
    EXPECT_NE(text.find("void kernel(float* x, int64_t Q)"), std::string::npos) << text;
    left = left || mutant.does == "x is left as it was";
  }
  EXPECT_TRUE(left);
}

TEST_F(TensorKinds, ExtremesAreOfIntegers) {
  const std::string output = "[[outputs]]\nname = \"y\"\nshape = [\"Q\"]\ndtype = \"int32\"\n";
  const std::string extremes = "families = [\"extremes\"]\n";
  expect_refused(kInput + extremes + output, "extremes is for integer inputs");
  const std::string integers = replaced(replaced(kInput, "float32", "int32"), "normal(0, 1)", "integers(0, 9)");
  expect_refused(integers + "families = [\"rows\"]\n" + output, "only floating inputs can be transformed");
  const auto task = load(integers + extremes + output);
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_EQ(task->definition.inputs[0].families, std::vector{model::Family::extremes});
  expect_written_back(*task);
}

}  // namespace
}  // namespace accelopt::suites
