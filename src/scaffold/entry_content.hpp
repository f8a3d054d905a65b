// SPDX-License-Identifier: Apache-2.0
// Which code a task was made from.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "model/solution.hpp"
#include "scaffold/user_build.hpp"
#include "syntax/clang.hpp"

namespace accelopt::scaffold {

/// Of a declaration: "kHalf" of `constexpr int kHalf = 4;`, all in an enumeration.
std::set<std::string> declared_names(std::string_view text);

/// SHA-256 over the tokens of the function, and of what it uses, directly or not, in the file and in the headers that
/// are found in `folders`. Comments, layout, the order of definitions and where headers lie do not change it.
/// @error as find_function.
base::Result<std::string> content_of(const syntax::Clang& clang, const std::string& source, model::Language language,
                                     const std::string& function, const HeaderFolders& folders);

/// Whether a task that was made from `content` was made from this function. Winners that were put into the file are no
/// change of it. Contents of earlier versions, without headers of other folders, are known too. @error as content_of.
base::Result<bool> is_content_of(const syntax::Clang& clang, const std::string& content, const std::string& source,
                                 model::Language language, const std::string& function, const HeaderFolders& folders);

}  // namespace accelopt::scaffold
