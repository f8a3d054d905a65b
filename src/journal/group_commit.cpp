// SPDX-License-Identifier: Apache-2.0
#include "journal/group_commit.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace accelopt::journal {

using base::Result;
using base::Transaction;

namespace {

/// How long a leader waits for others, a thread that waited for the group before, if there were several, and at most.
/// Each commit writes every page that its rows touch, most of which the next one touches again: where a thousand
/// candidates come a second, a group becomes some twenty of them. A question takes a hundred times as long at least.
constexpr std::chrono::milliseconds kMomentEach(4);
constexpr std::chrono::milliseconds kLongestMoment(20);
/// The last write that a thread has queued. A number that another object left here is at worst one that is waited for
/// in vain.
struct LastQueued {
  const GroupCommit* in = nullptr;
  std::uint64_t number = 0;
};
thread_local LastQueued last_queued;

/// So many threads are not worth waiting for more.
constexpr std::size_t kManyWaiting = 64;
/// What nobody waits for is committed after so long, or twice as long.
constexpr std::chrono::milliseconds kSweep(20);

}  // namespace

GroupCommit::~GroupCommit() {
  sweeper_ = {};  // stops it and waits for it
  settle();
}

Result<void> GroupCommit::run(const Write& write, Statements statements) {
  Result<void> result;
  std::unique_lock lock(queue_mutex_);
  push({.write = &write, .statements = statements, .result = &result});
  wait_for(lock, came_);
  return result;
}

void GroupCommit::queue(std::unique_ptr<Queued> write) {
  bool wake = false;
  {
    const std::lock_guard lock(queue_mutex_);
    push({.statements = Statements::several, .queued = std::move(write)});
    last_queued = {this, came_};
    if (!sweeper_.joinable())
      sweeper_ = std::jthread([this](const std::stop_token& stop) { commit_what_is_left(stop); });
    wake = std::exchange(resting_, false);
  }
  if (wake) left_.notify_one();
}

void GroupCommit::settle() {
  std::unique_lock lock(queue_mutex_);
  wait_for(lock, came_);
}

void GroupCommit::settle_own() {
  if (last_queued.in != this || done_ >= last_queued.number) return;
  std::unique_lock lock(queue_mutex_);
  wait_for(lock, std::min(last_queued.number, came_));
}

void GroupCommit::begin_own() {
  last_queued = {};
}

void GroupCommit::push(Pending pending) {
  queue_.push_back(std::move(pending));
  ++came_;
}

void GroupCommit::wait_for(std::unique_lock<std::mutex>& lock, std::uint64_t count) {
  if (done_ >= count) return;
  // It may be in the group that is being committed, and is in the next one otherwise.
  const bool in_next = done_ + (came_ - done_ - queue_.size()) < count;
  const std::uint64_t group = in_next ? group_ : group_ - 1;
  if (in_next) {
    if (++waiting_ == kManyWaiting && led_) filled_.notify_one();
  }
  settled_[group % 2].wait(lock, [&] { return done_ >= count || !led_; });
  if (done_ < count) lead(lock);
}

void GroupCommit::lead(std::unique_lock<std::mutex>& lock) {
  led_ = true;
  if (last_waiting_ > 1) {
    const auto moment = std::min<std::chrono::milliseconds>(kMomentEach * last_waiting_, kLongestMoment);
    filled_.wait_for(lock, moment, [&] { return waiting_ >= kManyWaiting; });
  }
  const std::uint64_t group_number = group_++;
  std::vector<Pending> group = std::exchange(queue_, {});
  last_waiting_ = std::exchange(waiting_, 0);
  lock.unlock();
  commit(group);
  lock.lock();
  done_ += group.size();
  led_ = false;
  const bool more = waiting_ > 0;
  lock.unlock();
  settled_[group_number % 2].notify_all();
  if (more) settled_[(group_number + 1) % 2].notify_one();  // it leads the next one
  group.clear();
  lock.lock();
}

void GroupCommit::commit_what_is_left(const std::stop_token& stop) {
  std::unique_lock lock(queue_mutex_);
  while (!stop.stop_requested()) {
    left_.wait(lock, stop, [&] { return !resting_; });
    const std::uint64_t before = came_;
    left_.wait_for(lock, stop, kSweep, [] { return false; });
    if (done_ < before && !led_) lead(lock);
    resting_ = queue_.empty() && came_ == before;
  }
}

void GroupCommit::commit(std::vector<Pending>& group) {
  const std::lock_guard lock(mutex_);
  if (check_) {
    if (const auto checked = check_(); !checked) return tell_all(group, checked.error());
  }
  // What one write cannot do is told to its own thread alone: the others are run again without it.
  const bool several = group.size() > 1 || group.front().statements == Statements::several;
  if (several && commit_together(group)) return;
  for (Pending& one : group) tell(one, run_one(one));
}

bool GroupCommit::commit_together(std::vector<Pending>& group) {
  auto transaction = Transaction::begin(database_);
  if (!transaction) {
    // Another process holds the lock, and has for as long as is waited for: nobody waits for it once more.
    tell_all(group, transaction.error());
    return true;
  }
  for (const Pending& one : group) {
    if (!run_one(one)) return false;
  }
  return transaction->commit().has_value();
}

Result<void> GroupCommit::run_one(const Pending& pending) {
  return pending.queued ? pending.queued->write() : (*pending.write)();
}

void GroupCommit::tell(Pending& pending, Result<void> result) {
  if (pending.result != nullptr)
    *pending.result = std::move(result);
  else if (!result)
    pending.queued->lost(result.error());
}

void GroupCommit::tell_all(std::vector<Pending>& group, const base::Error& error) {
  for (Pending& one : group) tell(one, tl::make_unexpected(error));
}

}  // namespace accelopt::journal
