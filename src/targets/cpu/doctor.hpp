// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "evaluation/finding.hpp"

namespace accelopt::targets::cpu {

/// What evaluating on this machine's processor needs: compilers on the PATH, the arena, cores, the sandbox. Returns how
/// much is missing without which nothing is measured.
int examine(const evaluation::Environment& environment, const evaluation::Report& report);

}  // namespace accelopt::targets::cpu
