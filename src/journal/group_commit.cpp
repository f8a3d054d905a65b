// SPDX-License-Identifier: Apache-2.0
#include "journal/group_commit.hpp"

#include <chrono>
#include <utility>

namespace accelopt::journal {

using base::Result;
using base::Transaction;

namespace {

/// How long a leader waits for others where the group before had several. A step of a search takes a hundred times as
/// long at least; at some thousand writes a second a group becomes ten or so.
constexpr std::chrono::milliseconds kMoment(2);
/// A group that is large enough not to wait for more.
constexpr std::size_t kLargeGroup = 64;

}  // namespace

Result<void> GroupCommit::run(const Write& write, Statements statements) {
  Pending own;
  own.write = &write;
  own.statements = statements;
  std::unique_lock lock(queue_mutex_);
  queue_.push_back(&own);
  if (led_) {
    if (queue_.size() == kLargeGroup) filled_.notify_one();
    own.woken.wait(lock, [&] { return own.done || !led_; });
    if (own.done) return own.result;
  }
  led_ = true;
  if (last_group_ > 1) filled_.wait_for(lock, kMoment, [&] { return queue_.size() >= kLargeGroup; });
  const std::vector<Pending*> group = std::exchange(queue_, {});
  lock.unlock();
  commit(group);
  lock.lock();
  last_group_ = group.size();
  led_ = false;
  for (Pending* const one : group) {
    one->done = true;
    if (one != &own) one->woken.notify_one();
  }
  if (!queue_.empty()) queue_.front()->woken.notify_one();  // it leads the next one
  return own.result;
}

void GroupCommit::commit(const std::vector<Pending*>& group) {
  const std::lock_guard lock(mutex_);
  // What one write cannot do is told to its own thread alone: the others are run again without it.
  const bool several = group.size() > 1 || group.front()->statements == Statements::several;
  if (several && commit_together(group)) return;
  for (Pending* const one : group) one->result = (*one->write)();
}

bool GroupCommit::commit_together(const std::vector<Pending*>& group) {
  auto transaction = Transaction::begin(database_);
  if (!transaction) {
    // Another process holds the lock, and has for as long as is waited for: nobody waits for it once more.
    for (Pending* const one : group) one->result = tl::make_unexpected(transaction.error());
    return true;
  }
  for (Pending* const one : group) {
    if (!(*one->write)()) return false;
  }
  return transaction->commit().has_value();
}

}  // namespace accelopt::journal
