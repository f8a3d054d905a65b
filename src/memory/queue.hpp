// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "model/experience.hpp"

namespace accelopt::memory {

/// What the planner is shown now: newest first, at most `capacity`.
using Queue = std::vector<model::Experience>;

/// New experiences first, then the older ones in their order; the oldest fall out.
Queue push(const Queue& older, const std::vector<model::Experience>& fresh, int capacity);

/// As the published system fills it: new ones first, then older ones drawn at random, up to `capacity`. The draw is
/// decided by the seed alone.
Queue push_as_published(const Queue& older, const std::vector<model::Experience>& fresh, int capacity,
                        std::uint64_t seed);

}  // namespace accelopt::memory
