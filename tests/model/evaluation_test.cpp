// SPDX-License-Identifier: Apache-2.0
#include "model/evaluation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/json_text.hpp"
#include "model/experience.hpp"
#include "model/kernel.hpp"
#include "model/usage.hpp"

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
  evaluation.stages = {{Stage::build, 0.5}};
  evaluation.profile = Profile{{{"cold time", 1, "ns", "time with cold caches"}}, {"line 3: vectorized"}};
  evaluation.environment.seed = 0xFFFFFFFFFFFFFFFFULL;
  // What nobody has noted leaves no trace: records of before stay what they were.
  EXPECT_FALSE(base::Json(evaluation).contains("notes"));
  EXPECT_FALSE(base::Json(evaluation)["profile"].contains("notes"));
  for (const char* field : {"reference_mhz", "candidate_mhz", "shifted_mhz", "reference_lag_ns", "candidate_lag_ns"})
    EXPECT_FALSE(base::Json(evaluation)["samples"][0].contains(field)) << field;
  evaluation.notes = {"checked by nobody"};
  evaluation.samples.push_back({{1}, {2}, 0, false, {3}, {1980}, {1965}, {1950}, {4000}, {5000}, {6000}});
  evaluation.profile->notes = {"counted by nobody"};

  const auto back =
      base::decode<Evaluation>(*base::parse_json(base::canonical(base::Json(evaluation)), "evaluation"), "evaluation");

  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(base::Json(*back), base::Json(evaluation));
  EXPECT_EQ(base::json_of(evaluation), base::canonical(evaluation));
  EXPECT_TRUE(std::isnan(back->mismatch->actual));
  EXPECT_TRUE(std::isinf(back->ratio->high));
  EXPECT_EQ(back->environment.seed, 0xFFFFFFFFFFFFFFFFULL);
  EXPECT_EQ(back->samples[0].slot, 5);
  EXPECT_EQ(back->samples[1].candidate_mhz, std::vector<double>{1965});
  EXPECT_EQ(back->samples[1].reference_lag_ns, std::vector<double>{4000});
  EXPECT_EQ(back->notes, evaluation.notes);
  EXPECT_EQ(back->profile->notes, evaluation.profile->notes);
}

TEST(Evaluation, TuningSurvivesJson) {
  Evaluation evaluation;
  Tuning tuning;
  tuning.source_id = "abc";
  tuning.names = {"MR", "NR"};
  tuning.sets = {{4, 6}, {8}};
  tuning.combinations = 2;
  tuning.configurations = 2;
  tuning.chosen = {6, 8};
  tuning.field = {{{4, 8}, model::TunedFate::failed, Status::timeout, "did not return", 3, std::nullopt},
                  {{6, 8}, model::TunedFate::chosen, Status::passed, "", 45, Interval{1, 0.99, 1.01}}};
  tuning.heats = {{1, {1, 0}, 0.25, {{0, 0}, {-0.5, -0.25}}}};
  tuning.seconds = 1.5;
  evaluation.tuning = tuning;

  const auto back =
      base::decode<Evaluation>(*base::parse_json(base::canonical(base::Json(evaluation)), "evaluation"), "evaluation");

  ASSERT_TRUE(back) << back.error().message;
  ASSERT_TRUE(back->tuning);
  EXPECT_EQ(base::Json(*back), base::Json(evaluation));
  EXPECT_EQ(base::json_of(evaluation), base::canonical(evaluation));
  EXPECT_EQ(back->tuning->chosen, (std::vector<std::int64_t>{6, 8}));
  EXPECT_EQ(back->tuning->field[0].status, Status::timeout);
  EXPECT_EQ(back->tuning->heats[0].log_ratios[1][1], -0.25);

  tuning.chosen.reset();
  evaluation.tuning = tuning;
  EXPECT_FALSE(base::decode<Evaluation>(base::Json(evaluation), "evaluation")->tuning->chosen);
}

TEST(WrittenJson, WhatStepsHold_IsThatOfTheirObjects) {
  const auto same = [](const auto& value) { EXPECT_EQ(base::json_of(value), base::canonical(base::Json(value))); };
  same(Evaluation());
  Evaluation evaluation;
  evaluation.duplicate_of = "abc";
  evaluation.environment.clock = kModelledClock;
  evaluation.workloads.resize(2);
  evaluation.workloads[1].role = Role::check;
  evaluation.workloads[1].reference_ns = 3;
  evaluation.workloads[1].ratio = Interval();
  evaluation.workloads[1].peak_bytes = 7;
  evaluation.profile.emplace();
  evaluation.profile->failed_as = Status::timeout;
  evaluation.profile->failure = "hung";
  evaluation.details = {{"b", 1}, {"a", {1, "x"}}};
  same(evaluation);
  same(BuildReport());
  same(BuildReport{true, "line 1: \"x\"", "b", "c", 12, {"one", "two"}, 0.25});
  same(Usage());
  same(Usage{.calls = 2, .input_tokens = 7, .usd = 0.125, .unpriced_calls = 1});
  same(Usage{.calls = 1, .output_tokens = -1});
  same(Plan());
  same(Plan{"title", {"e1", "e2"}, "text\nof it"});
  same(Solution());
  same(Kernel());
  same(Kernel(Solution{Language::c, {{"b.c", "int x; // \xff"}, {"a.h", ""}}}));
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
