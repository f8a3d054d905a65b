// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "base/result.hpp"
#include "evaluation/target.hpp"

namespace accelopt::evaluation {

/// Builds solutions on threads of its own, in the order given, while others are measured.
class BuildAhead {
 public:
  BuildAhead(Target& target, std::stop_token stop);
  BuildAhead(const BuildAhead&) = delete;
  BuildAhead& operator=(const BuildAhead&) = delete;
  /// Leaves out what has not begun.
  ~BuildAhead();

  /// Its number, for `wait`.
  std::size_t add(const model::Solution& solution);
  /// Must not be called while the machine is kept quiet: builds may be at rest then. @error as Target::build.
  base::Result<model::BuildReport> wait(std::size_t number);

 private:
  void serve();

  struct Job {
    model::Solution solution;
    std::optional<base::Result<model::BuildReport>> report;
  };
  Target& target_;
  std::stop_token stop_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  std::size_t begun_ = 0;
  bool closed_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace accelopt::evaluation
