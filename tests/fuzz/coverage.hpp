// SPDX-License-Identifier: Apache-2.0
// Which branches an input reaches, in builds whose code says so (ACCELOPT_FUZZ_COVERAGE). One thread at a time.
#pragma once

#include <cstddef>

namespace accelopt::fuzz {

/// Whether this build sees any; without, no input is new by its branches.
bool sees_branches();
void begin_watching();
/// Whether a branch was taken since begin_watching that no watched input took before, or about twice as often as ever.
bool end_watching();
/// Branches that watched inputs took so far.
std::size_t branches_met();

}  // namespace accelopt::fuzz
