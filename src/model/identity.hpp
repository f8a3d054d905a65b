// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <string>

#include "base/json.hpp"

namespace accelopt::model {

/// Which question, attempt or candidate of a run: the order of arrival never matters, this does. -1: does not apply.
struct Identity {
  int iteration = -1;  ///< from 0
  int parent = -1;     ///< place of the parent in the iteration's beam, from 0
  int plan = -1;       ///< from 0
  int attempt = -1;    ///< from 0
  int fix = -1;        ///< 0: the executor's own answer; n: after n fixes
  auto operator<=>(const Identity&) const = default;
};

/// "i2.b0.p3.a1.f0"; parts that do not apply are left out.
std::string to_string(const Identity& identity);

void to_json(base::Json& out, const Identity& identity);
void from_json(const base::Json& in, Identity& identity);

}  // namespace accelopt::model
