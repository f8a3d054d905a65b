// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/result.hpp"
#include "evaluation/toolchain.hpp"

namespace accelopt::evaluation {

/// What the compilers of one source with open values may take, all configurations together.
class CompileBudget {
 public:
  explicit CompileBudget(double seconds) : limit_(seconds), left_(seconds) {}
  [[nodiscard]] bool spent() const;
  /// It is built already, or there is something left to build it with.
  [[nodiscard]] bool permits(const model::Kernel& configuration) const;
  /// A configuration counts once: whoever asks again is given what was built.
  void charge(const model::Kernel& configuration, double seconds);
  /// "the compilers of all configurations together have had their 300 s".
  [[nodiscard]] std::string text() const;

 private:
  double limit_;
  mutable std::mutex mutex_;
  double left_;
  std::set<std::string> charged_;
};

/// A budget for every source with open values that was built so far. Any thread.
class CompileBudgets {
 public:
  std::shared_ptr<CompileBudget> of(const model::Kernel& open, double seconds);

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<CompileBudget>> by_source_;
};

/// Builds solutions on threads of its own, in the order given, while others are measured.
class BuildAhead {
 public:
  /// Once the budget is spent nothing more is begun: it is reported as not built.
  BuildAhead(Toolchain& toolchain, std::shared_ptr<CompileBudget> budget, std::stop_token stop);
  BuildAhead(const BuildAhead&) = delete;
  BuildAhead& operator=(const BuildAhead&) = delete;
  /// Leaves out what has not begun.
  ~BuildAhead();

  /// Its number, for `wait`.
  std::size_t add(const model::Kernel& kernel);
  /// Must not be called while the machine is kept quiet: builds may be at rest then. @error as Toolchain::build.
  base::Result<model::BuildReport> wait(std::size_t number);

 private:
  void serve();
  base::Result<model::BuildReport> build(const model::Kernel& kernel);

  struct Job {
    model::Kernel kernel;
    std::optional<base::Result<model::BuildReport>> report;
  };
  Toolchain& toolchain_;
  std::shared_ptr<CompileBudget> budget_;
  std::stop_token stop_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  std::size_t begun_ = 0;
  bool closed_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace accelopt::evaluation
