// SPDX-License-Identifier: Apache-2.0
// What calls may do to the variables of a program, over the fake driver.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/files.hpp"
#include "devices/cuda/cubin.hpp"
#include "devices/cuda/open_task.hpp"
#include "fakes/cuda/compile.hpp"

namespace accelopt::devices::cuda {
namespace {

using evaluation::CallEnd;

constexpr std::int64_t kElements = 64;

/// y[i] = 2 x[i], with `before` above the kernel and `within` in front of the store.
std::string doubling(const std::string& before, const std::string& within) {
  return before + R"(
extern "C" __global__ void twice(const real* x, real* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  real two = 2;
)" + within +
         R"(
  y[i] = two * x[i];
}
)";
}

std::string variable_cubin(const std::string& text, const std::string& real = "float") {
  const auto out = fakes::compile_cubin(text, "", "-Dreal=" + real);
  EXPECT_TRUE(out) << out.error().message;
  return out.value_or("");
}

Program doubling_program(const std::string& cubin) {
  Program out;
  out.cubins = {{cubin, {}}};
  Launch launch;
  launch.kernel = "twice";
  launch.grid = {2, 1, 1};
  launch.block = {kElements / 2, 1, 1};
  launch.arguments = {tensor_argument("x"), tensor_argument("y")};
  out.plans["all"].launches = {launch};
  return out;
}

class Variables : public testing::Test {
 protected:
  void SetUp() override { open(ACCELOPT_FAKE_DRIVER); }

  void open(const std::string& driver) {
    model::Definition definition;
    definition.axes = {{"M", std::nullopt}};
    definition.inputs.emplace_back().name = "x";
    definition.outputs.emplace_back().name = "y";
    for (model::TensorSpec* tensor : {&definition.inputs[0], &definition.outputs[0]})
      tensor->shape = std::vector<std::string>{"M"};
    auto process = ServerProcess::create(ACCELOPT_DEVICE_PATH);
    ASSERT_TRUE(process) << process.error().message;
    task_.reset();
    task_.emplace(OpenTask{definition, DeviceClient(std::move(*process), {0, driver, "", 0}),
                           [](const evaluation::Invocation&) { return std::string("all"); }});
    const auto checks = base::read_file(ACCELOPT_FAKE_CHECK_KERNELS);
    ASSERT_TRUE(checks) << checks.error().message;
    task_->device.set_check_kernels(*checks);
    const model::Workload workload{"all", {{"M", kElements}}, model::Role::race, 1.0};
    evaluation::SlotPlan plan{workload, invocation_, {}, 7, true};
    plan.inputs.push_back(
        {{model::InitKind::normal, 0, 1}, model::DType::float32, {kElements}, model::Family::as_declared, 11});
    auto recipe = slot_recipe(task_->definition, plan);
    ASSERT_TRUE(recipe) << recipe.error().message;
    for (auto* reference : {&recipe->request.in_double, &recipe->request.in_float}) {
      const char* const real = reference == &recipe->request.in_double ? "double" : "float";
      *reference = {
          task_->device.add(std::make_shared<Program>(doubling_program(variable_cubin(doubling("", ""), real)))),
          workload.name};
    }
    const auto bounds = task_->device.prepare(invocation_.number, std::move(*recipe));
    ASSERT_TRUE(bounds) << bounds.error().message;
  }

  std::unique_ptr<evaluation::LiveKernel> start(const std::string& before, const std::string& within) {
    return start_program(*task_, std::make_shared<Program>(doubling_program(variable_cubin(doubling(before, within)))));
  }
  /// "right", "wrong", or why the call did not end.
  std::string outcome_of(evaluation::LiveKernel& kernel) {
    evaluation::CallOptions options;
    options.limit = std::chrono::seconds(10);
    options.alone = !task_->variants.contains(invocation_.axes);
    const auto outcome = kernel.call(invocation_, options);
    if (!outcome) return outcome.error().message;
    if (outcome->end != CallEnd::returned) return outcome->reason;
    return outcome->comparisons.at(0).passed() ? "right" : "wrong";
  }
  std::string outcome_with(const std::string& before, const std::string& within) {
    return outcome_of(*start(before, within));
  }

  const evaluation::Invocation invocation_{1, {}, {}, {kElements}};
  std::optional<OpenTask> task_;
};

TEST_F(Variables, ThatAreOnlyRead_Pass) {
  const auto kernel = start("__device__ __managed__ float factor[3] = {1, 2, 3}; __constant__ float other[2] = {2, 2};",
                            "two = factor[1] * other[i % 2] / 2;");
  for (int call = 0; call < 3; ++call) EXPECT_EQ(outcome_of(*kernel), "right");
}

TEST_F(Variables, ThatCount_AreNamed) {
  EXPECT_EQ(
      outcome_with("__device__ __managed__ unsigned other = 7; __device__ __managed__ unsigned calls[2];",
                   "atomicAdd(&calls[1], other);"),
      "changed its variable \"calls\" (8 bytes), which would keep its value from call to call: leave it as it was "
      "found, or use scratch memory");
  EXPECT_EQ(
      outcome_with("namespace { __device__ __managed__ unsigned other = 7, calls = 1; }", "atomicAdd(&calls, other);")
          .find("changed its variable \"(anonymous namespace)::calls\" (4 bytes)"),
      0U);
}

