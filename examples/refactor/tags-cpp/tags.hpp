// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace tags {

/// The tags in the order in which they come first.
std::vector<std::string> distinct(const std::vector<std::string>& all);

}  // namespace tags
