// SPDX-License-Identifier: Apache-2.0
// Constants that somebody measured on a device of his own (scripts/neuron-constants.py), in place of those of chip.hpp.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.hpp"
#include "targets/trainium/chip.hpp"

namespace accelopt::targets::trainium {

/// The variable that names the file.
inline constexpr const char* kConstantsVariable = "ACCELOPT_TRAINIUM_CONSTANTS";

struct MeasuredChip {
  Generation chip;
  std::string source;  ///< where they are from, for versions: "neuronxcc 2.21.1 on trn1.2xlarge, 1b2c3d4e"
};

/// @error as read_foreign_file; parse, corrupt: it is no such file, or of another version; invalid_argument: of another
/// generation, a constant that is not known, or one that is not positive.
base::Result<MeasuredChip> with_constants(const Generation& chip, const std::filesystem::path& file);

}  // namespace accelopt::targets::trainium
