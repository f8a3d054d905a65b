// SPDX-License-Identifier: Apache-2.0
// How every benchmark reports: one line a figure, and an exit status that says whether all kept their bounds.
#pragma once

#include <cstdio>
#include <string>

namespace accelopt::bench {

enum class Bound { at_most, at_least };

/// Prints "PASS name value <= bound unit" or FAIL, and remembers whether any failed.
class Figures {
 public:
  void report(const std::string& name, double value, Bound kind, double bound, const std::string& unit = "") {
    const bool good = kind == Bound::at_most ? value <= bound : value >= bound;
    all_good_ = all_good_ && good;
    std::printf("%s %s %.4g %s %.4g%s%s\n", good ? "PASS" : "FAIL", name.c_str(), value,
                kind == Bound::at_most ? "<=" : ">=", bound, unit.empty() ? "" : " ", unit.c_str());
    std::fflush(stdout);
  }
  /// Prints "OPEN name: reason": a figure that what was measured cannot give. It keeps no bound.
  void leave_open(const std::string& name, const std::string& reason) {
    all_good_ = false;
    std::printf("OPEN %s: %s\n", name.c_str(), reason.c_str());
    std::fflush(stdout);
  }
  [[nodiscard]] int exit_status() const { return all_good_ ? 0 : 1; }

 private:
  bool all_good_ = true;
};

}  // namespace accelopt::bench
