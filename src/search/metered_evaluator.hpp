// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "evaluation/evaluator.hpp"
#include "search/budget.hpp"

namespace accelopt::search {

/// An evaluator whose use of the device is counted, and refused to candidates when the budget for it is used up
/// (cancelled). Before each race its expected time is reserved: what races took so far. Opening, play-offs, held-out
/// verification and confirmations are counted and never refused. Both outlive it.
std::unique_ptr<evaluation::Evaluator> make_metered_evaluator(evaluation::Evaluator& evaluator, Budget& budget);

}  // namespace accelopt::search
