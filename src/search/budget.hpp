// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "model/usage.hpp"
#include "search/settings.hpp"

namespace accelopt::search {

/// Whether something was done and paid for before.
enum class OnRecord { no, yes };

/// What a run may still spend, and what it has spent. May be used from many threads.
class Budget {
 public:
  using Clock = std::function<std::chrono::steady_clock::time_point()>;
  explicit Budget(const SearchSettings& settings, Clock clock = std::chrono::steady_clock::now);

  /// Whether another question may be asked. False from the first limit on that is reached.
  bool may_ask();
  /// Takes one evaluation off the budget; false, and nothing taken, when there is none left. One that is on record was
  /// paid for already and is only counted.
  bool take_evaluation(OnRecord on_record = OnRecord::no);
  /// Adds what an answer used. `role`: planner, executor, fixer, summarizer.
  void charge(const std::string& role, const model::Usage& usage);

  [[nodiscard]] int evaluations() const;
  [[nodiscard]] std::map<std::string, model::Usage> by_role() const;
  [[nodiscard]] model::Usage total() const;
  [[nodiscard]] double elapsed_seconds() const;
  /// The name of the limit that ended it ("max_seconds", ...), once one did.
  [[nodiscard]] std::optional<std::string> ended_by() const;

 private:
  std::optional<std::string> limit_reached() const;  // under the lock

  const SearchSettings settings_;
  const Clock clock_;
  const std::chrono::steady_clock::time_point start_;
  mutable std::mutex mutex_;
  std::map<std::string, model::Usage> by_role_;
  model::Usage total_;
  int evaluations_ = 0;
  std::optional<std::string> ended_by_;
};

}  // namespace accelopt::search
