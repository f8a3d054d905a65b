// SPDX-License-Identifier: Apache-2.0
// The real Triton, where build/python has it: from a file to cubins and launch plans, and by its interpreter.
#include "targets/triton/capturer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <span>

#include "base/files.hpp"
#include "devices/cuda/cubin.hpp"

namespace accelopt::targets::triton {
namespace {

constexpr const char* kHead = "import torch\nimport triton\nimport triton.language as tl\n\n";
constexpr const char* kAdd = R"(
@triton.jit
def add_kernel(x, y, z, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(z + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)


)";
constexpr const char* kRun = R"(def run(x, y, z):
    n = x.numel()
    add_kernel[(triton.cdiv(n, 256),)](x, y, z, n, BLOCK=256)
)";

model::TensorSpec tensor(const std::string& name) {
  model::TensorSpec out;
  out.name = name;
  out.shape = std::vector<std::string>{"N"};
  return out;
}

model::TensorSpec scalar(const std::string& name) {
  model::TensorSpec out;
  out.name = name;
  return out;
}

model::Task add_task() {
  model::Task task;
  task.target = "triton";
  task.definition.name = "add";
  task.definition.axes = {{"N", std::nullopt}};
  task.definition.inputs = {tensor("x"), tensor("y")};
  task.definition.outputs = {tensor("z")};
  task.workloads = {{"large", {{"N", 4096}}, model::Role::race, 1.0},
                    {"large again", {{"N", 4096}}, model::Role::check, 1.0},
                    {"odd", {{"N", 1003}}, model::Role::check, 1.0}};
  return task;
}

model::Kernel kernel(const std::string& text) {
  return model::Kernel(model::Solution{model::Language("python"), {{"add.py", kHead + text}}});
}

/// One server for all: it takes a second to warm up.
class Capture : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const auto folder = base::TemporaryFolder::create("capture-test");
    CaptureOptions options = usual_options();
    if (!folder || !capture::find_python(options.python)) return;
    folder_ = new base::TemporaryFolder(std::move(const_cast<base::TemporaryFolder&>(*folder)));
    options.folder = folder_->path();
    auto made = Capturer::create(add_task(), options, {});
    ASSERT_TRUE(made) << made.error().message;
    capturer_ = made->release();
  }
  static void TearDownTestSuite() {
    delete capturer_;
    delete folder_;
    capturer_ = nullptr;
    folder_ = nullptr;
  }
  void SetUp() override {
    if (capturer_ == nullptr) GTEST_SKIP() << "no Triton in build/python (make fetch)";
  }

  static model::BuildReport built(const std::string& text) {
    const auto out = capturer_->build(kernel(text), {});
    EXPECT_TRUE(out) << out.error().message;
    return out ? (*out)->report : model::BuildReport();
  }
  static void expect_refused(const std::string& text, const std::string& why) {
    const model::BuildReport report = built(text);
    EXPECT_FALSE(report.built);
    EXPECT_NE(report.diagnostics.find(why), std::string::npos) << report.diagnostics;
  }

  static CaptureOptions usual_options() {
    CaptureOptions options;
    for (const char* name : {"ACCELOPT_PYTHON", "VIRTUAL_ENV", "PATH"}) {
      if (const char* const value = std::getenv(name)) options.python.environment[name] = value;
    }
    return options;
  }

  static Capturer* capturer_;
  static base::TemporaryFolder* folder_;
};
Capturer* Capture::capturer_ = nullptr;
base::TemporaryFolder* Capture::folder_ = nullptr;

TEST_F(Capture, VectorAdd_IsACubinAndAPlanPerShape) {
  const auto out = capturer_->build(kernel(std::string(kAdd) + kRun), {});
  ASSERT_TRUE(out) << out.error().message;
  const Built& built = **out;
  ASSERT_TRUE(built.report.built) << built.report.diagnostics;
  ASSERT_EQ(built.program.plans.size(), 2U);
  const devices::cuda::LaunchPlan& large = built.program.plans.at("N=4096");
  ASSERT_EQ(large.launches.size(), 1U);
  EXPECT_EQ(large.launches[0].kernel, "add_kernel");
  EXPECT_EQ(large.launches[0].grid[0], 16U);
  EXPECT_EQ(built.program.plans.at("N=1003").launches[0].grid[0], 4U);
  EXPECT_EQ(built.program.cubins.size(), 2U) << "4096 is a multiple of sixteen, which is compiled in";
  for (const auto& cubin : built.program.cubins) EXPECT_TRUE(devices::cuda::read_cubin(cubin.bytes));
  ASSERT_FALSE(built.report.remarks.empty());
  EXPECT_NE(built.report.remarks[0].find("registers a thread"), std::string::npos) << built.report.remarks[0];
}

