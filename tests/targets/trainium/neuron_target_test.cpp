// SPDX-License-Identifier: Apache-2.0
// Kernels by way of the vendor's package, which is a stand-in here (tests/fakes/neuron): no device is asked.
#include "targets/trainium/neuron_target.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "targets/trainium/description.hpp"

namespace accelopt::targets::trainium {
namespace {

using base::ErrorCode;
using evaluation::CallEnd;
using evaluation::CallOutcome;
using evaluation::Invocation;
using evaluation::ReferenceTensor;

constexpr const char* kStandin = ACCELOPT_NEURON_STANDIN;
constexpr const char* kImports = "import neuronxcc.nki as nki\nimport neuronxcc.nki.language as nl\n";
constexpr const char* kTwice =
    "\n@nki.jit\ndef kernel(x):\n"
    "    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)\n"
    "    nl.store(y, nl.multiply(nl.load(x), 2.0))\n"
    "    return y\n";

model::Kernel kernel_of(const std::string& text) {
  return model::Kernel(model::Solution{model::Language("nki"), {{"twice.py", text}}});
}
/// Twice x, whose file asks the stand-in for a failure.
model::Kernel failing(const std::string& how) {
  return kernel_of(kImports + ("STANDIN_FAILS = \"" + how + "\"\n") + kTwice);
}

model::Task task() {
  model::Task out;
  out.target = "trainium";
  out.definition.axes = {{"P", 128}, {"F", 16}};
  model::TensorSpec x;
  x.name = "x";
  x.shape = {"P", "F"};
  out.definition.inputs = {x};
  x.name = "y";
  out.definition.outputs = {x};
  out.workloads.push_back({.name = "small", .axes = {}});
  return out;
}

NeuronOptions device_options() {
  NeuronOptions out;
  out.python.environment["ACCELOPT_PYTHON"] = std::string(kStandin) + "/bin/python3";
  out.host_limit = std::chrono::seconds(30);
  return out;
}

std::unique_ptr<evaluation::Target> target_with(NeuronOptions options) {
  return make_neuron_target(
      {"neuron:0",
       {},
       [](const model::Task&, evaluation::DeviceUse&, const std::stop_token&) {
         return evaluation::HostReference([](evaluation::Precision, const std::vector<ReferenceTensor>& inputs,
                                             const Invocation&) { return inputs; });
       }},
      std::move(options));
}

std::unique_ptr<evaluation::Target> opened(NeuronOptions options = device_options()) {
  auto out = target_with(std::move(options));
  const auto info = out->open(task(), {}, {});
  EXPECT_TRUE(info.has_value()) << info.error().message;
  return out;
}

Invocation ones_and_twos() {
  std::vector<float> values(std::size_t{128} * 16);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(1 + i % 2);
  Invocation out;
  out.inputs.emplace_back(values.size() * sizeof(float));
  std::memcpy(out.inputs[0].data(), values.data(), out.inputs[0].size());
  out.output_bytes = {out.inputs[0].size()};
  return out;
}

base::Result<CallOutcome> called(evaluation::Target& target, const model::Kernel& kernel,
                                 std::chrono::nanoseconds limit = std::chrono::seconds(10)) {
  TRY_ASSIGN(const auto live, target.start(kernel, evaluation::Placement::usual, {}));
  const Invocation invocation = ones_and_twos();
  evaluation::CallOptions options;
  options.limit = limit;
  TRY_ASSIGN(CallOutcome out, live->call(invocation, options));
  if (!out.outputs.empty()) {
    float first[2];
    std::memcpy(first, out.outputs[0].data(), sizeof first);
    EXPECT_EQ(out.outputs[0].size(), invocation.output_bytes[0]);
    EXPECT_EQ(first[0], 2.0F);
    EXPECT_EQ(first[1], 4.0F);
  }
  out.outputs.clear();  // the kernel's memory, which ends here
  return out;
}

TEST(NeuronTarget, Call_RightKernel_HasOutputsAndTimesOfTheTrace) {
  const auto target = opened();
  const auto kernel = kernel_of(std::string(kImports) + kTwice);

  const auto first = called(*target, kernel);
  const auto second = called(*target, kernel);

  ASSERT_TRUE(first.has_value() && second.has_value()) << first.error().message;
  EXPECT_EQ(first->end, CallEnd::returned) << first->reason;
  EXPECT_GT(first->time_ns, 30'000);  // the stand-in's device takes that to begin
  EXPECT_NE(first->time_ns, second->time_ns);
  EXPECT_EQ(target->clock(), evaluation::DeviceClock::noisy);
  EXPECT_NE(target->environment().compiler.find("neuronxcc 2.25.0+standin"), std::string::npos)
      << target->environment().compiler;
}

TEST(NeuronTarget, Profile_CompiledKernel_HasTheVendorsFigures) {
  const auto target = opened();

  const auto items = target->machine_code_profile(kernel_of(std::string(kImports) + kTwice), {});

  ASSERT_EQ(items.size(), 16U);
  EXPECT_EQ(items[0].name, "hbm_read_bytes");
  EXPECT_DOUBLE_EQ(items[0].value, 128 * 16 * 4 * 1e-6);
}

TEST(NeuronTarget, Build_CompilerFails_IsRefusedByItsError) {
  const auto target = opened();

  const auto report = target->build(failing("compile"), {});

  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_FALSE(report->built);
  EXPECT_NE(report->diagnostics.find("twice.py: error: neuronx-cc failed with exit code 70: [GCA046]"),
            std::string::npos)
      << report->diagnostics;
}

TEST(NeuronTarget, Build_TracingFails_IsRefusedWithTheLine) {
  const auto target = opened();
  std::string text = std::string(kImports) + kTwice;
  text.replace(text.find("nl.load(x)"), 10, "nl.load(x[0:129, 0:16])");

  const auto report = target->build(kernel_of(text), {});

  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_FALSE(report->built);
  EXPECT_EQ(report->diagnostics.find("twice.py:7: error: err_tensor_access_out_of_bound"), 0U) << report->diagnostics;
}

TEST(NeuronTarget, Build_FileReachesOut_IsRefusedBeforeItRuns) {
  const auto target = opened();

  const auto report = target->build(kernel_of("import os\nos._exit(0)\n" + std::string(kImports) + kTwice), {});

  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_FALSE(report->built);
  EXPECT_EQ(report->diagnostics.find("twice.py:1: error: a kernel imports "), 0U) << report->diagnostics;
}

TEST(NeuronTarget, Call_RunFails_IsTheKernelsFault) {
  const auto target = opened();

  const auto outcome = called(*target, failing("run"));

  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  EXPECT_EQ(outcome->end, CallEnd::died);
  EXPECT_NE(outcome->reason.find("NRT_EXEC_OOB"), std::string::npos) << outcome->reason;
}

TEST(NeuronTarget, Call_ProcessCrashesInItsRun_IsTheKernelsFault) {
  const auto target = opened();

  const auto outcome = called(*target, failing("crash"));

  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  EXPECT_EQ(outcome->end, CallEnd::died);
  EXPECT_NE(outcome->reason.find("the process that ran it was ended by signal 6"), std::string::npos)
      << outcome->reason;
}

TEST(NeuronTarget, Call_RunDoesNotEnd_TimesOut) {
  NeuronOptions options = device_options();
  options.host_limit = std::chrono::milliseconds(200);
  options.run_limit = std::chrono::milliseconds(200);
  const auto target = opened(options);

  const auto outcome = called(*target, failing("hang"), std::chrono::milliseconds(100));

  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  EXPECT_EQ(outcome->end, CallEnd::timed_out);
  EXPECT_NE(outcome->reason.find("did not end within 0.3 s"), std::string::npos) << outcome->reason;
}

TEST(NeuronTarget, Call_TraceCannotBeRead_IsNoTime) {
  const auto target = opened();

  const auto outcome = called(*target, failing("profile"));

  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  EXPECT_EQ(outcome->end, CallEnd::died);
  EXPECT_NE(outcome->reason.find("neuron-profile makes nothing of its trace: it ended with code 1"), std::string::npos)
      << outcome->reason;
}

TEST(NeuronTarget, Call_DeviceIsLost_IsNoVerdict) {
  const auto target = opened();

  const auto outcome = called(*target, failing("lost"));

  ASSERT_FALSE(outcome.has_value());
  EXPECT_EQ(outcome.error().code, ErrorCode::unavailable);
  EXPECT_NE(outcome.error().message.find("the device neuron:0 was lost (NRT_EXEC_HW_ERR_NC_UE)"), std::string::npos)
      << outcome.error().message;
}

TEST(NeuronTarget, Call_DeviceIsSomebodyElses_IsNoVerdict) {
  const auto target = opened();

  const auto outcome = called(*target, failing("busy"));

  ASSERT_FALSE(outcome.has_value());
  EXPECT_EQ(outcome.error().code, ErrorCode::unavailable);
  EXPECT_NE(outcome.error().message.find("is another process's (NRT_LOAD_NOT_ENOUGH_NC)"), std::string::npos)
      << outcome.error().message;
}

TEST(NeuronTarget, Open_NoVendorPackage_SaysWhereItWasLookedFor) {
  NeuronOptions options;
  options.python.environment["ACCELOPT_PYTHON"] = "/usr/bin/true";

  const auto info = target_with(std::move(options))->open(task(), {}, {});

  ASSERT_FALSE(info.has_value());
  EXPECT_EQ(info.error().code, ErrorCode::unsupported);
  EXPECT_NE(info.error().message.find("no Python with neuronxcc was found"), std::string::npos) << info.error().message;
}

}  // namespace
}  // namespace accelopt::targets::trainium
