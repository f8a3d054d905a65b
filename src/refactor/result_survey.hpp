// SPDX-License-Identifier: Apache-2.0
// What the old code's results are worth: errors on every case, or the same result for all of them, hold no change.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace accelopt::refactor {

/// The results of one workload, with the cases that they are of: a JSON list, or a line a case.
class ResultSurvey {
 public:
  /// `printed`: standard output, which is compared as well. `said`: standard error.
  void add(std::string_view cases, std::string_view results, std::string_view printed, std::string_view said = "");
  /// Why these results prove nothing: all are errors. Shows the first; empty: they may.
  [[nodiscard]] std::string refusal() const;
  /// That each result is the same, over different cases; empty: they differ, or there are too few.
  [[nodiscard]] std::string constant() const;
  /// What a person should know of them; a line each.
  [[nodiscard]] std::vector<std::string> warnings() const;

 private:
  int results_ = 0;
  int errors_ = 0;
  std::string first_error_;
  std::set<std::string> distinct_cases_;
  std::set<std::string> distinct_results_;  ///< without arguments that stayed as they were
  bool has_output_ = false;
  bool has_iterators_ = false;
  bool tells_reads_ = false;  ///< of them: when they read their input
  int files_of_several_ = 0;  ///< that hold several cases
  int files_of_one_ = 0;      ///< of these: with the same case throughout
};

}  // namespace accelopt::refactor