TEST_F(Capture, EqualPrograms_HaveEqualIds) {
  const model::BuildReport one = built(std::string(kAdd) + kRun);
  const model::BuildReport other = built(std::string(kAdd) + "# another file\n" + kRun);
  const model::BuildReport returned =
      built(std::string(kAdd) +
            "def run(x, y):\n    z = torch.empty_like(x)\n    n = x.numel()\n"
            "    add_kernel[(triton.cdiv(n, 256),)](x, y, z, n, BLOCK=256)\n    return z\n");
  EXPECT_TRUE(returned.built) << returned.diagnostics;
  EXPECT_EQ(one.machine_code_id, other.machine_code_id);
  EXPECT_EQ(one.machine_code_id, returned.machine_code_id) << "what is returned is the output";
  const model::BuildReport wider =
      built(std::string(kAdd) + "def run(x, y, z):\n    add_kernel[(8,)](x, y, z, x.numel(), BLOCK=512)\n");
  EXPECT_NE(one.machine_code_id, wider.machine_code_id);
}

TEST_F(Capture, Contract_IsKept) {
  expect_refused("def run(x, y):\n    return x + y\n", "add.py:6: error: Tensor.add");
  expect_refused("def run(x, y, z):\n    pass\n", "no kernel is given the output z");
  expect_refused("def other(x, y):\n    return x\n", "run");
  expect_refused("def run(x, y, z:\n", "add.py:5");
  expect_refused("import numpy\ndef run(x, y, z):\n    pass\n", "numpy");
  expect_refused(std::string(kAdd) + "def run(x, y, z):\n    raise ValueError('no')\n", "ValueError");
  expect_refused("@triton.jit\ndef k(x):\n    tl.store(x, undefined)\n\ndef run(x, y, z):\n    k[(1,)](z)\n",
                 "undefined");
}

TEST_F(Capture, FileOfAnyName_IsTaken) {
  const std::string text = std::string(kHead) + kAdd + kRun;
  for (const char* name : {"my kernel.py", "k\xc3\xa9.py", ".hidden.py"}) {
    const auto out = capturer_->build(model::Kernel(model::Solution{model::Language("python"), {{name, text}}}), {});
    ASSERT_TRUE(out) << out.error().message;
    EXPECT_TRUE((*out)->report.built) << (*out)->report.diagnostics;
  }
}

TEST_F(Capture, OtherLanguage_IsNamed) {
  const auto out = capturer_->build(model::Kernel(model::Solution{model::Language::cpp, {{"k.cpp", "int x;"}}}), {});
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_NE((*out)->report.diagnostics.find("written in Python with Triton"), std::string::npos);
}

TEST_F(Capture, WhatTheDeviceRefuses_IsFoundBeforehand) {
  expect_refused(std::string(kAdd) + "def run(x, y, z):\n    add_kernel[(1, 70000)](x, y, z, 1, BLOCK=256)\n", "65535");
  expect_refused(
      "@triton.jit\ndef k(x):\n    tl.device_print('x', 1)\n    tl.store(x, 1.0)\n\ndef run(x, y, z):\n    "
      "k[(1,)](z)\n",
      "device_print");
}

TEST_F(Capture, FixedScalar_IsAConstantOfThePlan) {
  model::Task task = add_task();
  task.definition.inputs.push_back(scalar("scale"));
  task.definition.inputs.back().init = {model::InitKind::constant, 0.125};
  CaptureOptions options = usual_options();
  const auto made = Capturer::create(task, options, {});
  ASSERT_TRUE(made) << made.error().message;
  const auto out = (*made)->build(
      kernel(
          "@triton.jit\ndef k(x, z, s, n, BLOCK: tl.constexpr):\n    at = tl.program_id(0) * BLOCK + tl.arange(0, "
          "BLOCK)\n"
          "    tl.store(z + at, tl.load(x + at, mask=at < n) * s, mask=at < n)\n\n"
          "def run(x, y, scale, z):\n    k[(triton.cdiv(x.numel(), 256),)](x, z, scale * 2, x.numel(), BLOCK=256)\n"),
      {});
  ASSERT_TRUE(out) << out.error().message;
  ASSERT_TRUE((*out)->report.built) << (*out)->report.diagnostics;
  const auto& arguments = (*out)->program.plans.at("N=4096").launches.at(0).arguments;
  const float twice = 0.25F;
  std::uint32_t bits = 0;
  std::memcpy(&bits, &twice, sizeof bits);
  EXPECT_TRUE(std::any_of(arguments.begin(), arguments.end(), [&](const devices::cuda::Argument& argument) {
    return argument.kind == devices::cuda::Argument::Kind::constant && argument.bits == bits;
  }));
}

