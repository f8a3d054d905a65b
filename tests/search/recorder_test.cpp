// SPDX-License-Identifier: Apache-2.0
#include "search/recorder.hpp"

#include <gtest/gtest.h>

#include "search/fake_iteration.hpp"

namespace accelopt::search {
namespace {

using base::Json;
using base::Outcome;

/// Steps of the kind "build" that give the number 1, 2, ... of their making.
class RecorderTest : public testing::Test {
 protected:
  Outcome<int> build(Recorder& recorder, const Json& input) {
    return recorder.once<int>(kBuild, input, [&]() -> Outcome<int> { return ++made_; });
  }

  const journal::StepKey kBuild{{.iteration = 0}, "build"};
  std::unique_ptr<journal::Journal> journal_ = journal_of_one_run();
  Recorder recorder_{*journal_, "r1", Missing::do_it};
  int made_ = 0;
};

TEST_F(RecorderTest, EqualInput_IsMadeOnce) {
  EXPECT_EQ(build(recorder_, {{"source", "a"}}), 1);
  EXPECT_EQ(build(recorder_, {{"source", "a"}}), 1);
  Recorder resumed(*journal_, "r1", Missing::do_it);
  EXPECT_EQ(build(resumed, {{"source", "a"}}), 1);
  EXPECT_EQ(made_, 1);
  EXPECT_EQ(recorder_.found(), 1);
  EXPECT_EQ(recorder_.absent(), 1);
  EXPECT_EQ(resumed.found(), 1);
}

TEST_F(RecorderTest, OtherInput_IsMadeAnew) {
  EXPECT_EQ(build(recorder_, {{"source", "a"}}), 1);
  EXPECT_EQ(build(recorder_, {{"source", "b"}}), 2);
  EXPECT_TRUE(*recorder_.on_record(kBuild, {{"source", "b"}}));
  EXPECT_FALSE(*recorder_.on_record(kBuild, {{"source", "c"}}));
}

TEST_F(RecorderTest, Error_IsNotRecorded) {
  const auto failed = recorder_.once<int>(
      kBuild, {}, []() -> Outcome<int> { return base::fail(ErrorCode::unavailable, "the worker died"); });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::unavailable);
  EXPECT_EQ(build(recorder_, {}), 1);
}

TEST_F(RecorderTest, ReplayWithoutStep_MakesNothing) {
  Recorder replay(*journal_, "r1", Missing::leave_it);
  const auto absent = build(replay, {});
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().why, base::Why::not_on_record);
  EXPECT_NE(absent.error().message.find("build i0"), std::string::npos) << absent.error().message;
  EXPECT_EQ(made_, 0);
  EXPECT_EQ(replay.absent(), 1);
}

TEST_F(RecorderTest, ForeignOutput_IsNamedAsSuch) {
  ASSERT_TRUE(recorder_.record(kBuild, {}, "not a number"));
  const auto read = build(recorder_, {});
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("journal step build"), std::string::npos) << read.error().message;
}

TEST_F(RecorderTest, RecordedChats_AreSummedByLabel) {
  for (const char* label : {"planner i0 try0", "planner i0 try1", "planner i1 try0", "executor i0 try0"}) {
    const auto reply = recorder_.once<Json>({{}, std::string("chat:") + label}, {}, []() -> Outcome<Json> {
      return Json{{"usage", model::Usage{.calls = 1, .input_tokens = 100}}};
    });
    ASSERT_TRUE(reply);
  }
  const auto usage = recorder_.usage_of_chats("planner i0 ");
  ASSERT_TRUE(usage);
  EXPECT_EQ(usage->calls, 2);
  EXPECT_EQ(usage->input_tokens, 200);
}

}  // namespace
}  // namespace accelopt::search
