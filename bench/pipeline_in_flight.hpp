// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "agents/prompts.hpp"
#include "base/result.hpp"
#include "figures.hpp"

namespace accelopt::bench {

/// The questions in flight: a search that asks 300 planners at once, at full latency, over HTTP, of a server in a
/// process of its own that streams its answers in 40 packets of five tokens. @error as search::run_search.
base::Result<void> measure_in_flight(std::uint64_t seed, const agents::Prompts& prompts, Figures& figures);

}  // namespace accelopt::bench