/// z = x * scale, y's first element of which the host may see, and a scale that is drawn.
struct Known : Capture {
  static constexpr const char* kKernel = R"(
@triton.jit
def k(x, z, s, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(z + at, tl.load(x + at, mask=at < n) * s, mask=at < n)


)";
  void SetUp() override {
    Capture::SetUp();
    if (IsSkipped()) return;
    model::Task task = add_task();
    task.definition.inputs[1].visible = true;
    task.definition.inputs.push_back(scalar("scale"));
    task.definition.inputs.back().init = {model::InitKind::uniform, 1, 2};
    CaptureOptions options = usual_options();
    options.folder = folder_->path();
    auto made = Capturer::create(task, options, {});
    ASSERT_TRUE(made) << made.error().message;
    known_ = std::move(*made);
  }
  static evaluation::Bytes bytes(std::vector<float> values) {
    const auto all = std::as_bytes(std::span(values));
    return {all.begin(), all.end()};
  }
  /// A slot of 1003 elements, of which all of y are `first`.
  static cuda::KnownInputs slot(std::uint64_t number, float first, float scale) {
    return {number, {{"N", 1003}}, {{}, bytes(std::vector<float>(1003, first)), bytes({scale})}};
  }
  static std::vector<std::uint64_t> constants_of(const devices::cuda::SlotProgram& slot) {
    std::vector<std::uint64_t> out;
    for (const auto& argument : slot.program->plans.at(slot.plan).launches.at(0).arguments) {
      if (argument.dtype == model::DType::float32 && argument.kind == devices::cuda::Argument::Kind::constant)
        out.push_back(argument.bits);
    }
    return out;
  }
  std::unique_ptr<Capturer> known_;
};

TEST_F(Known, EachSlot_HasAPlanWithItsValues) {
  const model::Kernel solution = kernel(std::string(kKernel) +
                                        "def run(x, y, scale, z):\n    k[(triton.cdiv(x.numel(), 256),)](x, z, "
                                        "y[0].item() + scale, x.numel(), BLOCK=256)\n");
  const auto built = known_->build(solution, {});
  ASSERT_TRUE(built) << built.error().message;
  ASSERT_TRUE((*built)->report.built) << (*built)->report.diagnostics;
  EXPECT_TRUE((*built)->per_slot);
  EXPECT_EQ((*built)->report.remarks.back(), "the host reads 1 element of y");
  const auto plans = known_->build_for(solution, {slot(5, 1, 0.5), slot(6, 2, 0.25)}, {});
  ASSERT_TRUE(plans) << plans.error().message;
  ASSERT_EQ(plans->size(), 2U);
  EXPECT_EQ(plans->at(0).problem, "");
  EXPECT_EQ(constants_of(plans->at(0)), std::vector<std::uint64_t>{std::bit_cast<std::uint32_t>(1.5F)});
  EXPECT_EQ(constants_of(plans->at(1)), std::vector<std::uint64_t>{std::bit_cast<std::uint32_t>(2.25F)});
  const auto again = known_->build_for(solution, {slot(6, 2, 0.25), slot(7, 0, 0.25)}, {});
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->at(0).program, plans->at(1).program) << "it is kept";
  EXPECT_NE(again->at(1).program, plans->at(1).program);
  EXPECT_EQ(again->at(1).program->cubins.at(0).bytes, plans->at(1).program->cubins.at(0).bytes);
}

TEST_F(Known, OneSlotThatFails_IsBlamedAlone) {
  const model::Kernel solution = kernel(std::string(kKernel) +
                                        "def run(x, y, scale, z):\n    assert y[3].item() < 5, 'too large'\n"
                                        "    k[(4,)](x, z, scale, x.numel(), BLOCK=256)\n");
  const auto plans = known_->build_for(solution, {slot(1, 1, 2), slot(2, 9, 2), slot(3, 2, 2)}, {});
  ASSERT_TRUE(plans) << plans.error().message;
  EXPECT_EQ(plans->at(0).problem, "");
  EXPECT_NE(plans->at(1).problem.find("too large"), std::string::npos) << plans->at(1).problem;
  EXPECT_EQ(plans->at(1).problem.find('\n'), std::string::npos);
  EXPECT_EQ(plans->at(2).problem, "");
}

