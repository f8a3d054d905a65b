// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/target_description.hpp"

namespace accelopt::targets::trainium {

/// NKI kernels on a modelled Trainium.
const model::TargetDescription& description();

}  // namespace accelopt::targets::trainium
