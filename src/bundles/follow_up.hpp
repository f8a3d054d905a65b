// SPDX-License-Identifier: Apache-2.0
// What the executor of a bundle asks of itself once its races are settled: the play-off of the iteration, and the
// confirmation of who leads it, chosen as the search chooses them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "bundles/bundle.hpp"

namespace accelopt::bundles {

/// The play-off's request with the arms that earned their place, or why there is none.
Resolved resolve_playoff(const Bundle& bundle, std::size_t item, const Outcomes& before);

/// The confirmation of the kernel that leads the play-off.
Resolved resolve_leader(const Bundle& bundle, std::size_t item, const Outcomes& before);

/// Reads an item's `field`. @error corrupt: not of its form, or it names arms or races that are not there.
base::Result<PlayoffField> read_field_of(const base::Json& json, std::size_t arms);
base::Json to_json_field(const PlayoffField& field);

// Of bundle.cpp.
/// The candidate's machine code, as its build in this bundle said; empty: it did not.
std::string built_code(const base::Json& candidate, const Outcomes& outcomes);
/// The outcome of an item, or of the one that raced the same program; none: it is not settled.
const Outcome* settled(const Outcomes& outcomes, const std::string& item);

}  // namespace accelopt::bundles
