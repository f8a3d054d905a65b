// SPDX-License-Identifier: Apache-2.0
// Verification alone: the protocol "verify", two runs that must agree, and families that float cannot compute.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "evaluation/evaluator_json.hpp"
#include "evaluation/local_evaluator.hpp"
#include "fake_target.hpp"

namespace accelopt::evaluation {
namespace {

using model::Status;

/// A fake target whose processes may differ from each other, and whose float reference may overflow or be off.
class MoodyTarget final : public Target {
 public:
  double overflows_at = std::numeric_limits<double>::infinity();
  double float_error = 0;                                              ///< of the float reference
  std::size_t erring_slots = std::numeric_limits<std::size_t>::max();  ///< so many of those drawn first
  int starts() const { return fake_.starts; }
  int calls() const { return fake_.calls; }
  int misaligned_calls() { return fake_.aligned[Alignment::element]; }

  base::Result<DeviceInfo> open(const model::Task& task, const MeasureSettings& settings,
                                std::stop_token stop) override {
    return fake_.open(task, settings, stop);
  }
  const std::string& task_header() const override { return fake_.task_header(); }
  model::Environment environment() const override { return fake_.environment(); }
  std::string trust() const override { return fake_.trust(); }
  std::int64_t last_level_bytes() const override { return fake_.last_level_bytes(); }
  base::Result<model::BuildReport> build(const model::Kernel& kernel, std::stop_token stop) override {
    return fake_.build(kernel, stop);
  }
  void settle_helper_thread() override {}
  int build_threads() const override { return 1; }
  base::Result<std::vector<ReferenceTensor>> reference(Precision precision, const std::vector<ReferenceTensor>& inputs,
                                                       const Invocation& invocation) override {
    auto out = fake_.reference(precision, inputs, invocation);
    if (out && precision == Precision::float32) {
      if (erring_.size() < erring_slots) erring_.insert(invocation.number);
      const double error = erring_.contains(invocation.number) ? float_error : 0;
      for (double& value : out->at(0).values) {
        value *= 1 + error;
        if (std::abs(value) >= overflows_at) value = std::numeric_limits<double>::infinity();
      }
    }
    return out;
  }
  base::Result<std::unique_ptr<LiveKernel>> start(const model::Kernel& kernel, Placement placement,
                                                  std::stop_token stop) override {
    TRY_ASSIGN(auto live, fake_.start(kernel, placement, stop));
    const bool unsteady = fakes::claims(main_text(kernel.solution()), "unsteady");
    return std::make_unique<Live>(std::move(live), !unsteady ? 0.0 : fake_.starts % 2 == 0 ? 0.75 : -0.75);
  }
  std::vector<model::ProfileItem> machine_code_profile(const model::Kernel& kernel, std::stop_token stop) override {
    return fake_.machine_code_profile(kernel, stop);
  }
  std::unique_ptr<Hold> quiet() override { return fake_.quiet(); }
  base::Result<std::unique_ptr<Hold>> lock_machine() override { return fake_.lock_machine(); }
  base::Result<Peaks> probe_peaks_again(std::stop_token stop) override { return fake_.probe_peaks_again(stop); }

 private:
  /// Moves the smallest element by a share of what it may be off by: 16 u of the largest.
  class Live final : public LiveKernel {
   public:
    Live(std::unique_ptr<LiveKernel> live, double share) : live_(std::move(live)), share_(share) {}
    base::Result<CallOutcome> call(const Invocation& invocation, const CallOptions& options) override {
      TRY_ASSIGN(CallOutcome out, live_->call(invocation, options));
      if (share_ == 0 || out.end != CallEnd::returned) return out;
      std::vector<float> values(out.outputs.at(0).size() / sizeof(float));
      std::memcpy(values.data(), out.outputs.at(0).data(), out.outputs.at(0).size());
      const auto by_size = [](float a, float b) { return std::abs(a) < std::abs(b); };
      const auto [smallest, largest] = std::minmax_element(values.begin(), values.end(), by_size);
      *smallest += static_cast<float>(share_ * 16 * 0x1p-24) * *largest;
      output_.resize(values.size() * sizeof(float));
      std::memcpy(output_.data(), values.data(), output_.size());
      out.outputs = {output_};
      return out;
    }

   private:
    std::unique_ptr<LiveKernel> live_;
    double share_;
    Bytes output_;
  };

  FakeTarget fake_;
  std::set<std::uint64_t> erring_;
};

class Verification : public testing::Test {
 protected:
  Verification() : evaluator_(make_local_evaluator(target_)) {}

