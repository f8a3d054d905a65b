// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/problem.hpp"

namespace accelopt::suites {

using base::in_quotes;
using base::join_names;
using base::nearest_name;
using base::Problem;
using base::Severity;
using base::unknown_name;

}  // namespace accelopt::suites
