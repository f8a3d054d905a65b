// SPDX-License-Identifier: Apache-2.0
// Races, confirmations and play-offs decided again from what a journal keeps of them.
#include <gtest/gtest.h>

#include <limits>

#include "evaluation/evaluator_json.hpp"
#include "evaluation/local_evaluator.hpp"
#include "evaluation/race/recompute.hpp"
#include "fake_target.hpp"

namespace accelopt::evaluation {
namespace {

TEST(Recompute, StoredSamplesGiveAPlayoffAgain) {
  FakeTarget target;
  const auto evaluator = make_local_evaluator(target);
  const model::Task task = fake_task();
  MeasureSettings settings;
  settings.seed = 4711;
  ASSERT_TRUE(evaluator->ask(Open{task, settings}, {}));
  const auto kernel = [](const char* text) { return Arm{model::Kernel(fake_kernel(text))}; };
  const PlayOff asked{{kernel("time=1000000"), kernel("time=400000"), kernel("time=500000"), kernel("broken"),
                       kernel("time=1 crash"), kernel("time=990000")},
                      2};
  const auto report = evaluator->ask(asked, {});
  ASSERT_TRUE(report) << report.error().message;
  // As it comes out of a journal.
  const auto stored = base::decode<PlayoffReport>(base::Json(*report), "play-off");
  ASSERT_TRUE(stored) << stored.error().message;
  EXPECT_EQ(stored->samples.size(), static_cast<std::size_t>(report->blocks));
  EXPECT_EQ(stored->samples.front().failed, (std::vector<int>{3, 4}));
  const auto again = recompute(task, {}, asked.places, stats::Samples::noisy, *stored);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->blocks, report->blocks);
  EXPECT_EQ(again->separated, report->separated);
  ASSERT_EQ(again->arms.size(), asked.arms.size());
  for (std::size_t arm = 0; arm < asked.arms.size(); ++arm) {
    EXPECT_EQ(again->arms[arm].measured, report->arms[arm].measured) << arm;
    EXPECT_EQ(again->arms[arm].dropped, report->arms[arm].dropped) << arm;
    EXPECT_EQ(again->arms[arm].blocks, report->arms[arm].blocks) << arm;
    EXPECT_DOUBLE_EQ(again->arms[arm].score.estimate, report->arms[arm].score.estimate) << arm;
    EXPECT_EQ(again->arms[arm].workloads.size(), report->arms[arm].workloads.size()) << arm;
  }
  PlayoffReport damaged = *stored;
  damaged.samples.front().times_ns[3] = {1.0};
  EXPECT_FALSE(recompute(task, {}, asked.places, stats::Samples::noisy, damaged)) << "it did not build";
  damaged = *stored;
  damaged.samples.insert(damaged.samples.end(), 100, damaged.samples.back());
  EXPECT_FALSE(recompute(task, {}, asked.places, stats::Samples::noisy, damaged)) << "it was over before";
  EXPECT_FALSE(recompute(task, {}, asked.places, stats::Samples::noisy, PlayoffReport{}));
}

TEST(Recompute, SamplesThatNoRaceGives_NothingIsDecided) {
  FakeTarget target;
  const auto evaluator = make_local_evaluator(target);
  const model::Task task = fake_task();
  ASSERT_TRUE(evaluator->ask(Open{task, {}}, {}));
  const model::Kernel faster(fake_kernel("time=500000"));
  const auto raced = evaluator->ask(Race{faster, model::Kernel(task.baseline)}, {});
  const auto confirmed = evaluator->ask(Confirm{faster}, {});
  ASSERT_TRUE(raced && confirmed);
  for (const model::Evaluation& good : {*raced, *confirmed}) {
    ASSERT_TRUE(recompute(task, {}, good)) << to_string(good.kind);
    model::Evaluation damaged = good;
    damaged.samples.push_back(good.samples.back());
    EXPECT_FALSE(recompute(task, {}, damaged)) << "it was over before: " << to_string(good.kind);
    for (const double no_time : {0.0, -1.0, std::numeric_limits<double>::infinity()}) {
      damaged = good;
      damaged.samples.front().candidate_ns.front() = no_time;
      EXPECT_FALSE(recompute(task, {}, damaged)) << no_time << " ns: " << to_string(good.kind);
    }
  }
}

TEST(ReadSettings, OutOfBounds_RefusedByName) {
  for (const auto& [name, value] : std::vector<std::pair<std::string, base::Json>>{{"confirm_max_blocks", 0},
                                                                                   {"confirm_min_blocks", 101},
                                                                                   {"confirm_restarts", -1},
                                                                                   {"playoff_min_blocks", 49},
                                                                                   {"playoff_max_blocks", 1'000'000},
                                                                                   {"slots", 1},
                                                                                   {"max_tuning_seconds", 1e9},
                                                                                   {"allow_regression", -0.1}}) {
    const auto read = read_settings({{name, value}}, "settings");
    ASSERT_FALSE(read) << name;
    EXPECT_EQ(read.error().code, base::ErrorCode::corrupt);
    EXPECT_TRUE(read.error().message.starts_with("settings: " + name)) << read.error().message;
  }
  EXPECT_TRUE(read_settings(base::Json(MeasureSettings()), "settings"));
}

}  // namespace
}  // namespace accelopt::evaluation