  OpenReport open(model::Protocol protocol, const model::Task& task = fake_task()) {
    MeasureSettings settings;
    settings.seed = 4711;
    settings.protocol = protocol;
    auto report = evaluator_->ask(Open{task, settings}, {});
    EXPECT_TRUE(report) << report.error().message;
    return report ? *report : OpenReport{};
  }
  model::Evaluation triage(const std::string& text) {
    auto out = evaluator_->ask(Race{model::Kernel(fake_kernel(text)), model::Kernel(fake_kernel("time=1000000"))}, {});
    EXPECT_TRUE(out) << out.error().message;
    return out ? *out : model::Evaluation{};
  }

  MoodyTarget target_;
  std::unique_ptr<Evaluator> evaluator_;
};

const int kSlots = MeasureSettings().slots;

TEST_F(Verification, RacesNothingAndLooksAtEverything) {
  const OpenReport report = open(model::Protocol::verify);
  EXPECT_EQ(report.baseline.status, Status::passed) << report.baseline.reason;
  EXPECT_FALSE(report.baseline.profile.has_value());
  const int calls = target_.calls();
  const model::Evaluation right = triage("time=1000000");
  EXPECT_EQ(right.status, Status::passed) << right.reason;
  EXPECT_EQ(right.kind, model::EvaluationKind::verify);
  EXPECT_EQ(right.blocks, 0);
  EXPECT_EQ(target_.calls() - calls, 3 * kSlots + 1) << "three workloads, all slots, and one call again";
  EXPECT_NE(right.reason.find("nearest to its bound in workload"), std::string::npos) << right.reason;
  const model::Evaluation hidden = triage("time=1000000 wrong_on=61");
  EXPECT_EQ(hidden.status, Status::incorrect_numerical);
  EXPECT_EQ(hidden.mismatch->workload, "hidden");
  EXPECT_EQ(triage("broken").status, Status::compile_error);
}

TEST_F(Verification, TheSmallestWorkloadSeesEveryFamily) {
  open(model::Protocol::blocks);
  const int calls = target_.calls();
  triage("time=1 wrong_on=100");
  EXPECT_EQ(target_.calls() - calls, kSlots + 1) << "all slots of the smaller workload, then the first of the other";
}

TEST_F(Verification, ElementAlignment_IsMetByVerifyingCallsAlone) {
  open(model::Protocol::blocks);
  const int before = target_.misaligned_calls();
  EXPECT_EQ(triage("time=900000").status, Status::passed);
  EXPECT_EQ(target_.misaligned_calls() - before, kSlots / 2 + 1)
      << "every second one of the smaller workload's slots and of three of the other's; none of the race";
}

TEST_F(Verification, RunsThatAreRightButDisagreeAreRefused) {
  open(model::Protocol::blocks);
  const model::Evaluation unsteady = triage("time=1000000 unsteady");
  EXPECT_EQ(unsteady.status, Status::incorrect_numerical);
  EXPECT_NE(unsteady.reason.find("two runs on the same inputs disagree"), std::string::npos) << unsteady.reason;
  ASSERT_TRUE(unsteady.mismatch);
  EXPECT_EQ(unsteady.mismatch->output, "y");
  EXPECT_NE(unsteady.mismatch->expected, unsteady.mismatch->actual);
}

TEST_F(Verification, FamiliesThatFloatCannotComputeAreDroppedByName) {
  model::Task task = fake_task();
  task.definition.inputs[0].families = {model::Family::positive, model::Family::scaled_up};
  target_.overflows_at = 100;
  const OpenReport report = open(model::Protocol::verify, task);
  EXPECT_EQ(report.baseline.status, Status::passed) << report.baseline.reason;
  EXPECT_TRUE(report.loose_bounds.empty());
  ASSERT_EQ(report.dropped_families.size(), 6U) << "two, once a workload";
  for (const DroppedFamily& dropped : report.dropped_families) {
    EXPECT_TRUE(dropped.family == "scaled_up" || dropped.family == "outliers") << dropped.family;
    EXPECT_EQ(describe(dropped).find("take scaled out of families") != std::string::npos, dropped.family == "outliers");
  }
  base::Json json = report;
  const auto again = json.get<OpenReport>();
  ASSERT_EQ(again.dropped_families.size(), 6U);
  EXPECT_EQ(again.dropped_families[0].workload, report.dropped_families[0].workload);
}

TEST_F(Verification, BoundThatAcceptsWrongResults_IsSaid_AndRefusedWhereItSaysNothing) {
  target_.float_error = 0.01;
  const OpenReport report = open(model::Protocol::verify);
  EXPECT_EQ(report.baseline.status, Status::passed) << report.baseline.reason;
  ASSERT_EQ(report.loose_bounds.size(), 3U) << "once a workload";
  EXPECT_NE(report.loose_bounds[0].find("output y may be off by 4 % of their size"), std::string::npos);
  const auto again = base::Json(report).get<OpenReport>();
  EXPECT_EQ(again.loose_bounds, report.loose_bounds);
  target_.float_error = 0.2;
  const auto refused = make_local_evaluator(target_)->ask(Open{fake_task(), {}}, {});
  ASSERT_FALSE(refused);
  EXPECT_NE(base::as_result(refused).error().message.find("may be off by 80 %"), std::string::npos);
}

TEST_F(Verification, OneSetOfInputsWhoseBoundSaysNothing_RefusesNoTask) {
  target_.float_error = 0.2;
  target_.erring_slots = 1;
  model::Task task = fake_task();
  task.definition.inputs[0].families.clear();
  const OpenReport report = open(model::Protocol::verify, task);
  EXPECT_EQ(report.baseline.status, Status::passed) << report.baseline.reason;
  ASSERT_EQ(report.loose_bounds.size(), 1U) << "it is said";
  EXPECT_NE(report.loose_bounds[0].find("may be off by 80 %"), std::string::npos) << report.loose_bounds[0];
}

/// The verdict on a kernel in a task whose baseline is another one.
model::Evaluation judged_beside(const std::string& baseline, const std::string& kernel) {
  FakeTarget target;
  const auto evaluator = make_local_evaluator(target);
  model::Task task = fake_task();
  task.baseline = fake_kernel(baseline);
  MeasureSettings settings;
  settings.seed = 4711;
  const auto opened = evaluator->ask(Open{task, settings}, {});
  EXPECT_TRUE(opened && opened->baseline.status == Status::passed);
  auto out = evaluator->ask(Race{model::Kernel(fake_kernel(kernel)), model::Kernel(task.baseline)}, {});
  EXPECT_TRUE(out) << out.error().message;
  return out ? *out : model::Evaluation{};
}

TEST(SpecialInputs, FiniteMath_IsHeldToTheBaselinesNan) {
  const std::string fast = "//@ flags -ffast-math\ntime=500000 ";
  const model::Evaluation lost = judged_beside("time=1000000 drops_nan", fast);
  EXPECT_EQ(lost.status, Status::incorrect_numerical);
  EXPECT_NE(lost.reason.find("with NaN in input x: output y is nan at index"), std::string::npos) << lost.reason;
  EXPECT_NE(lost.reason.find("-fno-finite-math-only"), std::string::npos) << lost.reason;
  EXPECT_EQ(judged_beside("time=1000000", fast + "drops_nan").status, Status::incorrect_numerical);
  EXPECT_EQ(judged_beside("time=1000000 drops_nan", fast + "drops_nan").status, Status::passed);
  EXPECT_EQ(judged_beside("time=1000000 drops_nan", "time=500000").status, Status::passed) << "no such flags";
  EXPECT_EQ(judged_beside("//@ flags -ffast-math\ntime=1000000 drops_nan", fast).status, Status::passed)
      << "the baseline has them, too";
}

TEST(SpecialInputs, WhatTheBaselineAsksFor_HoldsUnderAnyFlags) {
  const std::string asks = "if (isnan(v)) v = 0;  // time=1000000 drops_nan";
  const model::Evaluation lost = judged_beside(asks, "time=500000");
  EXPECT_EQ(lost.status, Status::incorrect_numerical);
  EXPECT_NE(lost.reason.find("with NaN in input x: output y is nan at index"), std::string::npos) << lost.reason;
  EXPECT_EQ(lost.reason.find("flags"), std::string::npos) << lost.reason;
  EXPECT_EQ(judged_beside(asks, "time=500000 drops_nan").status, Status::passed);
  EXPECT_EQ(judged_beside("v = fmax(v, 0);  // time=1000000 drops_nan", "time=500000").status,
            Status::incorrect_numerical);
  EXPECT_EQ(judged_beside("v = fmax(v, 0);  // time=1000000", "time=500000 drops_nan").status, Status::passed)
      << "the baseline makes NaN of it";
  EXPECT_EQ(judged_beside("m = -INFINITY;  // time=1000000 drops_nan", "time=500000").status, Status::passed);
}

TEST(SpecialInputs, AnInfinityCounts_WhereTheBaselineStaysFinite) {
  const std::string fast = "//@ flags -ffast-math\ntime=500000 ";
  const model::Evaluation lost = judged_beside("time=1000000 masks", fast);
  EXPECT_EQ(lost.status, Status::incorrect_numerical);
  EXPECT_NE(lost.reason.find("with infinity in input x"), std::string::npos) << lost.reason;
  EXPECT_EQ(judged_beside("time=1000000", fast + "masks").status, Status::passed)
      << "its results are infinite, whatever comes out";
}

}  // namespace
}  // namespace accelopt::evaluation
