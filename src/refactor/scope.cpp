// SPDX-License-Identifier: Apache-2.0
#include "refactor/scope.hpp"

#include <algorithm>
#include <array>
#include <regex>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/unified_diff.hpp"
#include "refactor/functions.hpp"
#include "refactor/imports.hpp"
#include "refactor/tokens.hpp"

namespace accelopt::refactor {
namespace {

constexpr std::size_t kMostFileBytes = 4UL << 20;

/// How keys of well-known services and private keys begin, with the least length of what follows.
struct SecretForm {
  std::string_view begin;
  std::size_t length = 0;
};
constexpr auto kSecretForms = std::to_array<SecretForm>({{"AKIA", 16},
                                                         {"ghp_", 30},
                                                         {"github_pat_", 30},
                                                         {"glpat-", 20},
                                                         {"sk-", 24},
                                                         {"xoxb-", 20},
                                                         {"AIza", 30},
                                                         {"-----BEGIN ", 0}});

bool is_word_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

struct OddCharacters {
  std::size_t direction = 0;
  std::size_t invisible = 0;
  std::size_t control = 0;
  std::size_t invalid = 0;
  std::size_t returns = 0;  ///< carriage returns that are no part of a line's end
};

OddCharacters odd_characters(std::string_view text) {
  OddCharacters odd;
  while (!text.empty()) {
    const base::Character c = base::first_character(text);
    if (!c.valid)
      ++odd.invalid;
    else if (c.code == U'\r' && !text.starts_with("\r\n"))
      ++odd.returns;
    else if (base::changes_direction(c.code))
      ++odd.direction;
    else if (base::is_invisible(c.code))
      ++odd.invisible;
    else if (base::is_control(c.code))
      ++odd.control;
    text.remove_prefix(c.bytes);
  }
  return odd;
}

void check_text(const ChangedFile& file, std::vector<std::string>& out) {
  if (file.after.size() > kMostFileBytes) {
    out.push_back(file.path + ": is over 4 MiB");
    return;
  }
  const OddCharacters before = odd_characters(file.before);
  const OddCharacters after = odd_characters(file.after);
  if (after.invalid > before.invalid || after.control > before.control)
    out.push_back(file.path + ": is binary: it holds bytes that are no text");
  // Python, among others, ends a line there, where nobody who reads the change sees one.
  if (after.returns > before.returns) out.push_back(file.path + ": holds a carriage return that no line feed follows");
  if (after.direction > before.direction)
    out.push_back(file.path + ": holds characters that change the direction of writing (bidirectional text)");
  if (after.invisible > before.invisible) out.push_back(file.path + ": holds invisible characters");
  if (count_secrets(file.after) > count_secrets(file.before))
    out.push_back(file.path + ": holds what looks like a secret key");
}

/// A line outside of the functions in scope, or the place of one of them.
struct OutsideLine {
  std::string_view text;  ///< of an import without its indentation and line end
  bool is_import = false;
  std::size_t number = 0;  ///< from 0
};

class OutsideLines {
 public:
  OutsideLines(const CodeLanguage& language, std::string_view source)
      : lines_(lines_of(language, source)), imports_(import_lines(language, source, lines_)) {}

  /// Those up to the next function in scope, which is passed over.
  void pass(std::size_t first, std::size_t last) {
    add_up_to(first);
    found_.push_back({{}, false, first});
    at_ = last;
  }
  void finish() { add_up_to(lines_.size()); }

  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] const std::vector<SourceLine>& all() const { return lines_; }
  [[nodiscard]] const std::vector<OutsideLine>& found() const { return found_; }
  [[nodiscard]] std::vector<std::string_view> imports() const {
    std::vector<std::string_view> texts;
    for (const OutsideLine& line : found_) {
      if (line.is_import) texts.push_back(line.text);
    }
    return texts;
  }
  [[nodiscard]] std::string code() const {
    std::string code;
    for (const OutsideLine& line : found_) {
      if (!line.is_import) code += line.text;
    }
    return code;
  }

 private:
  void add_up_to(std::size_t last) {
    for (; at_ < last; ++at_) {
      const std::string_view text = base::trimmed(lines_[at_].text);
      if (imports_[at_])
        found_.push_back({text, true, at_});
      else if (!text.empty() || lines_[at_].inside)
        found_.push_back({lines_[at_].text, false, at_});
    }
  }

