// SPDX-License-Identifier: Apache-2.0
// Reads experiences from the JSON that a store keeps of them, hundreds at a time.
#pragma once

#include <string_view>

#include "base/result.hpp"
#include "model/experience.hpp"

namespace accelopt::memory {

/// What of an experience is read: who weighs many by number needs no code (before, after, diff).
enum class Part { whole, without_code };

/// The experience of a JSON text; what of its code is left out is empty, and is not looked at where the text is as the
/// stores write it.
/// @error parse: no experience.
base::Result<model::Experience> read_experience(std::string_view text, Part part);

}  // namespace accelopt::memory
