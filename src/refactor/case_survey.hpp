// SPDX-License-Identifier: Apache-2.0
// What generated cases are made of: behaviour is compared on these alone, so a person should see what is never among
// them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "refactor/task.hpp"

namespace accelopt::refactor {

/// The sizes on which the differential gate compares a family, and how many cases it makes of one.
std::vector<std::int64_t> compared_sizes(const Workload& workload);
int compared_count(const Workload& workload, std::int64_t size);

/// That cases of a file, a JSON list or a line each, are equal to earlier ones, so that what keeps results would gain
/// on them alone; empty: each is another one.
std::string repeated_cases(std::string_view cases);

/// Kinds of values in files of cases: JSON, or a JSON value a line. Of other files only what bytes show.
class CaseSurvey {
 public:
  void add(std::string_view cases);
  [[nodiscard]] int files() const { return files_; }
  /// "a negative number", "an empty text": what is in none of the files, of those kinds of values that are. Sorted by
  /// kind.
  [[nodiscard]] std::vector<std::string> missing() const;

 private:
  enum Trait : std::size_t {
    numbers,
    negative,
    zero,
    large,
    texts,
    empty_text,
    outside_ascii,
    line_break,
    many_digits,
    lists,
    empty_list,
    list_of_one,
    repeated,
    trait_count,
  };
  void look_at(const base::Json& value);
  void look_at_text(std::string_view text);
  void note(Trait trait) { seen_[trait] = true; }

  std::array<bool, trait_count> seen_{};
  int files_ = 0;
};

}  // namespace accelopt::refactor