  std::vector<SourceLine> lines_;
  std::vector<bool> imports_;
  std::vector<OutsideLine> found_;
  std::size_t at_ = 0;
};

struct OutsideChange {
  std::vector<OutsideLine> added;  ///< imports
  bool import_removed = false;
  bool code_changed = false;
};

/// What stays keeps its order: an import that moves may bind again what the code binds in between.
OutsideChange outside_change(const std::vector<OutsideLine>& before, const std::vector<OutsideLine>& after) {
  OutsideChange change;
  auto old = before.begin();
  for (const OutsideLine& line : after) {
    for (; !line.is_import && old != before.end() && old->is_import; ++old) change.import_removed = true;
    if (old != before.end() && old->is_import == line.is_import && old->text == line.text) {
      ++old;
    } else if (line.is_import) {
      change.added.push_back(line);
    } else {
      change.code_changed = true;
      return change;
    }
  }
  for (; old != before.end(); ++old) (old->is_import ? change.import_removed : change.code_changed) = true;
  return change;
}

/// Imports of Go stand together and bind nothing twice: their order tells nothing.
void drop_known_imports(const std::vector<std::string_view>& known, OutsideChange& change) {
  std::erase_if(change.added,
                [&](const OutsideLine& line) { return std::ranges::find(known, line.text) != known.end(); });
  change.import_removed = false;
}

void check_imports(const CodeLanguage& language, const ChangedFile& file, const OutsideLines& before,
                   const OutsideLines& after, const OutsideChange& change, std::vector<std::string>& out) {
  if (change.import_removed) out.push_back(file.path + ": an import was removed or moved outside of the scope");
  std::vector<std::string_view> added;
  for (const OutsideLine& line : change.added) added.push_back(line.text);
  for (const std::string& conflict : import_conflicts(language, before.imports(), added, before.code()))
    out.push_back(file.path + ": " + conflict);
  if (language.form != FunctionForm::braces || language.braces != BraceSyntax::c) return;
  std::size_t first = after.all().size();
  for (const FunctionPlace& place : functions_of(language, file.after)) first = std::min(first, place.first);
  for (const OutsideLine& line : change.added) {
    // What a file brings in counts from its line on.
    if (line.number > first)
      out.push_back(file.path + ": \"" + base::ascii_line(line.text, 100) + "\" was added behind a function");
  }
}

/// The macros and files that the function's own lines bring into the rest of its file.
std::multiset<std::string> leaking_directives(const CodeLanguage& language, const std::vector<SourceLine>& lines,
                                              const FunctionPlace& place) {
  std::multiset<std::string> found;
  if (language.form != FunctionForm::braces || language.braces != BraceSyntax::c) return found;
  const std::string text = text_of(lines, place.first, place.last);
  for (const Token& token : tokens_of(language, text)) {
    if (token.kind != TokenKind::directive) continue;
    std::string whole = std::regex_replace(std::string(token.text), std::regex(R"(\\[ \r]*\n)"), "");
    static const std::regex kHarmless(
        R"(\s*#\s*(if|ifdef|ifndef|else|elif|endif|pragma\s+(omp|GCC\s+(unroll|ivdep)))\b.*)");
    if (!std::regex_match(whole, kHarmless)) found.insert(std::move(whole));
  }
  return found;
}

/// The functions in scope stay where they are and keep their headers; around them imports alone may be added.
void check_functions(const CodeLanguage& language, const std::vector<std::string>& functions, const ChangedFile& file,
                     std::vector<std::string>& out) {
  OutsideLines before(language, file.before);
  OutsideLines after(language, file.after);
  struct Place {
    FunctionPlace before;
    FunctionPlace after;
  };
  std::vector<Place> places;
  for (const std::string& name : functions) {
    const auto old_place = find_function(language, file.before, name);
    const auto new_place = find_function(language, file.after, name);
    if (!old_place || !new_place) {
      out.push_back(file.path + ": the function " + name + " is not there any more, or not there once");
      return;
    }
    if (old_place->signature != new_place->signature)
      out.push_back(file.path + ": the signature of " + name + " was changed");
    if (old_place->decorators != new_place->decorators) {
      out.push_back(file.path + ": the decorators of " + name +
                    " were changed; they stay as they are, and only its body may change");
    }
    if (leaking_directives(language, before.all(), *old_place) != leaking_directives(language, after.all(), *new_place))
      out.push_back(file.path + ": the directives within " + name + " were changed, which reach code outside of it");
    places.push_back({*old_place, *new_place});
  }
  std::ranges::sort(places, {}, [](const Place& place) { return place.before.first; });
  for (const Place& place : places) {
    if (place.after.first < after.at()) {
      out.push_back(file.path + ": functions in scope changed places");
      return;
    }
    before.pass(place.before.first, place.before.last);
    after.pass(place.after.first, place.after.last);
  }
  before.finish();
  after.finish();
  OutsideChange change = outside_change(before.found(), after.found());
  if (change.code_changed) {
    out.push_back(file.path + ": code outside of " + base::join_names(functions) +
                  " was changed; only imports may be added there");
  }
  if (language.form == FunctionForm::braces && language.braces == BraceSyntax::go)
    drop_known_imports(before.imports(), change);
  check_imports(language, file, before, after, change, out);
}

void check_kind(const ChangedFile& file, std::vector<std::string>& out) {
  using vcs::EntryKind;
  if (!file.kind_after) {
    out.push_back(file.path + ": was removed");
  } else if (*file.kind_after == EntryKind::link || *file.kind_after == EntryKind::submodule) {
    out.push_back(file.path + ": is a " +
                  std::string(*file.kind_after == EntryKind::link ? "symbolic link" : "submodule"));
  } else if (file.kind_before && *file.kind_before != *file.kind_after) {
    out.push_back(file.path + ": its mode was changed");
  } else if (!file.kind_before && *file.kind_after == EntryKind::executable) {
    out.push_back(file.path + ": is a new executable file");
  }
}

std::size_t changed_lines(const ChangedFile& file) {
  const std::string diff = base::unified_diff(file.before, file.after, "a", "b");
  std::size_t count = 0;
  for (std::size_t at = 0; at < diff.size(); at = std::min(diff.find('\n', at), diff.size() - 1) + 1) {
    const std::string_view line = std::string_view(diff).substr(at, 4);
    if ((line.starts_with('+') || line.starts_with('-')) && !line.starts_with("+++ ") && !line.starts_with("--- "))
      ++count;
  }
  return count;
}

void check_file(const Task& task, const ChangedFile& file, std::vector<std::string>& out) {
  if (const std::string pattern = protected_by(task, file.path); !pattern.empty()) {
    out.push_back(file.path + ": is protected (" + pattern + ")");
    return;
  }
  std::vector<std::string> functions;
  bool whole = false;
  for (const Scope& scope : task.scope) {
    if (scope.path != file.path) continue;
    if (scope.function.empty())
      whole = true;
    else
      functions.push_back(scope.function);
  }
  const bool may_be_new = !file.kind_before && task.limits.new_files > 0;
  if (!whole && functions.empty() && !may_be_new) {
    out.push_back(file.path + ": is outside of the scope");
    return;
  }
  const std::size_t before = out.size();
  check_kind(file, out);
  if (out.size() != before) return;
  check_text(file, out);
  if (out.size() == before && !whole && !functions.empty()) check_functions(task.language, functions, file, out);
}

}  // namespace

