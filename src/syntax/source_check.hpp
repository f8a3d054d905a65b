// SPDX-License-Identifier: Apache-2.0
// What a candidate's text may not ask of the preprocessor and the assembler. The sandbox of the compiler keeps files
// apart as well where the machine has Landlock; this is what holds where it has not, and it gives a clear reason.
#pragma once

#include <string>
#include <string_view>

namespace accelopt::syntax {

/// Why the text may not be compiled, as "line:column: error: reason": files by absolute, parent or computed paths
/// (#include and its kin, __has_include, #embed, #pragma GCC dependency, .incbin), and #line, which makes the compiler
/// quote other files. Reads the text as a compiler does: spliced lines, comments, digraphs and raw strings hide
/// nothing. Empty when it may.
std::string refused_text(std::string_view source);

/// The same of what the compiler wrote for the assembler: by then strings are joined and escapes resolved. Refuses
/// .incbin, .include, and macros, which could put their names together. Empty when it may be assembled.
std::string refused_assembly(std::string_view assembly);

}  // namespace accelopt::syntax
