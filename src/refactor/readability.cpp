// SPDX-License-Identifier: Apache-2.0
#include "refactor/readability.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include <fmt/format.h>

#include "base/names.hpp"
#include "refactor/functions.hpp"

namespace accelopt::refactor {
namespace {

using base::ErrorCode;
using base::Result;
using syntax::tree::FunctionMeasure;
using syntax::tree::Measures;

void add(Figures& sum, const FunctionMeasure& one) {
  sum.cognitive += one.cognitive;
  sum.statements += one.statements;
  sum.nesting = std::max(sum.nesting, one.nesting);
  sum.longest = std::max(sum.longest, one.longest);
}

void add(Figures& sum, const Figures& one) {
  sum.cognitive += one.cognitive;
  sum.statements += one.statements;
  sum.nesting = std::max(sum.nesting, one.nesting);
  sum.longest = std::max(sum.longest, one.longest);
}

bool operator==(const Figures& left, const Figures& right) {
  return left.cognitive == right.cognitive && left.nesting == right.nesting && left.statements == right.statements &&
         left.longest == right.longest;
}

/// By name; of several of one name the sums.
std::map<std::string, Figures> by_name(const Measures& measures) {
  std::map<std::string, Figures> out;
  for (const FunctionMeasure& one : measures.functions) add(out[one.name], one);
  return out;
}

/// Text by name, of those functions that are found by their lines as well. A measure's line is of a function that is
/// in no other.
std::map<std::string, std::string> texts_by_name(const CodeLanguage& language, const std::string& source,
                                                 const Measures& measures) {
  std::map<std::string, std::string> out;
  const auto lines = lines_of(language, source);
  const auto places = functions_of(language, source);
  for (const FunctionMeasure& one : measures.functions) {
    if (one.name.empty()) continue;
    const auto line = static_cast<std::size_t>(one.line - 1);
    const auto holds = [&](const FunctionPlace& place) { return place.first <= line && line < place.last; };
    const auto found = std::ranges::find_if(places, holds);
    if (found != places.end()) out[one.name] += text_of(lines, found->first, found->last);
  }
  return out;
}

bool has_word(std::string_view text, std::string_view word) {
  const auto is_letter = [&](std::size_t at) {
    return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
  };
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    if ((at == 0 || !is_letter(at - 1)) && !is_letter(at + word.size())) return true;
  }
  return false;
}

/// Names that others may use, by how the language tells them.
bool is_public(const CodeLanguage& language, const FunctionPlace& function) {
  const std::size_t last = function.name.find_last_of(".:");
  const std::string_view name = std::string_view(function.name).substr(last == std::string::npos ? 0 : last + 1);
  if (name.empty()) return false;
  if (language.name == "go") return std::isupper(static_cast<unsigned char>(name.front())) != 0;
  // A member that is static is no less public.
  if (language.name == "c" || language.name == "c++")
    return function.name.find("::") != std::string::npos || !has_word(function.signature, "static");
  if (language.name == "rust") return has_word(function.signature, "pub");
  // "__init__" is called by everybody.
  if (language.form == FunctionForm::indentation && name.starts_with("__") && name.ends_with("__")) return true;
  return !name.starts_with('_') && !name.starts_with('#');
}

/// Which public functions are gone or have another signature or other decorators.
std::string changed_signature(const CodeLanguage& language, const ChangedFile& file) {
  const auto now = functions_of(language, file.after);
  for (const FunctionPlace& old : functions_of(language, file.before)) {
    if (!is_public(language, old)) continue;
    const auto same = [&](const FunctionPlace& one) { return one.name == old.name && one.signature == old.signature; };
    const auto decorated = [&](const FunctionPlace& one) { return same(one) && one.decorators == old.decorators; };
    if (std::ranges::none_of(now, same)) return fmt::format("the signature of {}#{} changed", file.path, old.name);
    if (std::ranges::none_of(now, decorated))
      return fmt::format("the decorators of {}#{} changed", file.path, old.name);
  }
  return {};
}

Result<Measures> measured(syntax::tree::Reader& reader, const CodeLanguage& language, const std::string& path,
                          const std::string& text) {
  auto measures = reader.measure(language.name, text);
  if (!measures) return tl::make_unexpected(base::with_context(measures.error(), path));
  return measures;
}

}  // namespace

