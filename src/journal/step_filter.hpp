// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>

#include "base/result.hpp"
#include "journal/journal.hpp"

namespace accelopt::journal {

/// Which steps of a run are surely not on record, told without asking the database: most steps that a search looks for
/// are new. It knows the runs that this process writes, which no other one writes meanwhile. Any thread may use it.
class StepFilter {
 public:
  using See = std::function<void(const StepKey& key, std::string_view input_hash)>;

  /// True: the step is not on record. False: it may be, or nothing is known of the run.
  bool lacks(std::string_view run, const StepKey& key, std::string_view input_hash);
  /// Before a step is written. `list` hands over all steps of the run that are on record, and is called at the first
  /// one. @error what it gives.
  base::Result<void> add(std::string_view run, const StepKey& key, std::string_view input_hash,
                         const std::function<base::Result<void>(const See& see)>& list);
  /// It is written here no more: another process may go on with it.
  void forget(std::string_view run);

 private:
  std::mutex mutex_;
  std::map<std::string, std::unordered_set<std::uint64_t>, std::less<>> runs_;  ///< hashes of steps, by run
};

}  // namespace accelopt::journal
