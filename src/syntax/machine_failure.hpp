// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace accelopt::syntax {

/// A failure of a compiler or linker for which the source is not to blame.
struct MachineFailure {
  enum class Certainty {
    certain,  ///< a full disk, no further process, a program that is missing
    possible  ///< memory: the machine had none left, or the source wants more than a compilation may have
  } certainty = Certainty::certain;
  base::ErrorCode code = base::ErrorCode::unavailable;
  std::string said;  ///< the compiler's line

  /// Of a compiler that was killed or found no memory.
  static MachineFailure of_memory();
  /// For the user: what happened, and the next step.
  [[nodiscard]] base::Error error() const;
};

/// What a failed compiler or linker said of the machine; none: it said nothing of it, or an error of the source as
/// well. Sources are hostile: such words in their own errors (`#error No space left on device`) are not the compiler's.
std::optional<MachineFailure> machine_failure(std::string_view output);

}  // namespace accelopt::syntax
