// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace accelopt::base {

/// The bytes that the text stands for (RFC 4648, with padding, without line breaks). @error parse: it is no such text.
Result<std::string> from_base64(std::string_view text);
/// The text of the bytes, in the same form.
std::string to_base64(std::string_view bytes);

}  // namespace accelopt::base
