// SPDX-License-Identifier: Apache-2.0
// The user's own headers as a part of the file that includes them.
#pragma once

#include <string>

#include "model/solution.hpp"
#include "scaffold/user_build.hpp"
#include "syntax/clang.hpp"

namespace accelopt::scaffold {

/// The text with headers that are found in `folders` in the place of their #include, in plain form and without comments
/// and guards: each where, and as often as, the file's build enters it. One that it enters nowhere, as another branch
/// is compiled, stands in the first such place, if its conditionals end in it. What the build includes before the file
/// stands first.
std::string with_headers(const syntax::Clang& clang, const std::string& source, model::Language language,
                         const HeaderFolders& folders);

}  // namespace accelopt::scaffold
