// SPDX-License-Identifier: Apache-2.0
// Files that somebody else may have written, as bundles hold them: read with every bound that keeps them harmless.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "base/result.hpp"

namespace accelopt::bundles {

/// The bytes of the plain file `name` or `folder/name` in `root`; a link, a pipe or a device is none, and neither is
/// one in a folder that is a link. `root` itself is the caller's own choice.
/// @error not_found: it is not there; corrupt: it is something else, or larger than `most_bytes`; permission_denied,
/// io.
base::Result<std::string> read_plain_file(const std::filesystem::path& root, const std::string& name,
                                          std::size_t most_bytes);

/// The text as JSON, refused when it is nested so deeply that working with it could use up the stack.
/// @error corrupt: not JSON, or too deep; the message begins with `what`.
base::Result<base::Json> parse_distrusted(std::string_view text, std::string_view what);

/// An object that names its `type`, the `schema` of the layout, and its own hash under `key`.
std::string sealed(base::Json object, const char* type, const char* key, int schema = 1);
/// Reads such an object and checks all three. @error unsupported: of a newer layout; corrupt.
base::Result<base::Json> unseal(std::string_view text, const char* type, const char* key, std::string_view what);

/// 64 lower-case hexadecimal digits.
bool is_hash(std::string_view text);

}  // namespace accelopt::bundles
