// SPDX-License-Identifier: Apache-2.0
// What a question says, as the texts that fill the places of its prompt. Pure functions. Held-out workloads appear in
// none.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agents/prompts.hpp"
#include "agents/roles.hpp"

namespace accelopt::agents {

/// Names of the places that the role's two files may have, `contract` among them.
const std::vector<std::string_view>& places_of(Role role);
/// Names of the places that contract.txt may have.
const std::vector<std::string_view>& contract_places();

/// Values of all places of the role, but for `contract`.
PlaceValues place_values(const PlanQuestion& question);
PlaceValues place_values(const ExecuteQuestion& question);
PlaceValues place_values(const FixQuestion& question);
/// Of one question about them all: they have the parent in common. Not empty.
PlaceValues place_values(const std::vector<SummarizeQuestion>& questions);

/// The items of a profile in its own order, one a line, each explained once; zeros and what timing_text tells are left
/// out.
std::string profile_text(const model::Profile& profile);
/// Times and shares of the roofline on the timed workloads; of a tuned kernel, also what its other configurations took.
std::string timing_text(const model::Evaluation& evaluation);
/// The experiences as quoted data with id, effect and direction; those of recipes as rows of one table.
std::string memory_text(const std::vector<model::Experience>& memory);
/// What is computed, and on which workloads it is timed and verified.
std::string definition_text(const model::Task& task);

}  // namespace accelopt::agents