std::string_view to_string(Preference preference) {
  constexpr auto kNames = std::to_array<base::Named<Preference>>({{Preference::unasked, "unasked"},
                                                                  {Preference::after, "after"},
                                                                  {Preference::before, "before"},
                                                                  {Preference::unsure, "unsure"}});
  return base::name_in(kNames, preference);
}

std::string describe(const Readability& it) {
  return fmt::format("cognitive complexity {} -> {}, deepest nesting {} -> {}, {} -> {} statements{}{}",
                     it.before.cognitive, it.after.cognitive, it.before.nesting, it.after.nesting, it.before.statements,
                     it.after.statements, it.simpler ? "" : "; not simpler: ", it.reason);
}

std::string describe(Preference preference, const std::string& reviewer) {
  switch (preference) {
    case Preference::after:
      return "more readable: " + reviewer + " prefers the new code in both orders";
    case Preference::before:
      return "not called more readable: " + reviewer + " prefers the old code in both orders";
    case Preference::unsure:
      return "not called more readable: " + reviewer + " prefers neither in both orders";
    case Preference::unasked:
      break;
  }
  return "not called more readable: no reviewer was asked";
}

std::string why_not_simpler(const Figures& before, const Figures& after) {
  if (after.cognitive >= before.cognitive)
    return fmt::format("its cognitive complexity was {} and is {}", before.cognitive, after.cognitive);
  if (after.nesting > before.nesting)
    return fmt::format("it nests {} deep, and {} before", after.nesting, before.nesting);
  if (after.statements > kMostStatements * before.statements)
    return fmt::format("it has {} statements, and {} before: over 10 % more", after.statements, before.statements);
  if (after.longest > std::max(2 * before.longest, kFreeTokens))
    return fmt::format("its longest statement has {} tokens, and {} before", after.longest, before.longest);
  return {};
}

double simpler_log_ratio(const Figures& before, const Figures& after) {
  const double ratio = std::log((before.cognitive + 1.0) / (after.cognitive + 1.0));
  return ratio > 0 && !why_not_simpler(before, after).empty() ? 0 : ratio;
}

Result<Readability> compare_readability(syntax::tree::Reader& reader, const CodeLanguage& language,
                                        const std::vector<ChangedFile>& changes) {
  Readability out;
  for (const ChangedFile& file : changes) {
    if (language_of_file(file.path) == nullptr) continue;
    TRY_ASSIGN(const Measures before, measured(reader, language, file.path, file.before));
    TRY_ASSIGN(const Measures after, measured(reader, language, file.path, file.after));
    if (after.text_runners > before.text_runners) {
      return base::fail(ErrorCode::parse, file.path + ": it runs text as code, which has no figures, in " +
                                              std::to_string(after.text_runners - before.text_runners) +
                                              " places more than before");
    }
    auto now = by_name(after);
    auto old = by_name(before);
    auto new_texts = texts_by_name(language, file.after, after);
    auto old_texts = texts_by_name(language, file.before, before);
    for (const auto& [name, figures] : now) old.try_emplace(name);
    for (const auto& [name, figures] : old) {
      const Figures then = now[name];
      if (figures == then && old_texts[name] == new_texts[name]) continue;
      out.functions.push_back({name.empty() ? file.path : file.path + "#" + name, figures, then});
    }
    if (out.reason.empty()) out.reason = changed_signature(language, file);
  }
  for (const FunctionFigures& one : out.functions) {
    add(out.before, one.before);
    add(out.after, one.after);
  }
  if (out.reason.empty()) out.reason = why_not_simpler(out.before, out.after);
  out.simpler = out.reason.empty();
  return out;
}

}  // namespace accelopt::refactor
