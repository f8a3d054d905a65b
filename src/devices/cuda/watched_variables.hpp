// SPDX-License-Identifier: Apache-2.0
// The variables of loaded candidates, which no call may change for good: a value that stays is state from call to call.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "devices/cuda/checks.hpp"
#include "devices/cuda/device.hpp"

namespace accelopt::devices::cuda {

class WatchedVariables {
 public:
  explicit WatchedVariables(Checks& checks) : checks_(checks) {}

  /// Takes fingerprints of all variables of `cubin`, which `module` was loaded from, under the number of a live
  /// program. To be called before anything of it is launched. @error invalid_argument: the cubin is damaged, two
  /// variables have one name, the driver does not find one or another size of it, or they are too many or too large;
  /// internal.
  base::Result<void> add(std::uint64_t live, const DeviceModule& module, std::string_view cubin);
  void forget(std::uint64_t live) { watched_.erase(live); }
  [[nodiscard]] bool has(std::uint64_t live) const { return watched_.contains(live); }
  /// What the program of that number, which was called, did to a variable, be it another program's: "changed its
  /// variable ..."; empty: all hold what they were loaded with. Waits for the device. @error internal.
  [[nodiscard]] base::Result<std::string> change(std::uint64_t called) const;

 private:
  struct Variable {
    std::string name;  ///< for people
    std::uint64_t bytes = 0;
    Checks::Region region;  ///< with what lies behind it
  };
  /// Of one module.
  struct Watched {
    std::uint64_t key = 0;
    std::vector<Variable> variables;    ///< by address
    std::vector<Checks::Region> spans;  ///< the same memory in as few pieces as there are
    std::vector<std::uint64_t> each;    ///< fingerprints of the variables
    std::vector<std::uint64_t> all;     ///< and of the spans
  };
  static std::vector<Checks::Region> regions_of(const Watched& watched);

  Checks& checks_;
  std::map<std::uint64_t, std::vector<Watched>> watched_;  ///< by the live program's number
};

}  // namespace accelopt::devices::cuda
