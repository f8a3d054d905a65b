// SPDX-License-Identifier: Apache-2.0
// Calls made alone, a confirmation's second clock: of workloads whose calls are timed together otherwise.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "evaluation/local_evaluator.hpp"
#include "fake_target.hpp"

namespace accelopt::evaluation {
namespace {

using model::Verdict;

class CallsAlone : public testing::Test {
 protected:
  void SetUp() override {
    target_.times_several = true;
    MeasureSettings settings;
    settings.seed = 4711;
    ASSERT_TRUE(evaluator_->ask(Open{fake_task(), settings}, {}));
  }
  Verdict confirm(const std::string& text) {
    const auto out = evaluator_->ask(Confirm{model::Kernel(fake_kernel(text))}, {});
    EXPECT_TRUE(out) << out.error().message;
    EXPECT_EQ(target_.met_again[text], 0);
    return out ? out->verdict : Verdict::none;
  }

  FakeTarget target_;
  std::unique_ptr<Evaluator> evaluator_ = make_local_evaluator(target_);
};

TEST_F(CallsAlone, OneByOneInAnyCase_ThereIsNoSecondRace) {
  ASSERT_EQ(confirm("time=500000 first"), Verdict::faster);
  const int both = target_.calls;
  EXPECT_EQ(target_.alone_calls.size(), 2U) << "the raced workload and the held-out one";
  target_.alone_calls.clear();
  target_.calls = 0;
  target_.long_ones = {"race", "hidden"};
  EXPECT_EQ(confirm("time=500000 second"), Verdict::faster);
  EXPECT_TRUE(target_.alone_calls.empty());
  EXPECT_LT(target_.calls, both);
}

TEST_F(CallsAlone, SomeAreShort_TheyAloneAreRacedAgain) {
  target_.long_ones = {"hidden"};
  EXPECT_EQ(confirm("time=500000"), Verdict::faster);
  EXPECT_EQ(target_.alone_calls.size(), 1U);
  EXPECT_GT(target_.alone_calls[100], 0);
}

TEST_F(CallsAlone, AShortOneContradicts_CallsAloneCountOfAll) {
  for (const char* const other : {"hidden", "race"}) {
    target_.alone_calls.clear();
    target_.long_ones = {other};
    EXPECT_NE(confirm(std::string("time=500000 alone=1000000 ") + other), Verdict::faster) << other;
    EXPECT_EQ(target_.alone_calls.size(), 2U) << other;
  }
}

}  // namespace
}  // namespace accelopt::evaluation
