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
