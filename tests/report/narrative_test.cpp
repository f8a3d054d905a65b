// SPDX-License-Identifier: Apache-2.0
#include "report/narrative.hpp"

#include <gtest/gtest.h>

namespace accelopt::report {
namespace {

using Missing = std::vector<std::string>;

NumberRecord record() {
  return {"Step 1: 128x192 tiles of float16, i0.b0.p1.a0.f0, took 93.0 us; 1,280,000 bytes.",
          {{"ratio", 28.4568}, {"share", 0.574}, {"steps", {1.5, 2.25, 7}}}};
}

TEST(Narrative, NumbersOfTheRecord_Pass) {
  EXPECT_EQ(
      numbers_off_record("It is 28.5x [28.46] faster: 93.0 us, 128x192 tiles of float16, 57 % of the peak.", record()),
      Missing{});
  EXPECT_EQ(numbers_off_record("i0.b0.p1.a0.f0 moved 1,280,000 bytes.", record()), Missing{});
}

TEST(Narrative, OtherNumbers_AreNamedOnce) {
  EXPECT_EQ(numbers_off_record("It is 31x faster, 31x I say, in 12.5 ms.", record()), (Missing{"31x", "12.5"}));
}

TEST(Narrative, ANumberThatIsRoundedTooFar_IsNotOnRecord) {
  EXPECT_EQ(numbers_off_record("about 2x, or 30x", {"", {1.7, 28.4568, 0.1, 0.1, 0.1}}), (Missing{"2x", "30x"}));
}

TEST(Narrative, NumbersInWords_Count) {
  EXPECT_EQ(numbers_off_record("three steps made it Twenty times faster", record()), Missing{"Twenty"})
      << "there is a list of three";
}

TEST(Narrative, ANumberOfAnotherKind_IsNotOnRecord) {
  // 7 is a step's value and 93.0 a time: neither is how many times faster anything is, nor a share.
  EXPECT_EQ(numbers_off_record("7x, 7 times, 93 %, 28.5 ms, 57 us", record()),
            (Missing{"7x", "7", "93", "28.5", "57"}));
  EXPECT_EQ(numbers_off_record("7 of them", record()), Missing{});
}

TEST(Narrative, ATimeInAnotherUnit_IsTheSameTime) {
  const NumberRecord times{"93.0 us", {{"workloads", {{{"time_ns", 1893000}}}}}};
  EXPECT_EQ(numbers_off_record("0.093 ms, 93000 ns, 93 \u00b5s, 1.89 ms", times), Missing{});
  EXPECT_EQ(numbers_off_record("93 ms, 1.89 us", times), (Missing{"93", "1.89"}));
}

TEST(Narrative, WordsThatCompare_NeedARatio) {
  EXPECT_EQ(numbers_off_record("twice as fast, in half the time", {"", {{"estimate", 2.02}}}), Missing{});
  EXPECT_EQ(numbers_off_record("Twice as fast, then tripled, two more", {"", {{"estimate", 1.7}, {"steps", 2}}}),
            (Missing{"Twice", "tripled"}));
  EXPECT_EQ(numbers_off_record("three times as fast", {"", {{"steps", 3}}}), Missing{"three"});
  EXPECT_EQ(numbers_off_record("half of the loop", {"it unrolls half of the loop", {}}), Missing{});
}

TEST(Narrative, NamesWithDigits_MustStandInTheText) {
  EXPECT_EQ(numbers_off_record("float16 and bfloat16, i0.b0.p2.a0.f0, v2", record()),
            (Missing{"bfloat16", "i0.b0.p2.a0.f0", "v2"}));
}

TEST(Narrative, AVersionWithTwoPoints_IsNoNumber) {
  EXPECT_EQ(numbers_off_record("3.2.1 1.2.3", {"release 1.2.3", {}}), Missing{"3.2.1"});
}

TEST(Narrative, APointThatEndsASentence_IsNoPartOfTheNumber) {
  EXPECT_EQ(numbers_off_record("It took 93.0. Then 7.", record()), Missing{});
}

}  // namespace
}  // namespace accelopt::report
