// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace loads {

/// The worker for each job: the one with the least to do until then, the first of several. Jobs are no shorter than 0.
std::vector<std::size_t> assign(const std::vector<long>& jobs, std::size_t workers);

}  // namespace loads
