// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace search {

/// How many of the wanted values are among the sorted ones.
std::size_t hits(const std::vector<long>& sorted, const std::vector<long>& wanted);

}  // namespace search
