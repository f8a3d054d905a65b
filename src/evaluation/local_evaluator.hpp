// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "evaluation/evaluator.hpp"
#include "evaluation/target.hpp"

namespace accelopt::evaluation {

/// The evaluator that measures in this process. `target` must outlive it. Any thread may call any function; measuring
/// is done one request at a time.
std::unique_ptr<Evaluator> make_local_evaluator(Target& target);

}  // namespace accelopt::evaluation
