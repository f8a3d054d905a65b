// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/sqlite.hpp"

namespace accelopt::journal {

/// Commits what several threads write at about the same time in one transaction, in the order in which it came. A write
/// is waited for by the thread that makes it, or left in the queue until somebody has to know that it is committed.
///
/// Of the threads that wait, one at a time leads: it takes what has come, runs it, commits, and wakes the others. A
/// thread that waits alone leads at once; where many wait, the leader waits a moment for more of them. What nobody
/// waits for is committed by a thread of this object after a short while.
class GroupCommit {
 public:
  using Write = std::function<base::Result<void>()>;

  /// A write that its thread does not wait for.
  class Queued {
   public:
    Queued() = default;
    Queued(const Queued&) = delete;
    Queued& operator=(const Queued&) = delete;
    virtual ~Queued() = default;
    /// As the `write` of run(); the database's mutex is held.
    virtual base::Result<void> write() = 0;
    /// It could not be committed. Called before settle() returns to whoever waits for it.
    virtual void lost(const base::Error& error) = 0;
  };

  /// `mutex` guards the database, and is held while a group is run. Both outlive this. `check`, if any, is asked before
  /// each group: what it says is said of all its writes, and none is run.
  GroupCommit(base::Database& database, std::mutex& mutex, Write check = {})
      : database_(database), mutex_(mutex), check_(std::move(check)) {}
  GroupCommit(const GroupCommit&) = delete;
  GroupCommit& operator=(const GroupCommit&) = delete;
  /// Commits what is queued.
  ~GroupCommit();

  enum class Statements { one, several };

  /// Runs `write` once, or again where the transaction that it was in was rolled back; so it does the same when it is
  /// run again. Any thread, which holds neither mutex. @error what it gives, or that it could not be committed.
  base::Result<void> run(const Write& write, Statements statements = Statements::one);

  /// Leaves a write in the queue. Any thread, which holds neither mutex.
  void queue(std::unique_ptr<Queued> write);
  /// Waits until all that was queued before is committed or lost. Any thread, which holds neither mutex.
  void settle();
  /// The same for what the calling thread has queued.
  void settle_own();
  /// settle_own() waits for what the calling thread queues from now on.
  static void begin_own();

 private:
  /// What one thread waits for, or what is queued.
  struct Pending {
    const Write* write = nullptr;  ///< null: queued
    Statements statements = Statements::one;
    base::Result<void>* result = nullptr;
    std::unique_ptr<Queued> queued{};
  };

  void push(Pending pending);
  /// Returns when the first `count` of all writes are done. The queue's mutex is held.
  void wait_for(std::unique_lock<std::mutex>& lock, std::uint64_t count);
  /// Takes what is queued and commits it. The queue's mutex is held, nobody leads.
  void lead(std::unique_lock<std::mutex>& lock);
  void commit(std::vector<Pending>& group);
  /// In one transaction. False: one of them failed, and nothing of any is there.
  bool commit_together(std::vector<Pending>& group);
  void commit_what_is_left(const std::stop_token& stop);

  static base::Result<void> run_one(const Pending& pending);
  static void tell(Pending& pending, base::Result<void> result);
  static void tell_all(std::vector<Pending>& group, const base::Error& error);

  base::Database& database_;
  std::mutex& mutex_;
  Write check_;
  std::mutex queue_mutex_;
  std::condition_variable filled_;                  ///< what a leader waits for
  std::array<std::condition_variable, 2> settled_;  ///< of the group that is made now, and of the one that is committed
  std::vector<Pending> queue_;
  std::uint64_t came_ = 0;  ///< writes
  std::atomic<std::uint64_t> done_ = 0;
  std::uint64_t group_ = 0;       ///< number of the one that `queue_` becomes
  std::size_t waiting_ = 0;       ///< threads, for the one that `queue_` becomes
  std::size_t last_waiting_ = 0;  ///< for the one before, its leader included
  bool led_ = false;
  bool resting_ = true;  ///< the thread looks at nothing until it is woken
  std::condition_variable_any left_;
  std::jthread sweeper_;  ///< last: it uses the rest
};

}  // namespace accelopt::journal
