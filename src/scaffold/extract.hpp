// SPDX-License-Identifier: Apache-2.0
// Of a user's file, what one function needs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/solution.hpp"
#include "scaffold/user_build.hpp"
#include "syntax/clang.hpp"
#include "syntax/source.hpp"

namespace accelopt::scaffold {

/// A declaration, definition or preprocessor line at the top level (namespaces and `extern "C"` blocks are looked
/// into).
struct Chunk {
  enum class Kind {
    include,
    define,
    preprocessor,  ///< another line
    opening,
    closing,
    function,
    declaration,
    prefix  ///< what a conditional of its own puts before a definition: an attribute between #if and #endif
  };
  Kind kind = Kind::declaration;
  syntax::Extent extent;
  std::string name;   ///< of an #include (as spelled) or a #define; of another preprocessor line its word: "endif"
  std::string scope;  ///< the blocks around it, as they open: "namespace a {namespace {"
};

/// All chunks of a text, in order.
std::vector<Chunk> top_level_chunks(const std::string& source);

/// Whether it is an #if, #ifdef, #ifndef, #elif, #else or #endif.
bool is_conditional(const Chunk& chunk);

/// Where the definition at `index` begins, with the conditionals that hold nothing but a prefix of it.
std::size_t begin_with_prefixes(const std::vector<Chunk>& chunks, std::size_t index);

struct Extract {
  std::string source;
  std::string function;  ///< its qualified name
  std::vector<std::string>
      notes;  ///< what the user should know: headers that were not found, attributes that are left out
  std::string missing_headers{};  ///< for an error that they may have caused: which, and how they are found; or empty
};

/// The text that still defines `function` with everything it uses: other functions, unused declarations and includes
/// are left out wherever that gives no new error; headers that are found in `folders` take the place of their
/// #include, without comments and guards. A static member function stands in a namespace of its class's name, with the
/// static members it needs.
/// @error not_found: no such definition; unsupported: a template, a member that is not static, an overloaded or
/// ambiguous name, or it is called by itself or by what it calls.
base::Result<Extract> extract_function(const syntax::Clang& clang, const std::string& source, model::Language language,
                                       const std::string& function, const HeaderFolders& folders);

/// How many errors a compiler front end finds in the text itself.
base::Result<std::size_t> count_errors(const syntax::Clang& clang, const std::string& source, model::Language language,
                                       const std::vector<syntax::HeaderFile>& headers = {});

/// The unit of a text, with all its errors.
base::Result<syntax::Unit> read_unit(const syntax::Clang& clang, const std::string& source, model::Language language,
                                     const std::vector<syntax::HeaderFile>& headers = {});

/// The unit of a user's file, with the headers that are found in `folders`.
base::Result<syntax::Unit> read_user_file(const syntax::Clang& clang, const std::string& source,
                                          model::Language language, const HeaderFolders& folders);

/// The one function of that name, plain or a static member: "f", or "a::f" for one in a namespace or class a. Inline
/// and outer namespaces may be left out where that is not ambiguous. @error as extract_function.
base::Result<const syntax::Function*> find_function(const syntax::Unit& unit, const std::string& function);

}  // namespace accelopt::scaffold
