// SPDX-License-Identifier: Apache-2.0
// The requests of the worker protocol as values: how each is asked of an evaluator, and what its answer must look like.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "evaluation/evaluator.hpp"

namespace accelopt::evaluation {

/// Asks `evaluator` what the request (an object with `op` and the operation's arguments) says; gives the answer's
/// `result`.
/// @error parse: an argument is missing or malformed; invalid_argument: no such operation; else as the evaluator says.
base::Result<base::Json> perform(Evaluator& evaluator, const base::Json& request, std::stop_token stop);

/// Whether an answer has the form that its request asks for, so that a search can work with it: every field of its
/// type, as many arms as were asked, known names, finite positive times, intervals in order. Says nothing of its truth.
/// @error parse: what is wrong with it.
base::Result<void> check_form(const base::Json& request, const base::Json& result);

/// Whether the solution leaves as many names open as there are values, so that it can be given them.
bool takes_values(const model::Solution& solution, const std::vector<std::int64_t>& values);

}  // namespace accelopt::evaluation
