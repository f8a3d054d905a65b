// SPDX-License-Identifier: Apache-2.0
#include "base/thread_cache.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <set>

namespace accelopt::base {
namespace {

TEST(ThreadCache, Work_ThatWaitsForOtherWork_Ends) {
  ThreadCache threads;
  constexpr int kAll = 40;
  std::atomic<int> begun = 0;
  {
    ThreadCache::Group group(threads);
    for (int i = 0; i < kAll; ++i) {
      group.run([&] {
        ++begun;
        while (begun < kAll) std::this_thread::yield();  // so each needs a thread of its own
      });
    }
  }
  EXPECT_EQ(begun, kAll);
}

TEST(ThreadCache, Groups_OneAfterTheOther_ShareThreads) {
  ThreadCache threads;
  std::mutex mutex;
  std::set<std::thread::id> ids;
  for (int i = 0; i < 50; ++i) {
    ThreadCache::Group group(threads);
    group.run([&] {
      const std::lock_guard lock(mutex);
      ids.insert(std::this_thread::get_id());
    });
  }
  EXPECT_LT(ids.size(), 25U);
}

TEST(ThreadCache, Group_WithinWork_WaitsForItsOwn) {
  ThreadCache threads;
  std::atomic<int> done = 0;
  {
    ThreadCache::Group outer(threads);
    for (int i = 0; i < 4; ++i) {
      outer.run([&] {
        int inner_done = 0;
        {
          std::mutex mutex;
          ThreadCache::Group inner(threads);
          for (int j = 0; j < 8; ++j) {
            inner.run([&] {
              const std::lock_guard lock(mutex);
              ++inner_done;
            });
          }
        }
        done += inner_done;
      });
    }
  }
  EXPECT_EQ(done, 32);
}

TEST(ThreadCache, GroupEnd_WaitsForWhatWorkHolds) {
  ThreadCache threads;
  for (int round = 0; round < 200; ++round) {
    auto held = std::make_shared<int>(round);
    const std::weak_ptr<int> seen = held;
    {
      ThreadCache::Group group(threads);
      group.run([held = std::move(held)] { ASSERT_NE(held, nullptr); });
    }
    ASSERT_TRUE(seen.expired()) << "in round " << round;
  }
}

TEST(ThreadCache, WorkHeldToItsEnd_MayUseTheCache) {
  ThreadCache threads;
  std::atomic<int> done = 0;
  {
    // Run by the destructor of what the first work holds, on a thread of the cache.
    std::shared_ptr<void> last(nullptr, [&](void*) {
      ThreadCache::Group inner(threads);
      inner.run([&] { ++done; });
    });
    ThreadCache::Group group(threads);
    group.run([last = std::move(last)] {});
  }
  EXPECT_EQ(done, 1);
}

TEST(ThreadCache, End_WaitsForAllWork) {
  std::atomic<int> done = 0;
  {
    ThreadCache threads;
    ThreadCache::Group group(threads);
    for (int i = 0; i < 100; ++i) group.run([&] { ++done; });
  }
  EXPECT_EQ(done, 100);
}

}  // namespace
}  // namespace accelopt::base
