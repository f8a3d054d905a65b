// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/target_description.hpp"

namespace accelopt::targets::repo {

/// Files of a git repository, in any language.
const model::TargetDescription& description();

}  // namespace accelopt::targets::repo
