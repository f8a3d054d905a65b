// SPDX-License-Identifier: Apache-2.0
#include "refactor/brace_recipes.hpp"

#include <algorithm>
#include <optional>
#include <regex>

#include "base/text.hpp"
#include "refactor/loop_reads.hpp"

namespace accelopt::refactor {
namespace {

using BodyLines = std::vector<std::string>;

/// `x` in a list that the function makes and appends to, asked in a loop: a set beside the list. NAME stands for the
/// list's name in every pattern, SET for the set's; $1 is the indentation.
struct SearchForm {
  std::string_view language;
  std::string_view suffix;  ///< of the set's name
  const char* found;        ///< finds the name, its first group
  const char* asked;
  const char* asked_set;
  const char* made;
  const char* made_set;  ///< a line more
  const char* append;
  const char* append_set;  ///< a line more, before it
  const char* other;       ///< what a set beside the list does not follow
  const char* import;
};
constexpr const char* kScriptOther =
    R"(\bNAME\s*(\.(?!includes\(|length|map\(|join\(|filter\(|forEach\(|slice\()|\[[^\]]*\]\s*=[^=]|=[^=]))";
constexpr SearchForm kSearchForms[] = {
    {"javascript", "Set", R"(\b([A-Za-z_$][\w$]*)\.includes\()", R"(\bNAME\.includes\()", "SET.has(",
     R"(^(\s*)(?:const|let|var)\s+NAME\s*=\s*\[\s*\];?\s*$)", "$1const SET = new Set();",
     R"(^(\s*)NAME\.push\(([^,]*)\);?\s*$)", "$1SET.add($2);", kScriptOther, ""},
    {"typescript", "Set", R"(\b([A-Za-z_$][\w$]*)\.includes\()", R"(\bNAME\.includes\()", "SET.has(",
     R"(^(\s*)(?:const|let)\s+NAME(?::[^=]*)?\s*=\s*\[\s*\];?\s*$)", "$1const SET = new Set<unknown>();",
     R"(^(\s*)NAME\.push\(([^,]*)\);?\s*$)", "$1SET.add($2);", kScriptOther, ""},
    {"c++", "_set", R"(\bstd::find\((\w+)\.begin\(\))",
     R"(\bstd::find\(NAME\.begin\(\),\s*NAME\.end\(\),\s*(\w+(?:\.\w+|\[\w+\])*)\)\s*(==|!=)\s*NAME\.end\(\))",
     "SET.count($1) $2 0", R"(^(\s*)std::vector<(.+)>\s+NAME;\s*$)", "$1std::unordered_set<$2> SET;",
     R"(^(\s*)NAME\.push_back\((?!std::move)(.*)\);\s*$)", "$1SET.insert($2);",
     R"(\bNAME\s*(\.(?!begin\(\)|end\(\)|size\(\)|empty\(\)|reserve\()|\[[^\]]*\]\s*=[^=]|=[^=]))",
     "#include <unordered_set>"},
    {"go", "Set", R"(\bslices\.Contains\((\w+),)", R"(\bslices\.Contains\(NAME,\s*(\w+(?:\.\w+|\[\w+\])*)\))",
     "SET[$1]", R"(^(\s*)(?:var\s+NAME\s+\[\](\S+)|NAME\s*:=\s*\[\](\S+)\{\})\s*$)", "$1SET := map[$2$3]bool{}",
     R"(^(\s*)NAME\s*=\s*append\(NAME,\s*([^,]+)\)\s*$)", "$1SET[$2] = true",
     R"(\bNAME\s*(\[[^\]]*\]\s*=[^=]|:?=[^=]))", ""},
    {"rust", "_set", R"(\b(\w+)\.contains\()", R"(\bNAME\.contains\()", "SET.contains(",
     R"(^(\s*)let\s+mut\s+NAME(?::[^=]*)?\s*=\s*(?:Vec::new\(\)|vec!\[\]);\s*$)",
     "$1let mut SET = std::collections::HashSet::new();", R"(^(\s*)NAME\.push\((.*)\);\s*$)",
     "$1SET.insert(($2).clone());",
     R"(\bNAME\s*(\.(?!contains\(|len\(|iter\(|is_empty\(|join\()|\[[^\]]*\]\s*=[^=]|=[^=]))", ""},
};

constexpr const char* kSearch = "Membership in a list inside a loop -> set";
constexpr const char* kLength = "Length of a string asked in each turn of a loop -> asked once";
constexpr const char* kBuilder = "Repeated string concatenation -> builder";

std::string replaced_all(std::string text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
  return text;
}

std::string without_end(const std::string& line) {
  return std::string(base::trimmed(line, "\r\n"));
}

std::size_t blanks_before(const std::string& line) {
  return std::min(line.find_first_not_of(" \t"), line.size());
}

/// Whether a loop begins above the line, less far in.
bool is_in_a_loop(const BodyLines& body, std::size_t at) {
  static const std::regex kLoop(R"(^\s*(for|while|loop|do)\b.*$)");
  static const std::regex kEach(R"(^.*\.forEach\(.*$)");
  std::size_t indent = blanks_before(body[at]);
  for (std::size_t before = at; before-- > 0;) {
    const std::string line = without_end(body[before]);
    if (base::trimmed(line).empty() || blanks_before(line) >= indent) continue;
    indent = blanks_before(line);
    if (std::regex_match(line, kLoop) || std::regex_match(line, kEach)) return true;
  }
  return false;
}

std::string whole(const BodyLines& body) {
  return base::joined(body, "");
}

/// With the set beside the list of this name; none: something else is done with the list.
std::optional<std::string> with_set(const SearchForm& form, const BodyLines& body, const std::string& name) {
  const std::string set = name + std::string(form.suffix);
  const auto pattern = [&](const char* text) {
    return std::regex(replaced_all(text, "NAME", replaced_all(name, "$", "\\$")));
  };
  const auto filled = [&](const std::smatch& match, const char* text) {
    return match.format(replaced_all(text, "SET", replaced_all(set, "$", "$$"))) + "\n";
  };
  const std::regex made = pattern(form.made);
  const std::regex append = pattern(form.append);
  const std::regex asked = pattern(form.asked);
  const std::regex other = pattern(form.other);
  BodyLines out;
  bool is_made = false;
  bool is_asked = false;
  for (const std::string& line : body) {
    const std::string text = without_end(line);
    std::smatch match;
    if (std::regex_match(text, match, made)) {
      if (is_made) return std::nullopt;
      is_made = true;
      out.push_back(line);
      out.push_back(filled(match, form.made_set));
    } else if (std::regex_match(text, match, append)) {
      const std::string before = out.empty() ? "{" : std::string(base::trimmed(out.back()));
      const std::string added = filled(match, form.append_set);
      if (before.ends_with(')')) {  // the only statement of an `if` without braces
        out.push_back(match[1].str() + "{ " + std::string(base::trimmed(added)) + " " +
                      std::string(base::trimmed(text)) + " }\n");
      } else {
        out.push_back(added);
        out.push_back(line);
      }
    } else {
      const std::string changed = std::regex_replace(line, asked, replaced_all(form.asked_set, "SET", set));
      is_asked = is_asked || changed != line;
      if (std::regex_search(without_end(changed), other)) return std::nullopt;
      out.push_back(changed);
    }
  }
  return is_made && is_asked ? std::optional(whole(out)) : std::nullopt;
}

std::optional<std::string> search_to_set(const CodeLanguage& language, const BodyLines& body) {
  const auto form = std::ranges::find(kSearchForms, language.name, &SearchForm::language);
  if (form == std::end(kSearchForms)) return std::nullopt;
  const std::regex found(form->found);
  for (std::size_t at = 0; at < body.size(); ++at) {
    std::smatch match;
    if (!std::regex_search(body[at], match, found) || !is_in_a_loop(body, at)) continue;
    if (auto changed = with_set(*form, body, match[1])) return changed;
  }
  return std::nullopt;
}

/// `for (...; i < strlen(text); ...)`: the compiler asks again where the loop writes to memory. Where it may write to
/// the string itself, its end may move.
std::optional<std::string> length_asked_once(const CodeLanguage& language, const BodyLines& body) {
  static const std::regex kAsked(R"(^(\s*)((?:for|while)\s*\(.*)\b(?:std::)?strlen\((\w+)\)(.*)$)");
  BodyLines out = body;
  bool changes = false;
  for (std::size_t at = 0; at < body.size(); ++at) {
    std::smatch match;
    const std::string line = without_end(body[at]);
    if (!std::regex_match(line, match, kAsked)) continue;
    const std::string length = match[3].str() + "_length";
    if (whole(body).find(length) != std::string::npos) return std::nullopt;
    if (!only_reads_text(language, whole(body), base::joined(std::span(body).first(at), "").size(), match[3].str()))
      return std::nullopt;
    out[at] = match.format("$1const size_t " + length + " = strlen($3);\n$1$2" + length + "$4\n");
    changes = true;
  }
  return changes ? std::optional(whole(out)) : std::nullopt;
}

/// `out := ""`, in a loop `out += x`, and nothing else until it is used: a strings.Builder.
std::optional<std::string> concatenation_to_builder(const CodeLanguage& /*language*/, const BodyLines& body) {
  static const std::regex kMade(R"(^(\s*)(?:(\w+)\s*:=\s*""|var\s+(\w+)\s+string(?:\s*=\s*"")?)\s*$)");
  for (std::size_t at = 0; at < body.size(); ++at) {
    std::smatch match;
    const std::string line = without_end(body[at]);
    if (!std::regex_match(line, match, kMade)) continue;
    const std::string name = match[2].str() + match[3].str();
    const std::string builder = name + "Builder";
    const std::regex add("^(\\s*)" + name + R"(\s*(?:\+=|=\s*)" + name + R"(\s*\+)\s*(.+)$)");
    const std::regex word("\\b" + name + "\\b");
    BodyLines out = body;
    out[at] = match[1].str() + "var " + builder + " strings.Builder\n";
    std::size_t last = 0;
    for (std::size_t each = at + 1; each < out.size(); ++each) {
      std::smatch piece;
      const std::string text = without_end(body[each]);
      if (!std::regex_match(text, piece, add) || !is_in_a_loop(body, each)) continue;
      if (std::regex_search(piece[2].str(), word)) return std::nullopt;
      out[each] = piece[1].str() + builder + ".WriteString(" + piece[2].str() + ")\n";
      last = each;
    }
    bool fits = last > 0;
    for (std::size_t each = at + 1; each < out.size(); ++each) {
      if (!std::regex_search(out[each], word)) continue;
      fits = fits && each > last;
      out[each] = std::regex_replace(out[each], word, builder + ".String()");
    }
    if (fits) return whole(out);
  }
  return std::nullopt;
}

struct BraceRecipe {
  const char* strategy;
  const char* why;
  std::optional<std::string> (*change)(const CodeLanguage&, const BodyLines&);
  bool (*fits)(const CodeLanguage&);
  std::string (*import)(const CodeLanguage&);
};
std::string no_import(const CodeLanguage& /*language*/) {
  return "";
}
constexpr BraceRecipe kBraceRecipes[] = {
    {kSearch, "A list is searched from its beginning each time, a set is not.", search_to_set,
     [](const CodeLanguage&) { return true; },
     [](const CodeLanguage& language) {
       const auto form = std::ranges::find(kSearchForms, language.name, &SearchForm::language);
       return std::string(form == std::end(kSearchForms) ? "" : form->import);
     }},
    {kLength, "strlen reads the whole string in each turn.", length_asked_once,
     [](const CodeLanguage& language) { return language.braces == BraceSyntax::c; }, no_import},
    {kBuilder, "Each concatenation copies all that was written before; a builder copies it once.",
     concatenation_to_builder, [](const CodeLanguage& language) { return language.braces == BraceSyntax::go; },
     [](const CodeLanguage&) { return std::string("\"strings\""); }},
};

/// The text with the import at its place, if it has none yet.
std::string with_import(const CodeLanguage& language, std::string text, const std::string& import) {
  if (import.empty() || text.find(import) != text.npos) return text;
  if (language.braces != BraceSyntax::go) {
    const std::size_t first = text.find("#include");
    return text.insert(first == text.npos ? 0 : first, import + "\n");
  }
  if (const std::size_t group = text.find("\nimport (\n"); group != text.npos)
    return text.insert(group + std::string_view("\nimport (\n").size(), "\t" + import + "\n");
  const std::size_t package = text.rfind("package ", text.find("\nfunc "));
  const std::size_t end = package == text.npos ? text.npos : text.find('\n', package);
  return end == text.npos ? text : text.insert(end + 1, "\nimport " + import + "\n");
}

/// Go refuses a package that is imported and not used.
std::string without_unused(const CodeLanguage& language, const std::string& text) {
  if (language.braces != BraceSyntax::go || text.find("slices.") != text.npos) return text;
  static const std::regex kImport(R"re((import\s+"slices"|\t"slices")\n)re");
  return std::regex_replace(text, kImport, "");
}

}  // namespace

std::vector<Proposal> propose_for_braces(const CodeLanguage& language, const std::vector<SourceLine>& lines,
                                         const FunctionPlace& place) {
  std::vector<Proposal> out;
  const std::size_t last = place.last - 1;  // the line of its closing brace
  BodyLines body;
  for (std::size_t at = place.body; at < last; ++at) body.emplace_back(lines[at].text);
  for (const BraceRecipe& recipe : kBraceRecipes) {
    if (!recipe.fits(language)) continue;
    const auto changed = recipe.change(language, body);
    if (!changed) continue;
    std::string text = text_of(lines, 0, place.body) + *changed + text_of(lines, last, lines.size());
    text = without_unused(language, with_import(language, std::move(text), recipe.import(language)));
    out.push_back({recipe.strategy, recipe.why, std::move(text)});
  }
  return out;
}

}  // namespace accelopt::refactor
