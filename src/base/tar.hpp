// SPDX-License-Identifier: Apache-2.0
// Plain tar archives (POSIX ustar) of regular files, in one form alone: equal members give equal bytes, and whatever
// was not written so is refused. Nothing is compressed, so that an archive holds no more than its size.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace accelopt::base {

struct TarMember {
  std::string name;
  std::string bytes;
};

inline constexpr std::size_t kMostTarMembers = 256;
inline constexpr std::size_t kMostTarBytes = std::size_t{256} << 20;  ///< of an archive

/// An archive of the members, sorted by name. Names are relative paths of at most 99 letters, digits and ". _ - /".
/// @error unsupported: a name is none, or appears twice; exhausted: over kMostTarMembers or kMostTarBytes.
Result<std::string> write_tar(std::vector<TarMember> members);

/// The members of an archive that anybody may have made. @error corrupt: it is not as write_tar writes it, or over its
/// limits; the message names the member and the reason.
Result<std::vector<TarMember>> read_tar(std::string_view bytes);

}  // namespace accelopt::base
