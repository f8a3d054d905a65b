// SPDX-License-Identifier: Apache-2.0
// Whether a patched file still compiles, as the compiler that measured sees it.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "base/result.hpp"
#include "scaffold/user_build.hpp"
#include "scaffold/winner_patch.hpp"
#include "targets/cpu/compiler.hpp"

namespace accelopt::scaffold {

enum class PatchFate { compiles, broken, unchecked };

struct PatchCheck {
  PatchFate fate = PatchFate::compiles;
  std::string
      reason;  ///< broken: the compiler's first error, or what else is wrong; unchecked: why nothing can be said
};

/// The first error that a compiler or a build printed, else its last line.
std::string first_error(const std::string& output);

/// Compiles every changed file in the sandbox with the flags of the user's build, or those of a kernel where they are
/// not known. A patch is broken, too, if it calls a function of its own that it does not define, or if the preprocessor
/// makes something else of what the patch leaves alone. A file that did not compile there before the patch cannot be
/// checked.
/// @error cancelled.
base::Result<PatchCheck> check_patch(const targets::cpu::Compiler& compiler, const WinnerPatch& patch,
                                     const std::optional<UserBuild>& build, const std::stop_token& stop);

}  // namespace accelopt::scaffold
