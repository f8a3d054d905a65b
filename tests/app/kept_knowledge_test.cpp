// SPDX-License-Identifier: Apache-2.0
#include "app/kept_knowledge.hpp"

#include <atomic>
#include <latch>
#include <stdexcept>

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "memory/knowledge_file.hpp"

namespace accelopt::app {
namespace {

using base::ErrorCode;
using base::Result;
using Between = KeptKnowledgePorts::Between;

class KeptKnowledgeTest : public testing::Test {
 protected:
  KeptKnowledgePorts ports(Between between, std::chrono::milliseconds patience = std::chrono::minutes(1)) {
    return {.open =
                [this](KnowledgeUse) {
                  ++opened_;
                  return memory::open_knowledge_file(folder_.path() / "k.db");
                },
            .reused = [this] { ++reused_; },
            .between = between,
            .patience = patience};
  }

  static Result<std::string> name_of(KeptKnowledge& knowledge) {
    return knowledge.use<std::string>(
        KnowledgeUse::reading, {}, [](memory::KnowledgeStore& store) -> Result<std::string> { return store.name(); });
  }
  static Result<int> failing(KeptKnowledge& knowledge, ErrorCode code) {
    return knowledge.use<int>(KnowledgeUse::reading, {},
                              [code](memory::KnowledgeStore&) -> Result<int> { return base::fail(code, "failed"); });
  }

  base::TemporaryFolder folder_ = base::TemporaryFolder::create("kept-knowledge").value();
  std::atomic<int> opened_ = 0;
  std::atomic<int> reused_ = 0;
};

TEST_F(KeptKnowledgeTest, OpenBetweenCalls_IsOpenedOnceUntilItFails) {
  KeptKnowledge knowledge(ports(Between::open));
  EXPECT_TRUE(name_of(knowledge)->ends_with("k.db"));
  EXPECT_TRUE(name_of(knowledge));
  EXPECT_EQ(failing(knowledge, ErrorCode::not_found).error().code, ErrorCode::not_found);
  EXPECT_TRUE(name_of(knowledge));
  EXPECT_EQ(opened_, 1);
  EXPECT_EQ(reused_, 3);
  EXPECT_EQ(failing(knowledge, ErrorCode::unavailable).error().code, ErrorCode::unavailable);
  EXPECT_TRUE(name_of(knowledge));
  EXPECT_EQ(opened_, 2);
}

TEST_F(KeptKnowledgeTest, ClosedBetweenCalls_IsOpenedForEach) {
  KeptKnowledge knowledge(ports(Between::closed));
  EXPECT_TRUE(name_of(knowledge) && name_of(knowledge));
  EXPECT_EQ(opened_, 2);
  EXPECT_EQ(reused_, 0);
}

TEST_F(KeptKnowledgeTest, WorkThatTakesLong_GoesOnWithoutItsCall) {
  std::latch may_end(1);
  std::atomic<int> begun = 0;
  {
    KeptKnowledge knowledge(ports(Between::open, std::chrono::milliseconds(5)));
    const std::function<Result<int>(memory::KnowledgeStore&)> work = [&](memory::KnowledgeStore&) -> Result<int> {
      ++begun;
      may_end.wait();
      return 1;
    };
    while (begun == 0) {  // the first call may end before the thread has begun
      const auto first = knowledge.use(KnowledgeUse::reading, {}, work);
      ASSERT_FALSE(first);
      EXPECT_EQ(first.error().code, ErrorCode::timed_out);
      EXPECT_NE(first.error().message.find("call again in half a minute"), std::string::npos) << first.error().message;
    }
    const auto second = knowledge.use(KnowledgeUse::reading, {}, work);
    ASSERT_FALSE(second);
    EXPECT_NE(second.error().message.find("was not begun"), std::string::npos) << second.error().message;
    may_end.count_down();
  }
  EXPECT_EQ(begun, 1) << "nobody waited for the second";
}

TEST_F(KeptKnowledgeTest, CallThatIsStopped_WaitsForNothing) {
  std::latch may_end(1);
  std::stop_source stop;
  KeptKnowledge knowledge(ports(Between::open));
  const auto stopped =
      knowledge.use<int>(KnowledgeUse::reading, stop.get_token(), [&](memory::KnowledgeStore&) -> Result<int> {
        stop.request_stop();
        may_end.wait();
        return 1;
      });
  EXPECT_EQ(stopped.error().code, ErrorCode::cancelled);
  may_end.count_down();
}

TEST_F(KeptKnowledgeTest, Bug_EndsItsCallAlone) {
  KeptKnowledge knowledge(ports(Between::open));
  EXPECT_THROW(static_cast<void>(knowledge.use<int>(
                   KnowledgeUse::reading, {},
                   [](memory::KnowledgeStore&) -> Result<int> { throw std::runtime_error("a cat on the keyboard"); })),
               std::runtime_error);
  EXPECT_TRUE(name_of(knowledge));
}

}  // namespace
}  // namespace accelopt::app
