// SPDX-License-Identifier: Apache-2.0
// The lines by which a source brings in other modules, and the names that they bind.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "refactor/functions.hpp"
#include "refactor/languages.hpp"

namespace accelopt::refactor {

/// For each line of the source, whether it is an import: a whole statement on a line of its own, at the top level.
std::vector<bool> import_lines(const CodeLanguage& language, std::string_view source,
                               const std::vector<SourceLine>& lines);

/// The names that code uses or binds, without attributes and members.
std::set<std::string> used_names(const CodeLanguage& language, std::string_view code);

/// Why these new imports may change what code does that does not ask for them: one line each, empty where none does.
/// `before` are the imports that were there, `code` is what stands besides imports and the functions in scope.
std::vector<std::string> import_conflicts(const CodeLanguage& language, const std::vector<std::string_view>& before,
                                          const std::vector<std::string_view>& added, std::string_view code);

}  // namespace accelopt::refactor
