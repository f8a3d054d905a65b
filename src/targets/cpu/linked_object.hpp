// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace accelopt::targets::cpu {

/// A linked kernel as the dynamic linker reads it: by program headers and dynamic entries, whatever its sections say.
struct LinkedObject {
  std::vector<std::string> libraries;  ///< that it needs
  /// Why a candidate's may not be loaded; "" when loading it runs nothing and writes nothing outside of its own data.
  std::string refusal;
};

/// Judges a 64-bit little-endian shared object that may define `entry` alone for others, by lists of what it may hold.
/// @error parse: it is not one, or it is damaged.
base::Result<LinkedObject> read_linked(std::string_view bytes, std::string_view entry);

/// The same file, all of whose data can no more be written once it is loaded. Requires one that is not refused.
std::string without_writable_data(std::string bytes);

}  // namespace accelopt::targets::cpu
