// SPDX-License-Identifier: Apache-2.0
// What a check found, as the journal of a search keeps it.
#pragma once

#include "base/json.hpp"
#include "refactor/checker.hpp"

namespace accelopt::refactor {

/// States its version. Folders do not outlive the check, and are left out.
void to_json(base::Json& out, const CheckResult& result);
void to_json(base::Json& out, const Readability& readability);
void from_json(const base::Json& in, CheckResult& result);

}  // namespace accelopt::refactor
