// SPDX-License-Identifier: Apache-2.0
#include "report/tuning_text.hpp"

#include <gtest/gtest.h>

namespace accelopt::report {
namespace {

model::Tuning tuning() {
  model::Tuning out;
  out.names = {"A", "B"};
  out.sets = {{1, 2}, {3, 4}};
  out.combinations = 4;
  out.configurations = 4;
  out.chosen = {2, 3};
  out.seconds = 12.3;
  out.field = {{{1, 3}, model::TunedFate::slower, model::Status::passed, "", 3, model::Interval{0.5, 0.45, 0.55}},
               {{2, 3}, model::TunedFate::chosen, model::Status::passed, "", 45, model::Interval{1, 1, 1}},
               {{2, 4}, model::TunedFate::outranked, model::Status::passed, "", 9, model::Interval{1.01, 0.9, 1.1}},
               {{1, 4},
                model::TunedFate::failed,
                model::Status::compile_error,
                "kernel.cpp:3:1: error: no\nnote: x",
                0,
                std::nullopt}};
  return out;
}

TEST(TuningLine, SaysWhatWasChosenOfHowMany) {
  EXPECT_EQ(tuning_line(tuning()), "A=2 B=3, the fastest of 4 tried of 4 configurations (1 failed), 12.3 s");
  model::Tuning none = tuning();
  none.chosen.reset();
  EXPECT_EQ(tuning_line(none), "none of 4 tried of 4 configurations (1 failed), 12.3 s");
}

TEST(TuningTable, ShowsTheChosenFirstThenTheFastestAndWhyOthersFailed) {
  const std::string text = tuning_table(tuning(), 2);
  EXPECT_LT(text.find("A=2 B=3"), text.find("A=2 B=4")) << text;
  EXPECT_EQ(text.find("A=1 B=3"), std::string::npos) << text;
  EXPECT_NE(text.find("and 1 slower\n"), std::string::npos) << text;
  EXPECT_NE(text.find("1 failed: COMPILE_ERROR: kernel.cpp:3:1: error: no\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace accelopt::report
