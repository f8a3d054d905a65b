// SPDX-License-Identifier: Apache-2.0
// Whether a change makes code simpler: by figures of its text alone, which are exact.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "refactor/scope.hpp"
#include "syntax/tree/measures.hpp"

namespace accelopt::refactor {

/// Sums over functions; of nesting the deepest, of statements' lengths the longest.
struct Figures {
  int cognitive = 0;  ///< cognitive complexity, as SonarSource defines it
  int nesting = 0;
  int statements = 0;
  int longest = 0;  ///< tokens of the longest statement
};

/// A function that the change touched, added (before: nothing) or removed (after: nothing).
struct FunctionFigures {
  std::string name;  ///< "path#f"; of code outside of functions "path"
  Figures before;
  Figures after;
};

/// What a reviewer said of the old code and the new one. unasked: there was none.
enum class Preference { unasked, after, before, unsure };
std::string_view to_string(Preference preference);

struct Readability {
  std::vector<FunctionFigures> functions;  ///< whose figures or text differ
  Figures before;                          ///< of these functions
  Figures after;
  bool simpler = false;
  std::string reason;  ///< why it is not
  Preference preference = Preference::unasked;
  std::string reviewer{};  ///< the model that was asked

  [[nodiscard]] bool more_readable() const { return simpler && preference == Preference::after; }
};

/// "cognitive complexity 14 -> 6, deepest nesting 4 -> 2, 20 -> 18 statements", and why it is not simpler.
std::string describe(const Readability& readability);

/// "more readable: MODEL prefers the new code in both orders".
std::string describe(Preference preference, const std::string& reviewer);

/// Statements may grow to this multiple.
inline constexpr double kMostStatements = 1.1;
/// The longest statement may have twice the old one's tokens, and so many in any case: more is written for the figures.
inline constexpr int kFreeTokens = 40;

/// Why the second is not simpler than the first; empty: it is.
std::string why_not_simpler(const Figures& before, const Figures& after);
/// log(old / new) of cognitive complexity, one added to both; 0 where it is lower and the code is not simpler.
double simpler_log_ratio(const Figures& before, const Figures& after);

/// Of all files that the change touches. @error parse: a file that the grammar does not read, or that calls what runs
/// text as code more often than before; unsupported: there is no grammar.
base::Result<Readability> compare_readability(syntax::tree::Reader& reader, const CodeLanguage& language,
                                              const std::vector<ChangedFile>& changes);

}  // namespace accelopt::refactor