TEST_F(Known, OutputOfKnownValuesAlone_IsRefused) {
  const auto built = known_->build(
      kernel(std::string(kKernel) + "def run(x, y, scale, z):\n    k[(4,)](y, z, scale, x.numel(), BLOCK=256)\n"), {});
  ASSERT_TRUE(built) << built.error().message;
  EXPECT_NE((*built)->report.diagnostics.find("the output z is made of what the host may see alone"), std::string::npos)
      << (*built)->report.diagnostics;
}

TEST_F(Known, SameCodeOfOtherTexts_HasOtherIds) {
  const std::string run = "def run(x, y, scale, z):\n    k[(4,)](x, z, scale, x.numel(), BLOCK=256)\n";
  const auto one = known_->build(kernel(kKernel + run), {});
  const auto other =
      known_->build(kernel(kKernel + run + "    if scale > 7:\n        k[(4,)](x, z, 0.0, 1, BLOCK=256)\n"), {});
  ASSERT_TRUE(one && other);
  EXPECT_NE((*one)->report.machine_code_id, (*other)->report.machine_code_id) << "they may differ on other values";
}

TEST_F(Known, Interpreter_TakesTheValuesOfItsCall) {
  const model::Kernel solution = kernel(std::string(kKernel) +
                                        "def run(x, y, scale, z):\n    k[(triton.cdiv(x.numel(), 256),)](x, z, "
                                        "y[0].item() + scale, x.numel(), BLOCK=256)\n");
  for (const float scale : {0.5F, 0.25F}) {
    cuda::KnownInputs known = slot(scale == 0.5F ? 11 : 12, 2, scale);
    std::vector<evaluation::Bytes> inputs = known.values;
    inputs[0] = bytes(std::vector<float>(1003, 4));
    const auto run = known_->interpret(solution, known, inputs, {});
    ASSERT_TRUE(run) << run.error().message;
    ASSERT_TRUE(*run) << run->error().reason;
    float z = 0;
    std::memcpy(&z, (*run)->at(0).data() + sizeof z, sizeof z);
    EXPECT_EQ(z, 4 * (2 + scale));
  }
}

TEST_F(Capture, Interpreter_GivesTheOutputs) {
  std::vector<float> x(1003);
  std::vector<float> y(1003);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(i);
    y[i] = 0.5F;
  }
  const auto bytes = [](const std::vector<float>& values) {
    const auto all = std::as_bytes(std::span(values));
    return evaluation::Bytes(all.begin(), all.end());
  };
  const auto run =
      capturer_->interpret(kernel(std::string(kAdd) + kRun), {1, {{"N", 1003}}, {}}, {bytes(x), bytes(y)}, {});
  ASSERT_TRUE(run) << run.error().message;
  ASSERT_TRUE(*run) << run->error().reason;
  std::vector<float> z(1003);
  ASSERT_EQ((*run)->at(0).size(), z.size() * sizeof(float));
  std::memcpy(z.data(), (*run)->at(0).data(), (*run)->at(0).size());
  for (std::size_t i = 0; i < z.size(); ++i) EXPECT_EQ(z[i], x[i] + y[i]) << i;

  const auto failed = capturer_->interpret(kernel("def run(x, y, z):\n    raise ValueError('no')\n"),
                                           {2, {{"N", 1003}}, {}}, {bytes(x), bytes(y)}, {});
  ASSERT_TRUE(failed) << failed.error().message;
  ASSERT_FALSE(*failed);
  EXPECT_NE(failed->error().reason.find("ValueError"), std::string::npos) << failed->error().reason;
  EXPECT_EQ(failed->error().end, evaluation::CallEnd::died);
}

TEST(FindPython, SaysWhatToInstall) {
  const auto found = capture::find_python({{{"ACCELOPT_PYTHON", "/nowhere/python3"}}});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, base::ErrorCode::unsupported);
  EXPECT_NE(found.error().message.find("/nowhere/python3"), std::string::npos) << found.error().message;
  EXPECT_NE(found.error().message.find("pip install triton==3.6.0"), std::string::npos) << found.error().message;
}

}  // namespace
}  // namespace accelopt::targets::triton
