// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/json.hpp"

namespace accelopt::model {

/// How far a step of an evaluation is.
struct StepShare {
  enum class Part {
    verifying,  ///< inputs drawn and calls judged, of all of them
    racing      ///< blocks, of the most that there may be
  } part = Part::verifying;
  int done = 0;
  int of = 0;
};
/// "40 % verified", "12 of at most 100 blocks".
std::string describe(const StepShare& share);

void to_json(base::Json& out, const StepShare& value);
/// Refuses an unknown part, and numbers that are no share.
void from_json(const base::Json& in, StepShare& value);

}  // namespace accelopt::model
