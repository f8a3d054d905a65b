// SPDX-License-Identifier: Apache-2.0
// Which code a task was made from.
#pragma once

#include <string>

#include "base/result.hpp"
#include "model/solution.hpp"
#include "scaffold/user_build.hpp"
#include "syntax/clang.hpp"

namespace accelopt::scaffold {

/// SHA-256 over the tokens of the function, and of what it uses, directly or not, in the file and in the headers of the
/// file's folder. Comments, layout and the order of definitions do not change it. @error as find_function.
base::Result<std::string> content_of(const syntax::Clang& clang, const std::string& source, model::Language language,
                                     const std::string& function, const HeaderFolders& folders);

/// Whether a task that was made from `content` was made from this function. Winners that were put into the file are no
/// change of it. @error as content_of.
base::Result<bool> is_content_of(const syntax::Clang& clang, const std::string& content, const std::string& source,
                                 model::Language language, const std::string& function, const HeaderFolders& folders);

}  // namespace accelopt::scaffold
