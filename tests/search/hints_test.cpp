// SPDX-License-Identifier: Apache-2.0
#include "search/hints.hpp"

#include <gtest/gtest.h>

#include "search/fake_iteration.hpp"

namespace accelopt::search {
namespace {

class Notes final : public model::EventSink {
 public:
  void on(const model::Event& event) override { texts.push_back(std::get<model::Note>(event).text); }
  std::vector<std::string> texts;
};

class HintsTest : public testing::Test {
 protected:
  HintSource source() {
    return [this](std::size_t taken) -> base::Result<std::vector<std::string>> {
      return std::vector<std::string>(told_.begin() + static_cast<std::ptrdiff_t>(taken), told_.end());
    };
  }

  std::unique_ptr<journal::Journal> journal_ = journal_of_one_run();
  std::vector<std::string> told_;
  Notes events_;
};

TEST_F(HintsTest, EachHint_IsForTheNextIterationAlone) {
  Recorder recorder(*journal_, "r1", Missing::do_it);
  Hints hints(source(), recorder, events_);
  EXPECT_EQ(hints.take(0).value(), "");
  told_ = {"a", "b"};
  EXPECT_EQ(hints.take(1).value(), "a\nb");
  EXPECT_EQ(hints.take(2).value(), "");
  told_.push_back("c");
  EXPECT_EQ(hints.take(3).value(), "c");
  EXPECT_EQ(events_.texts.front(), "hint for the planners of round 2: a");
  EXPECT_EQ(journal_->steps("r1").value().size(), 2U) << "an iteration without hints records nothing";
}

TEST_F(HintsTest, Resumed_TakesWhatWasTaken) {
  told_ = {"a"};
  Recorder first(*journal_, "r1", Missing::do_it);
  EXPECT_EQ(Hints(source(), first, events_).take(0).value(), "a");
  told_.push_back("b");
  Recorder second(*journal_, "r1", Missing::do_it);
  Hints again(source(), second, events_);
  EXPECT_EQ(again.take(0).value(), "a");
  EXPECT_EQ(again.take(1).value(), "b");
}

TEST_F(HintsTest, RoundWithPlans_KeepsThem) {
  const std::vector<journal::StepKey> answered{{{.iteration = 0, .parent = 0, .plan = 1}, "plan"},
                                               {{.iteration = 1, .parent = 0}, "plans"},
                                               {{}, "chat:planner i2.b0.p0 try0"}};
  Recorder recorder(*journal_, "r1", Missing::do_it);
  for (const journal::StepKey& key : answered) ASSERT_TRUE(recorder.record(key, {}, {{"answered", true}}));
  told_ = {"a"};
  Hints hints(source(), recorder, events_);
  for (const int round : {0, 1, 2}) EXPECT_EQ(hints.take(round).value(), "") << round;
  EXPECT_EQ(hints.take(3).value(), "a");
}

TEST_F(HintsTest, RoundThatWaits_TakesNoMore) {
  Recorder first(*journal_, "r1", Missing::do_it);
  Hints hints(source(), first, events_);
  EXPECT_EQ(hints.take(0).value(), "");
  ASSERT_TRUE(hints.close(0));
  told_ = {"a"};
  Recorder second(*journal_, "r1", Missing::do_it);
  Hints again(source(), second, events_);
  EXPECT_EQ(again.take(0).value(), "");
  EXPECT_EQ(again.take(1).value(), "a");
  ASSERT_TRUE(again.close(1));
  EXPECT_EQ(journal_->steps("r1").value().size(), 2U);
}

TEST_F(HintsTest, Replay_ReadsTheRecordAlone) {
  told_ = {"a"};
  Recorder first(*journal_, "r1", Missing::do_it);
  EXPECT_EQ(Hints(source(), first, events_).take(1).value(), "a");
  Recorder replaying(*journal_, "r1", Missing::leave_it);
  Hints replayed({}, replaying, events_);
  EXPECT_EQ(replayed.take(0).value(), "");
  EXPECT_EQ(replayed.take(1).value(), "a");
}

}  // namespace
}  // namespace accelopt::search
