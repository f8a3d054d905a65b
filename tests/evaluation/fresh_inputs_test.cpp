// SPDX-License-Identifier: Apache-2.0
// Which inputs a candidate meets, and what its outputs hold before a call.
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <span>
#include <vector>

#include "evaluation/local_evaluator.hpp"
#include "evaluation/race/block_runner.hpp"
#include "fake_target.hpp"

namespace accelopt::evaluation {
namespace {

using base::ErrorCode;
using model::Status;
using model::Verdict;

class FreshInputs : public testing::Test {
 protected:
  FreshInputs() : evaluator_(make_local_evaluator(target_)) {}

  void open(MeasureSettings settings = {}) {
    settings.seed = 4711;
    const auto report = evaluator_->ask(Open{fake_task(), settings}, {});
    ASSERT_TRUE(report) << report.error().message;
  }
  model::Evaluation triage(const std::string& text) {
    auto out = evaluator_->ask(Race{model::Kernel(fake_kernel(text)), model::Kernel(fake_kernel("time=1000000"))}, {});
    EXPECT_TRUE(out) << out.error().message;
    return out ? *out : model::Evaluation{};
  }
  static BlockRunner::Plan race_of(const model::Kernel& baseline, const model::Kernel& candidate) {
    BlockRunner::Plan plan;
    plan.arms = {&baseline, &candidate};
    plan.workloads = {0};
    plan.first_candidate = 1;
    return plan;
  }
  /// Calls that a triage makes before its first block.
  int calls_before() {
    const int before = target_.calls;
    const model::Evaluation evaluation = triage("time=500000");
    return target_.calls - before - 2 * evaluation.blocks;
  }

