// SPDX-License-Identifier: Apache-2.0
#include "model/evaluation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace accelopt::model {
namespace {

TEST(Evaluation, SurvivesJsonWithNanAndInfinity) {
  Evaluation evaluation;
  evaluation.status = Status::incorrect_numerical;
  evaluation.verdict = Verdict::slower;
  evaluation.ratio = Interval{0.5, 0.4, std::numeric_limits<double>::infinity()};
  Mismatch mismatch;
  mismatch.workload = "odd";
  mismatch.index = 17;
  mismatch.expected = 1;
  mismatch.actual = std::nan("");
  evaluation.mismatch = mismatch;
  WorkloadTiming timing;
  timing.name = "decode";
  timing.time_ns = 5;
  timing.roofline = RooflinePoint{1, 0.2, "memory"};
  evaluation.workloads = {timing};
  evaluation.samples = {{{1, 2}, {3, 4}, 5, true}};
  evaluation.stages = {{"build", 0.5}};
  evaluation.profile = Profile{{{"cold time", 1, "ns", "time with cold caches"}}, {"line 3: vectorized"}};
  evaluation.environment.seed = 0xFFFFFFFFFFFFFFFFULL;

  const auto back =
      base::decode<Evaluation>(*base::parse_json(base::canonical(base::Json(evaluation)), "evaluation"), "evaluation");

  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(base::Json(*back), base::Json(evaluation));
  EXPECT_TRUE(std::isnan(back->mismatch->actual));
  EXPECT_TRUE(std::isinf(back->ratio->high));
  EXPECT_EQ(back->environment.seed, 0xFFFFFFFFFFFFFFFFULL);
  EXPECT_EQ(back->samples[0].slot, 5);
}

TEST(Status, NamesAreTheDocumentedOnes) {
  EXPECT_EQ(to_string(Status::incorrect_numerical), "INCORRECT_NUMERICAL");
  EXPECT_EQ(parse_status("TIMEOUT"), Status::timeout);
  EXPECT_EQ(parse_status("?"), Status::not_measured);
  EXPECT_EQ(parse_verdict("FASTER"), Verdict::faster);
}

TEST(Decode, SaysWhatIsMissing) {
  const auto decoded = base::decode<Evaluation>(base::Json::object(), "step 3");
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, base::ErrorCode::parse);
  EXPECT_NE(decoded.error().message.find("step 3"), std::string::npos);
  EXPECT_NE(decoded.error().message.find("status"), std::string::npos);
}

}  // namespace
}  // namespace accelopt::model