TEST_F(Variables, OfTheConstantBank_AreNamedWhereTheyChange) {
  EXPECT_NE(outcome_with("__constant__ float table[2] = {1, 2};", "*static_cast<volatile float*>(&table[1]) = 3.0f;")
                .find("\"table\" (8 bytes)"),
            std::string::npos);
}

TEST_F(Variables, WhatLiesBehindThem_IsPartOfThem) {
  EXPECT_NE(outcome_with("__device__ __managed__ float a = 1; __device__ __managed__ float b = 2;", "(&a)[63] = b;")
                .find("\"a\" (4 bytes)"),
            std::string::npos);
}

TEST_F(Variables, ThatAreSetBackByTheLastBlock_Pass) {
  const auto kernel = start("__device__ __managed__ unsigned arrived;",
                            "if (threadIdx.x == 0 && atomicAdd(&arrived, 1u) + 1 == gridDim.x) arrived = 0;");
  for (int call = 0; call < 3; ++call) EXPECT_EQ(outcome_of(*kernel), "right");
}

TEST_F(Variables, ThatChangeInALaterCall_AreSeenThere) {
  const auto kernel =
      start("__device__ __managed__ unsigned calls;", "static unsigned hidden; if (i == 0 && ++hidden > 4) calls = 1;");
  std::string outcome = outcome_of(*kernel);
  EXPECT_EQ(outcome, "right");  // a call is repeated twice at most, where the host is late
  for (int call = 0; call < 5 && outcome == "right"; ++call) outcome = outcome_of(*kernel);
  EXPECT_NE(outcome.find("changed its variable \"calls\""), std::string::npos) << outcome;
}

TEST_F(Variables, WorkLeftToTheNextSetOfACall_IsFoundOut) {
  task_->variants[invocation_.axes] = 2;
  const auto honest = start("__device__ __managed__ float factor = 2;", "two = factor;");
  const auto lazy = start("__device__ __managed__ const real* left_x; __device__ __managed__ real* left_y;", R"(
  const bool last = i == 63;
  if (left_y == nullptr) {
    if (last) left_x = x, left_y = y;
    return;
  }
  left_y[i] = two * left_x[i];
  if (last) left_x = nullptr, left_y = nullptr;
)");
  std::string outcome = "right";
  for (int call = 0; call < 300 && outcome == "right";
       ++call) {  // each is found out with a probability of one in eight
    EXPECT_EQ(outcome_of(*honest), "right");
    outcome = outcome_of(*lazy);
  }
  EXPECT_NE(outcome.find("changed its variable \"left_"), std::string::npos) << outcome;
}

TEST_F(Variables, OfAnotherProgram_AreNotToBeWritten) {
  const auto other = start("__device__ __managed__ unsigned table[2] = {2, 0x7ab1e5};", "two = table[0];");
  EXPECT_EQ(outcome_of(*other), "right");
  // It finds the table as an attack would: by what is around its own variable.
  EXPECT_EQ(outcome_with("#include <fstream>\n#include <string>\n__device__ __managed__ unsigned own = 1;", R"(
  if (i == 0) {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
      if (line.find("memfd:module") == std::string::npos || line.find(" rw-p ") == std::string::npos) continue;
      std::size_t used = 0;
      unsigned* at = (unsigned*)std::stoull(line, &used, 16);
      unsigned* const end = (unsigned*)std::stoull(line.substr(used + 1), nullptr, 16);
      for (; at < end; ++at) if (at[0] == 2 && at[1] == 0x7ab1e5) at[1] = own;
    }
  })"),
            "wrote into a variable of another program");
  EXPECT_EQ(outcome_of(*other), "right");
}

TEST_F(Variables, ThatTheDriverDoesNotFind_AreRefused) {
  const auto folder = base::TemporaryFolder::create("accelopt-fake-blind");
  ASSERT_TRUE(folder);
  const std::string driver = (folder->path() / "libdriver.so").string();
  std::filesystem::copy_file(ACCELOPT_FAKE_DRIVER, driver);
  ASSERT_TRUE(base::write_file(folder->path() / "blind", ""));
  open(driver);
  EXPECT_EQ(outcome_with("__device__ __managed__ float factor = 2;", "two = factor;"),
            "has a variable \"factor\" that the driver does not find: CUDA_ERROR_NOT_FOUND: named symbol not found");
  EXPECT_EQ(outcome_with("", ""), "right");
}

TEST_F(Variables, OfManyMegabytes_AreRefused) {
  EXPECT_EQ(
      outcome_with(R"(asm(".section .nv.global,\"aw\"\n.type room, @object\n.size room, 71303168\nroom: .zero 256\n"
                             ".previous");)",
                   ""),
      "has variables of more than 64 MiB: use scratch memory");
}

TEST(ReadCubin, ListsVariablesOfBothKindsOfSections) {
  const auto cubin = read_cubin(
      variable_cubin("__device__ __managed__ static double a[3] = {1}; __constant__ float b = 2; static float none; " +
                     doubling("", "two = a[0] + b - 1 + none;")));
  ASSERT_TRUE(cubin) << cubin.error().message;
  std::map<std::string, std::uint64_t> bytes;
  for (const CubinVariable& variable : cubin->variables) bytes[variable.name] = variable.bytes;
  EXPECT_EQ(bytes, (std::map<std::string, std::uint64_t>{{"_ZL1a", 24}, {"b", 4}}));
}

}  // namespace
}  // namespace accelopt::devices::cuda
