// SPDX-License-Identifier: Apache-2.0
#include "journal/group_commit.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/files.hpp"

namespace accelopt::journal {
namespace {

using base::Database;
using base::OpenMode;
using base::Result;

/// A database of one table with a second connection, which sees only what is committed.
class GroupCommitTest : public testing::Test {
 protected:
  GroupCommitTest() : folder_(*base::TemporaryFolder::create("accelopt-group-test")), database_(open()) {
    EXPECT_TRUE(database_->execute("PRAGMA journal_mode = WAL"));
    EXPECT_TRUE(database_->execute("CREATE TABLE written(value INTEGER PRIMARY KEY)"));
    other_ = open();
  }

  std::unique_ptr<Database> open() {
    return std::move(*Database::open(folder_.path() / "x.db", OpenMode::create, std::chrono::milliseconds(20)));
  }

  Result<void> insert(std::int64_t value) {
    return group_.run([&] { return database_->run("INSERT INTO written(value) VALUES(?)", value); });
  }

  std::int64_t committed(std::int64_t value) {
    const std::lock_guard lock(other_mutex_);
    return other_->number_of("SELECT count(*) FROM written WHERE value = ?", value).value();
  }

  class Insertion final : public GroupCommit::Queued {
   public:
    Insertion(GroupCommitTest& test, std::int64_t value) : test_(test), value_(value) {}
    Result<void> write() override { return test_.database_->run("INSERT INTO written(value) VALUES(?)", value_); }
    void lost(const base::Error&) override { ++test_.lost_; }

   private:
    GroupCommitTest& test_;
    std::int64_t value_;
  };

  void queue(std::int64_t value) { group_.queue(std::make_unique<Insertion>(*this, value)); }

  std::atomic<int> lost_ = 0;
  base::TemporaryFolder folder_;
  std::unique_ptr<Database> database_;
  std::unique_ptr<Database> other_;
  std::mutex mutex_, other_mutex_;
  GroupCommit group_{*database_, mutex_};
};

constexpr int kCommitters = 16;
constexpr int kCommits = 40;

TEST_F(GroupCommitTest, EachWrite_IsCommittedWhenItReturns) {
  std::atomic<int> lost = 0;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kCommitters; ++thread) {
      threads.emplace_back([&, thread] {
        for (int i = 0; i < kCommits; ++i) {
          const std::int64_t value = thread * kCommits + i;
          if (!insert(value) || committed(value) != 1) ++lost;
        }
      });
    }
  }
  EXPECT_EQ(lost, 0);
  EXPECT_EQ(other_->number_of("SELECT count(*) FROM written").value(), kCommitters * kCommits);
}

TEST_F(GroupCommitTest, AWriteThatFails_FailsAlone) {
  ASSERT_TRUE(insert(-1));
  std::atomic<int> refused = 0;
  std::atomic<int> lost = 0;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kCommitters; ++thread) {
      threads.emplace_back([&, thread] {
        for (int i = 0; i < kCommits; ++i) {
          if (i % 8 == 3 && !insert(-1)) ++refused;
          if (!insert(thread * kCommits + i)) ++lost;
        }
      });
    }
  }
  EXPECT_EQ(refused, kCommitters * kCommits / 8);
  EXPECT_EQ(lost, 0);
  EXPECT_EQ(other_->number_of("SELECT count(*) FROM written").value(), kCommitters * kCommits + 1);
}

TEST_F(GroupCommitTest, ALockedDatabase_IsToldToAllOfTheGroup) {
  ASSERT_TRUE(other_->execute("BEGIN IMMEDIATE"));
  std::atomic<int> unavailable = 0;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&, thread] {
        const auto written = insert(thread);
        if (!written && written.error().code == base::ErrorCode::unavailable) ++unavailable;
      });
    }
  }
  EXPECT_EQ(unavailable, 4);
  ASSERT_TRUE(other_->execute("ROLLBACK"));
  EXPECT_TRUE(insert(9));
  EXPECT_EQ(committed(9), 1);
}

TEST_F(GroupCommitTest, AThreadThatBeginsAnew_WaitsForNothingOfBefore) {
  {
    const std::lock_guard nothing_is_committed(mutex_);
    queue(1);
    GroupCommit::begin_own();
    group_.settle_own();
  }
  queue(2);
  group_.settle_own();
  EXPECT_EQ(committed(1), 1);
  EXPECT_EQ(committed(2), 1);
}

TEST_F(GroupCommitTest, AQueuedWrite_IsCommittedWhenItSettles) {
  std::atomic<int> absent = 0;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kCommitters; ++thread) {
      threads.emplace_back([&, thread] {
        for (int i = 0; i < kCommits; ++i) {
          const std::int64_t value = thread * kCommits + i;
          queue(value);
          if (i % 3 != 0) continue;
          group_.settle();
          if (committed(value) != 1) ++absent;
        }
      });
    }
  }
  group_.settle();
  EXPECT_EQ(absent, 0);
  EXPECT_EQ(lost_, 0);
  EXPECT_EQ(other_->number_of("SELECT count(*) FROM written").value(), kCommitters * kCommits);
}

TEST_F(GroupCommitTest, AQueuedWrite_ComesBeforeALaterOne) {
  for (int value = 0; value < 200; ++value) {
    queue(value);
    if (value % 10 != 0) continue;
    ASSERT_TRUE(insert(1000 + value));
    EXPECT_EQ(committed(value), 1) << value;
  }
  group_.settle();
  EXPECT_EQ(other_->number_of("SELECT max(rowid) FROM written").value(), 1190);
  EXPECT_EQ(lost_, 0);
}

TEST_F(GroupCommitTest, AQueuedWriteThatNobodyWaitsFor_IsCommittedSoon) {
  queue(1);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (committed(1) == 0 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  EXPECT_EQ(committed(1), 1);
}

TEST_F(GroupCommitTest, AQueuedWriteThatFails_IsLostAlone) {
  queue(7);
  queue(7);
  queue(8);
  group_.settle();
  EXPECT_EQ(lost_, 1);
  EXPECT_EQ(committed(7) + committed(8), 2);
}

TEST_F(GroupCommitTest, WhatTheCheckSays_IsToldToAllAndNothingIsRun) {
  bool there = false;
  GroupCommit checked(*database_, mutex_, [&]() -> Result<void> {
    if (there) return {};
    return base::fail(base::ErrorCode::not_found, "moved");
  });
  checked.queue(std::make_unique<Insertion>(*this, 1));
  const auto written = checked.run([&] { return database_->run("INSERT INTO written(value) VALUES(2)"); });
  EXPECT_EQ(written.error().code, base::ErrorCode::not_found);
  EXPECT_EQ(lost_, 1);
  there = true;
  EXPECT_TRUE(checked.run([&] { return database_->run("INSERT INTO written(value) VALUES(3)"); }));
  EXPECT_EQ(other_->number_of("SELECT count(*) FROM written").value(), 1);
}

}  // namespace
}  // namespace accelopt::journal
