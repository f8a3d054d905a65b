// SPDX-License-Identifier: Apache-2.0
// A loop that loads or stores a row piece by piece: one DMA with long descriptors in its place.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "recipes/nki_source.hpp"

namespace accelopt::recipes::nki {

inline constexpr const char* kReuse = "reuse on chip";
inline constexpr const char* kWholeStores = "rows stored whole";

/// The kernel with rows loaded whole where a loop loads them in pieces that follow each other, before the outermost
/// loop that they do not depend on; none: there are none.
std::optional<std::vector<Statement>> with_whole_rows(std::vector<Statement> all);

/// The kernel with rows stored whole, after loops that store them in pieces that follow each other; none: there are
/// none.
std::optional<std::vector<Statement>> with_whole_stores(std::vector<Statement> all);

/// Whole rows loaded, and then everything that loops make again and again made before them; none: fewer changes than
/// these.
std::optional<std::vector<Statement>> reused(const std::vector<Statement>& all, int least_changes);

}  // namespace accelopt::recipes::nki
