// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/c_names.hpp"

namespace accelopt::suites {

using model::is_identifier;
using model::refuse_c_name;

}  // namespace accelopt::suites