std::size_t count_secrets(std::string_view text) {
  std::size_t count = 0;
  for (const SecretForm& form : kSecretForms) {
    for (std::size_t at = text.find(form.begin); at != text.npos; at = text.find(form.begin, at + 1)) {
      // "task-" begins no key; the letter of an escape, as in "\n", is none before it.
      const bool within_word = at > 0 && is_word_letter(text[at - 1]) && (at < 2 || text[at - 2] != '\\');
      if (form.begin == "sk-" && within_word) continue;
      std::size_t end = at + form.begin.size();
      while (end < text.size() && is_word_letter(text[end])) ++end;
      const bool key = form.length > 0 || text.substr(at, 60).find("PRIVATE KEY") != text.npos;
      if (key && end - at - form.begin.size() >= form.length) ++count;
    }
  }
  return count;
}

base::Result<std::vector<ChangedFile>> changed_files(const vcs::Repository& repository, const vcs::Listing& before,
                                                     const vcs::Listing& after) {
  std::set<std::string> paths;
  for (const auto& [path, entry] : before) paths.insert(path);
  for (const auto& [path, entry] : after) paths.insert(path);
  std::vector<ChangedFile> changes;
  for (const std::string& path : paths) {
    const auto was = before.find(path);
    const auto is = after.find(path);
    if (was != before.end() && is != after.end() && was->second == is->second) continue;
    ChangedFile file{.path = path, .kind_before = {}, .kind_after = {}, .before = {}, .after = {}};
    const auto take = [&](const auto& found, const vcs::Listing& listing, auto& kind,
                          std::string& text) -> base::Result<void> {
      if (found == listing.end()) return {};
      kind = found->second.kind;
      if (*kind == vcs::EntryKind::submodule) return {};
      TRY_ASSIGN(auto texts, repository.contents({found->second.object}));
      text = std::move(texts.front());
      return {};
    };
    TRY(take(was, before, file.kind_before, file.before));
    TRY(take(is, after, file.kind_after, file.after));
    changes.push_back(std::move(file));
  }
  return changes;
}

std::vector<std::string> scope_violations(const Task& task, const std::vector<ChangedFile>& changes) {
  std::vector<std::string> out;
  if (changes.empty()) out.emplace_back("nothing was changed");
  std::size_t lines = 0;
  std::int64_t new_files = 0;
  for (const ChangedFile& file : changes) {
    check_file(task, file, out);
    if (file.before.size() + file.after.size() <= 2 * kMostFileBytes) lines += changed_lines(file);
    if (!file.kind_before) ++new_files;
  }
  if (lines > static_cast<std::size_t>(task.limits.patch_lines))
    out.push_back(fmt::format("{} lines are changed, and limits.patch_lines is {}", lines, task.limits.patch_lines));
  if (new_files > task.limits.new_files && out.empty())
    out.push_back(fmt::format("{} files are new, and limits.new_files is {}", new_files, task.limits.new_files));
  return out;
}

}  // namespace accelopt::refactor
