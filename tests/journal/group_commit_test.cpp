// SPDX-License-Identifier: Apache-2.0
#include "journal/group_commit.hpp"

#include <gtest/gtest.h>

#include <atomic>
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

}  // namespace
}  // namespace accelopt::journal
