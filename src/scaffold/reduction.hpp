// SPDX-License-Identifier: Apache-2.0
// Leaving out of a text what one of its functions does not need.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "syntax/clang.hpp"
#include "syntax/source.hpp"

namespace accelopt::scaffold {

struct Reduced {
  std::string source;
  bool stopped = false;  ///< trials ended before all was tried: more may stand there than is needed
};

/// The unit's text without functions, declarations, macros and includes that the entry does not need, wherever that
/// gives no new error. `needed`: bodies of the entry (the first) and of the functions that it calls; `callers`: bodies
/// of those that call it, which go whatever depends on them. @error as syntax::parse.
base::Result<Reduced> reduced(const syntax::Clang& clang, const syntax::Unit& unit,
                              const std::vector<syntax::Extent>& needed, const std::vector<syntax::Extent>& callers);

/// The names that a declaration, or the head of a function, gives to something: "Name" of `typedef struct {...} Name;`.
/// "operator" of an operator.
std::vector<std::string> names_declared_by(std::string_view text);

}  // namespace accelopt::scaffold
