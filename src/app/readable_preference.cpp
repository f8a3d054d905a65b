// SPDX-License-Identifier: Apache-2.0
#include "app/readable_preference.hpp"

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "refactor/functions.hpp"
#include "refactor/tokens.hpp"

namespace accelopt::app {
namespace {

using refactor::FunctionPlace;

/// The text of a function of this name; empty: there is none.
std::string text_of_function(const refactor::CodeLanguage& language, const std::string& source,
                             const std::vector<FunctionPlace>& functions, const std::string& name) {
  const auto found = std::ranges::find(functions, name, &FunctionPlace::name);
  if (found == functions.end()) return {};
  return refactor::text_of(refactor::lines_of(language, source), found->first, found->last);
}

}  // namespace

std::string shown_text(const refactor::CodeLanguage& language, const std::string& before, const std::string& after,
                       const std::string& of) {
  const auto old_functions = refactor::functions_of(language, before);
  const auto new_functions = refactor::functions_of(language, after);
  std::string out;
  for (const FunctionPlace& one : refactor::functions_of(language, of)) {
    const std::string own = text_of_function(language, of, refactor::functions_of(language, of), one.name);
    const bool same = text_of_function(language, before, old_functions, one.name) ==
                      text_of_function(language, after, new_functions, one.name);
    if (!same && out.find(own) == out.npos) out += (out.empty() ? "" : "\n") + own;
  }
  return out.empty() ? of : out;
}

std::string without_new_comments(const refactor::CodeLanguage& language, const std::string& before,
                                 const std::string& after) {
  std::set<std::string_view> old;
  for (const refactor::SourceLine& line : refactor::lines_of(language, before)) old.insert(base::trimmed(line.text));
  const bool by_braces = language.form == refactor::FunctionForm::braces;
  std::set<std::size_t> code;  // lines that a word or mark stands on, of languages whose comments are no marks
  if (by_braces) {
    for (const refactor::Token& token : refactor::tokens_of(language, after)) {
      for (std::size_t line = token.line; line <= token.last_line; ++line) code.insert(line);
    }
  }
  std::string out;
  std::size_t number = 0;
  for (const refactor::SourceLine& line : refactor::lines_of(language, after)) {
    const std::string_view text = base::trimmed(line.text);
    const bool is_code = by_braces ? code.contains(number) : !line.blank;
    if (is_code || text.empty() || old.contains(text)) out += line.text;
    ++number;
  }
  return out;
}

base::Outcome<model::Usage> ask_preference(const review::Asking& asking, review::Weight weight,
                                           const refactor::CodeLanguage& language,
                                           const std::function<base::Result<std::string>(const std::string&)>& base,
                                           refactor::CheckResult& result) {
  if (!result.readability || result.verdict != refactor::Verdict::better) return model::Usage{};
  std::string old_text;
  std::string new_text;
  for (const auto& [path, text] : result.files) {
    // A file that is new stands on one side alone.
    const std::string before = base(path).value_or("");
    const std::string after = without_new_comments(language, before, text);
    old_text += shown_text(language, before, after, before);
    new_text += shown_text(language, before, after, after);
  }
  const review::Subject subject{.language = language, .base = {}, .how_to_object = {}};
  TRY_ASSIGN(const review::ReadableOpinion opinion, review::ask_readable(asking, subject, old_text, new_text));
  refactor::Readability& readability = *result.readability;
  readability.reviewer = asking.chat->name();
  if (weight == review::Weight::advises) readability.reviewer += " (a reviewer who is not calibrated)";
  readability.preference = opinion.better == review::Better::second  ? refactor::Preference::after
                           : opinion.better == review::Better::first ? refactor::Preference::before
                                                                     : refactor::Preference::unsure;
  return opinion.usage;
}

}  // namespace accelopt::app