  FakeTarget target_;
  std::unique_ptr<Evaluator> evaluator_;
};

TEST_F(FreshInputs, NoCandidateIsTimedOnInputsThatItHasMetInAnyProcess) {
  MeasureSettings settings;
  settings.playoff_max_blocks = 24;
  open(settings);
  const std::string text = "time=990000 disturbed";  // every call of its races is repeated
  triage(text);
  triage(text);
  ASSERT_TRUE(evaluator_->ask(
      PlayOff{{{model::Kernel(fake_kernel("time=1000000"))}, {model::Kernel(fake_kernel(text))}}, 1}, {}));
  ASSERT_TRUE(evaluator_->ask(Confirm{model::Kernel(fake_kernel(text))}, {}));
  ASSERT_TRUE(evaluator_->ask(Profile{model::Kernel(fake_kernel(text))}, {}));
  ASSERT_TRUE(evaluator_->ask(HeldOut{model::Kernel(fake_kernel(text))}, {}));
  triage("//@ tune T in {1, 2, 3, 4, 5}\ncost=1000000+10000*T;");
  EXPECT_GT(target_.met.at(text).size(), 300U);
  for (const auto& [kernel, again] : target_.met_again) {
    if (kernel != "time=1000000") ADD_FAILURE() << kernel << ": " << again;
  }
}

TEST_F(FreshInputs, TheBaselineIsFreshInPlayoffAndConfirmation) {
  open();
  triage("time=1010000");
  const int before = target_.met_again["time=1000000"];
  ASSERT_TRUE(evaluator_->ask(
      PlayOff{{{model::Kernel(fake_kernel("time=1000000"))}, {model::Kernel(fake_kernel("time=990000"))}}, 1}, {}));
  ASSERT_TRUE(evaluator_->ask(Confirm{model::Kernel(fake_kernel("time=990000"))}, {}));
  EXPECT_EQ(target_.met_again["time=1000000"], before);
}

TEST_F(FreshInputs, EveryCandidateIsVerifiedOverEveryKindOfPoison) {
  open();
  triage("time=1000000 wrong_on=61");
  triage("time=1300000");
  for (const char* text : {"time=1000000 wrong_on=61", "time=1300000"}) {
    EXPECT_EQ(target_.poisons.at(text), std::set<Poison>(kPoisons.begin(), kPoisons.end())) << text;
  }
}

TEST_F(FreshInputs, NoTimedCallFindsTheComplementOfRightValues) {
  for (const Poison poison : kPoisons) {
    const bool timed = std::find(kTimedPoisons.begin(), kTimedPoisons.end(), poison) != kTimedPoisons.end();
    EXPECT_EQ(timed, poison != Poison::complement);
  }
  open();
  const int before = calls_before();
  const int complements = target_.complements;
  triage("time=1000000");
  // One in five calls of the verification and its repeated one; the race has many more calls than that.
  EXPECT_LE(target_.complements - complements, (before + 4) / 5 + 1);
}

TEST_F(FreshInputs, AllArmsOfABlockFindTheSamePoison) {
  open();
  ASSERT_TRUE(evaluator_->ask(
      PlayOff{{{model::Kernel(fake_kernel("time=1010000"))}, {model::Kernel(fake_kernel("time=990000"))}}, 1}, {}));
  const auto& one = target_.poison_of_slot.at("time=1010000");
  EXPECT_GE(one.size(), 12U);  // blocks
  EXPECT_EQ(one, target_.poison_of_slot.at("time=990000"));
  EXPECT_EQ(target_.poisons.at("time=990000"), std::set<Poison>(kTimedPoisons.begin(), kTimedPoisons.end()));
}

TEST_F(FreshInputs, EarlyCall_IsRepeatedAndNeverCounts) {
  open();
  const int before = calls_before();
  target_.early_calls = before + 5;
  const model::Evaluation evaluation = triage("time=510000");
  EXPECT_EQ(target_.early_calls, 0);
  EXPECT_EQ(evaluation.verdict, Verdict::faster) << evaluation.reason;
  EXPECT_EQ(target_.met_again["time=510000"], 0);
}

TEST_F(FreshInputs, CallsThatAllCouldHaveBegunEarlyEndTheRace) {
  open();
  target_.early_calls = 1000000;
  const model::Evaluation evaluation = triage("time=500000");
  EXPECT_EQ(evaluation.status, Status::not_measured);
  EXPECT_NE(evaluation.reason.find("could have begun before they were told to"), std::string::npos)
      << evaluation.reason;
  const auto confirmed = evaluator_->ask(Confirm{model::Kernel(fake_kernel("time=500000"))}, {});
  ASSERT_TRUE(confirmed) << confirmed.error().message;
  EXPECT_EQ(confirmed->status, Status::not_measured);
  const auto report = evaluator_->ask(
      PlayOff{{{model::Kernel(fake_kernel("time=1000000"))}, {model::Kernel(fake_kernel("time=990000"))}}, 1}, {});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_FALSE(report->separated);
  EXPECT_FALSE(report->arms[1].measured);
  EXPECT_FALSE(report->arms[1].reason.empty());
}

TEST_F(FreshInputs, ARaceWhoseSlotsAreUsedUpEndsWithWhatItHas) {
  const model::Task task = fake_task();
  const model::Kernel baseline(task.baseline);
  const model::Kernel candidate(fake_kernel("time=990000"));
  Slots slots(target_, task, 1, 9);
  BlockRunner::Plan plan;
  plan.arms = {&baseline, &candidate};
  plan.workloads = {0};
  plan.most_drawing = std::chrono::seconds(0);
  BlockRunner runner(target_, task, slots, plan);
  const auto block = runner.next({0, 1}, {});
  ASSERT_FALSE(block);
  EXPECT_EQ(block.error().code, ErrorCode::exhausted);
  EXPECT_NE(runner.ended().find("make the reference faster or the workloads smaller"), std::string::npos)
      << runner.ended();
}

TEST_F(FreshInputs, SlotsThatTakeTooMuchMemoryAreDrawnAgainTheSame) {
  class Counting final : public FakeTarget {
   public:
    void forget_slot(std::uint64_t) override { ++forgotten; }
    int forgotten = 0;
  };
  Counting target;
  const model::Task task = fake_task();
  Slots slots(target, task, 1, 2, 0);
  std::vector<Bytes> inputs;
  for (int number = 0; number < 60; ++number) {
    const auto slot = slots.get(0, number);
    ASSERT_TRUE(slot);
    inputs.push_back((*slot)->invocation.inputs.at(0));
  }
  EXPECT_GT(target.forgotten, 30);
  for (int number = 0; number < 60; ++number) {
    EXPECT_EQ((*slots.get(0, number))->invocation.inputs.at(0), inputs[static_cast<std::size_t>(number)]) << number;
  }
}

/// Its float run is off by a part in a million.
class RoundingReference final : public FakeTarget {
 public:
  base::Result<std::vector<ReferenceTensor>> reference(Precision precision, const std::vector<ReferenceTensor>& inputs,
                                                       const Invocation& invocation) override {
    ++runs;
    auto out = FakeTarget::reference(precision, inputs, invocation);
    if (precision == Precision::float32) {
      for (std::size_t i = 0; i < out->front().values.size(); i += 2) out->front().values[i] *= 1 + 1e-6;
    }
    return out;
  }
  int runs = 0;
};

TEST_F(FreshInputs, LaterGenerations_TakeTwoReferenceRuns) {
  RoundingReference target;
  const model::Task task = fake_task();
  Slots slots(target, task, 1, 2);
  const int count = slots.count();
  std::vector<double> first;
  for (int number = 0; number < count; ++number) first.push_back((*slots.get(0, number))->bounds.at(0).normwise);
  EXPECT_EQ(target.runs, 5 * count);
  for (int number = count; number < 2 * count; ++number) {
    const Bounds& bounds = (*slots.get(0, number))->bounds.at(0);
    const double share = bounds.normwise / first.at(static_cast<std::size_t>(number - count));
    EXPECT_TRUE(share > 0.5 && share < 2) << number << ": " << share;
  }
  ASSERT_TRUE(slots.get(0, kSlotsARow));
  EXPECT_EQ(target.runs, 5 * count + 2 * (count + 1));
}

TEST_F(FreshInputs, WhereTheFloatRunHasNoErrorAllRunsAreMade) {
  class Counting final : public FakeTarget {
   public:
    base::Result<std::vector<ReferenceTensor>> reference(Precision precision,
                                                         const std::vector<ReferenceTensor>& inputs,
                                                         const Invocation& invocation) override {
      ++runs;
      return FakeTarget::reference(precision, inputs, invocation);
    }
    int runs = 0;
  };
  Counting target;
  const model::Task task = fake_task();
  Slots slots(target, task, 1, 2);
  for (int number = 0; number < 2 * slots.count(); ++number) ASSERT_TRUE(slots.get(0, number));
  EXPECT_EQ(target.runs, 5 * 2 * slots.count());
}

TEST_F(FreshInputs, WhereRowsStandAloneMoreRunsAreMade) {
  /// The first row alone is off by a thousandth.
  class Outlying final : public FakeTarget {
   public:
    base::Result<std::vector<ReferenceTensor>> reference(Precision precision,
                                                         const std::vector<ReferenceTensor>& inputs,
                                                         const Invocation& invocation) override {
      (precision == Precision::float32 ? in_float : in_double) += 1;
      seen.insert(inputs.front().values);
      auto out = FakeTarget::reference(precision, inputs, invocation);
      std::vector<double>& values = out->front().values;
      for (std::size_t i = 0; i < values.size(); ++i) values[i] *= precision == Precision::float32 ? off(i) : 1;
      return out;
    }
    static double off(std::size_t element) { return element < 32 ? 1 + 1e-3 : 1 + 1e-7; }
    int in_float = 0;
    int in_double = 0;
    std::set<std::vector<double>> seen;
  };
  Outlying target;
  model::Task task = fake_task();
  task.definition.axes.push_back({"N", 32});
  for (model::TensorSpec* tensor : {&task.definition.inputs[0], &task.definition.outputs[0]})
    tensor->shape->emplace_back("N");
  Slots slots(target, task, 1, 2);
  ASSERT_TRUE(slots.get(0, 0));
  EXPECT_EQ(target.in_double, 3);
  EXPECT_EQ(target.in_float, 2 + kMoreRuns);
  EXPECT_EQ(target.seen.size(), 4 + static_cast<std::size_t>(kMoreRuns)) << "all but two on inputs of their own";
  ASSERT_TRUE(slots.get(0, slots.count()));
  EXPECT_GE(target.in_float, 3 + 2 * kMoreRuns) << "in later generations, too";
}

TEST_F(FreshInputs, ASumInAnotherOrderIsRight) {
  class Sums final : public FakeTarget {
   public:
    base::Result<std::vector<ReferenceTensor>> reference(Precision precision,
                                                         const std::vector<ReferenceTensor>& inputs,
                                                         const Invocation&) override {
      ++runs;
      double exact = 0;
      float in_float = 0;
      for (const double value : inputs.front().values) {
        exact += value;
        in_float += static_cast<float>(value);
      }
      return std::vector<ReferenceTensor>{{{precision == Precision::float64 ? exact : in_float}, {}}};
    }
    int runs = 0;
  };
  Sums target;
  model::Task task = fake_task();
  task.definition.outputs[0].shape = std::vector<std::string>{};
  task.workloads[0].axes["M"] = 20'000;
  Slots slots(target, task, 1, 2);
  int slots_met = 0;
  for (int number = 0; number < 60; ++number, ++slots_met) {
    const auto slot = slots.get(0, number);
    ASSERT_TRUE(slot) << slot.error().message;
    const Bytes& input = (*slot)->invocation.inputs.front();
    std::vector<float> values(input.size() / sizeof(float));
    std::memcpy(values.data(), input.data(), input.size());
    float backwards = 0;
    for (auto value = values.rbegin(); value != values.rend(); ++value) backwards += *value;
    const auto seen = std::as_bytes(std::span(&backwards, 1));
    const Comparison comparison = compare((*slot)->expected.front(), (*slot)->bounds.front(), seen);
    EXPECT_TRUE(comparison.passed()) << number << ": " << explain((*slot)->expected.front(), comparison);
  }
  EXPECT_EQ(target.runs, slots_met * (2 + 2 * kMoreRuns) + 3 * slots.count());
}

TEST_F(FreshInputs, SlotsAreDrawnAheadFromTheLowestOn) {
  RoundingReference target;
  const model::Task task = fake_task();
  Slots slots(target, task, 1, 2);
  EXPECT_FALSE(slots.draw_ahead({0})) << "what one costs is not known yet";
  ASSERT_TRUE(slots.get(0, 0));
  int ahead = 0;
  while (slots.draw_ahead({0})) ++ahead;
  EXPECT_GT(ahead, 100) << "a race of a hundred blocks";
  const int runs = target.runs;
  const auto as_declared = [&](int number) { return family_of_slot(task, number) == model::Family::as_declared; };
  for (int number = 0, seen = 0; seen <= ahead; ++number) {
    if (number >= slots.count() && !as_declared(number)) continue;
    ASSERT_TRUE(slots.get(0, number));
    ++seen;
  }
  EXPECT_EQ(target.runs, runs) << "nothing is left to compute for a verification, and for what a race times";
  RoundingReference another_target;
  Slots others(another_target, task, 1, 2);
  EXPECT_EQ((*others.get(0, 3))->invocation.inputs.at(0), (*slots.get(0, 3))->invocation.inputs.at(0));
}

TEST_F(FreshInputs, SlotsThatWerePassedOver_AreTheNextOnes) {
  const model::Task task = fake_task();
  Slots slots(target_, task, 1, 4);
  slots.meet("one", 0, 1);
  slots.meet_one("one", 0, 2);
  slots.meet_one("two", 1, 3);
  EXPECT_EQ(slots.not_met({"one"}, {0}, 3), (std::vector<int>{1, 3, 4}));
  EXPECT_EQ(slots.not_met({"one", "two"}, {0, 1}, 3), (std::vector<int>{1, 4, 5})) << "what none has met in any";
  EXPECT_EQ(slots.not_met({"nobody"}, {0}, 2), (std::vector<int>{0, 1}));
  EXPECT_EQ(slots.unmet("one", 0), 3);
  slots.meet("one", 0, 2);
  EXPECT_EQ(slots.not_met({"one"}, {0}, 2), (std::vector<int>{3, 4}));
}

TEST_F(FreshInputs, AShortRaceMeetsNoMoreSlotsThanItHasBlocks) {
  const model::Task task = fake_task();
  Slots slots(target_, task, 1, 4);
  const model::Kernel baseline(task.baseline);
  const model::Kernel candidate(fake_kernel("time=500000"));
  BlockRunner first(target_, task, slots, race_of(baseline, candidate));
  ASSERT_TRUE(first.next({0, 1}, {}));  // and one that warms up
  const std::vector<int> left = slots.not_met({candidate.id()}, {0}, slots.count());
  EXPECT_EQ(left.back(), slots.count() + 1);
  BlockRunner second(target_, task, slots, race_of(baseline, candidate));
  const auto block = second.next({0, 1}, {});
  ASSERT_TRUE(block);
  EXPECT_TRUE(std::ranges::find(left, block->slot) != left.end()) << "no slot is met twice";
}

TEST_F(FreshInputs, OnlyInputsAsDeclaredAreTimed) {
  const model::Task task = fake_task();
  Slots slots(target_, task, 1, 4);
  const model::Kernel baseline(task.baseline);
  const model::Kernel candidate(fake_kernel("time=500000"));
  BlockRunner runner(target_, task, slots, race_of(baseline, candidate));
  for (int count = 0; count < 3 * slots.count(); ++count) {
    const auto block = runner.next({0, 1}, {});
    ASSERT_TRUE(block);
    EXPECT_EQ(family_of_slot(task, block->slot), model::Family::as_declared);
  }
  const std::vector<int> generation = slots.to_race({candidate.id()}, {0});
  EXPECT_EQ(std::ssize(generation), slots.count());
  EXPECT_NE(family_of_slot(task, generation.front()), model::Family::as_declared) << "it warms up";
}

TEST_F(FreshInputs, RepeatedCallsLeaveNoGapsAmongTheSlotsOfBlocks) {
  const model::Task task = fake_task();
  Slots slots(target_, task, 1, 4);
  const model::Kernel baseline(task.baseline);
  const model::Kernel candidate(fake_kernel("time=500000 disturbed"));  // its calls are repeated
  BlockRunner runner(target_, task, slots, race_of(baseline, candidate));
  const int a_generation = slots.count() - 1;  // its first slot warms up
  for (int block = 0; block < 2 * a_generation; ++block) ASSERT_TRUE(runner.next({0, 1}, {}));
  const std::string id = candidate.id();
  for (const int number : slots.to_race({"another"}, {0}))
    EXPECT_NE(slots.peek(0, number), nullptr) << "the next candidate finds all of them drawn";
  EXPECT_GT(slots.unmet(id, 0, SlotUse::repeats), 0);
}

TEST_F(FreshInputs, AfterASlotIsDrawnACallThatDoesNotCountComesFirst) {
  const model::Task task = fake_task();
  Slots slots(target_, task, 1, 4);
  for (const int number : slots.to_race({}, {0})) ASSERT_TRUE(slots.get(0, number));
  const model::Kernel baseline(task.baseline);
  const model::Kernel candidate(fake_kernel("time=500000"));
  BlockRunner runner(target_, task, slots, race_of(baseline, candidate));
  const int a_generation = slots.count() - 1;
  for (int block = 0; block < a_generation; ++block) ASSERT_TRUE(runner.next({0, 1}, {}));
  EXPECT_EQ(target_.calls, 2 * slots.count()) << "all slots were there";
  target_.calls = 0;
  ASSERT_TRUE(runner.next({0, 1}, {}));  // warms up on one slot that must be drawn, and is timed on another
  EXPECT_EQ(target_.calls, 2 * 2 + 2);
  EXPECT_EQ(target_.met.at("time=500000").size(), static_cast<std::size_t>(slots.count()) + 2);
}

TEST_F(FreshInputs, CallsThatWarmUpAreNotRepeated) {
  const model::Task task = fake_task();
  Slots slots(target_, task, 1, 4);
  target_.early_calls = 2;
  const model::Kernel baseline(task.baseline);
  const model::Kernel candidate(fake_kernel("time=500000"));
  for (int number = 0; number < slots.count(); ++number) ASSERT_TRUE(slots.get(0, number));
  BlockRunner runner(target_, task, slots, race_of(baseline, candidate));
  ASSERT_TRUE(runner.next({0, 1}, {}));
  EXPECT_EQ(target_.calls, 4);
}

TEST_F(FreshInputs, NothingIsDrawnAheadWhereSlotsTakeTooMuchMemory) {
  const model::Task task = fake_task();
  Slots slots(target_, task, 1, 2, 0);
  ASSERT_TRUE(slots.get(0, 0));
  EXPECT_FALSE(slots.draw_ahead({0}));
}

}  // namespace
}  // namespace accelopt::evaluation
