// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <vector>

#include "base/result.hpp"
#include "base/sqlite.hpp"

namespace accelopt::journal {

/// Commits what several threads write at about the same time in one transaction. Each write returns when its
/// transaction is committed, so nobody goes on from what a killed process could lose.
///
/// Of the threads that write, one at a time leads: it takes what has come, runs it, commits, and wakes the others. A
/// thread that writes alone leads at once; where many write, the leader waits a moment for more of them.
class GroupCommit {
 public:
  using Write = std::function<base::Result<void>()>;

  /// `mutex` guards the database, and is held while a group is run. Both outlive this.
  GroupCommit(base::Database& database, std::mutex& mutex) : database_(database), mutex_(mutex) {}
  GroupCommit(const GroupCommit&) = delete;
  GroupCommit& operator=(const GroupCommit&) = delete;

  enum class Statements { one, several };

  /// Runs `write` once, or again where the transaction that it was in came to nothing; so it does the same when it is
  /// run again. Any thread, which holds neither mutex. @error what it gives, or that it could not be committed.
  base::Result<void> run(const Write& write, Statements statements = Statements::one);

 private:
  struct Pending {
    const Write* write = nullptr;
    Statements statements = Statements::one;
    base::Result<void> result{};
    bool done = false;
    std::condition_variable woken{};
  };

  void commit(const std::vector<Pending*>& group);
  /// In one transaction. False: one of them failed, and nothing of any is there.
  bool commit_together(const std::vector<Pending*>& group);

  base::Database& database_;
  std::mutex& mutex_;
  std::mutex queue_mutex_;
  std::condition_variable filled_;  ///< what a leader waits for
  std::vector<Pending*> queue_;
  bool led_ = false;
  std::size_t last_group_ = 1;
};

}  // namespace accelopt::journal
