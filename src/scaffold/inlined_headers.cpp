// SPDX-License-Identifier: Apache-2.0
#include "scaffold/inlined_headers.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <vector>

#include "base/files.hpp"
#include "model/c_tokens.hpp"
#include "scaffold/extract.hpp"
#include "scaffold/words.hpp"
#include "syntax/edit.hpp"
#include "syntax/inclusions.hpp"
#include "syntax/text.hpp"

namespace accelopt::scaffold {
namespace {

using model::Token;
using model::TokenKind;
using syntax::Extent;
using syntax::Inclusion;

/// Headers that include one another stop here.
constexpr int kDeepestInclude = 8;

/// The macro of `#ifndef MACRO`, `#if !defined(MACRO)`. Empty: the line is another one.
std::string absent_macro(const std::string& line) {
  const std::vector<Word> all = words(line);
  if (all.size() == 2 && all[0].text == "ifndef") return all[1].text;
  const bool negated = line.find('!') != std::string::npos;
  return all.size() == 3 && all[0].text == "if" && all[1].text == "defined" && negated ? all[2].text : "";
}

/// A header without what keeps it from being read twice. `#define` of a guard stays: others may ask for it.
std::string without_guard(std::string header) {
  const std::size_t once = header.find("#pragma once");
  if (once != std::string::npos) header.erase(once, std::string_view("#pragma once").size());
  const std::vector<Chunk> chunks = top_level_chunks(header);
  if (chunks.size() < 3 || chunks[1].kind != Chunk::Kind::define || chunks.back().name != "endif") return header;
  const Extent first = chunks.front().extent;
  if (absent_macro(header.substr(first.begin, first.size())) != chunks[1].name) return header;
  int depth = 0;
  for (const Chunk& chunk : chunks) {
    if (chunk.kind != Chunk::Kind::preprocessor) continue;
    if (depth == 1 && chunk.name.starts_with("el")) return header;
    depth += chunk.name.starts_with("if") ? 1 : chunk.name == "endif" ? -1 : 0;
    if (depth == 0 && &chunk != &chunks.back()) return header;
  }
  header.erase(chunks.back().extent.begin, chunks.back().extent.size());
  return header.erase(first.begin, first.size());
}

/// The word of a preprocessor line: "endif".
std::string_view word_of(const Token& line) {
  const std::size_t word = std::min(line.text.find_first_not_of("# "), line.text.size());
  return std::string_view(line.text).substr(word);
}

/// Whether the header ends all conditionals that it opens, as what a compiler reads does.
bool ends_its_conditionals(const std::string& header) {
  int depth = 0;
  for (const Token& token : model::c_tokens(header)) {
    if (token.kind != TokenKind::preprocessor) continue;
    depth += word_of(token).starts_with("if") ? 1 : word_of(token).starts_with("endif") ? -1 : 0;
    if (depth < 0) return false;
  }
  return depth == 0;
}

/// Whether the header says nothing new when it is read again: it defines macros, and undefines none.
bool says_all_at_once(const std::string& header) {
  const std::vector<Token> tokens = model::c_tokens(header);
  return std::all_of(tokens.begin(), tokens.end(), [](const Token& token) {
    return token.kind == TokenKind::preprocessor && !word_of(token).starts_with("undef") &&
           !word_of(token).starts_with("include");
  });
}

/// The text with headers that are found put in the place of their #include.
class HeaderInliner {
 public:
  /// By the text alone: each once.
  explicit HeaderInliner(const HeaderFolders& folders) : folders_(folders) {}
  /// As they are entered.
  HeaderInliner(const HeaderFolders& folders, std::vector<Inclusion> entered)
      : folders_(folders), entered_(std::move(entered)), knows_entered_(true) {
    for (Inclusion& one : entered_) {
      std::error_code ignored;
      one.file = std::filesystem::weakly_canonical(one.file, ignored).string();
      files_.insert(one.file);
    }
  }

  std::string run(const std::string& source) { return inlined(source, source, folders_.own, {0, 0}); }

  /// Whether the text alone does not say where each header belongs.
  [[nodiscard]] bool is_unclear() const { return is_unclear_; }

 private:
  /// Where the text stands among what is entered.
  struct Position {
    int depth = 0;
    std::optional<std::size_t> next;  ///< index of what is entered after it; none: it is not entered itself
  };

  /// @param text of the file as it is; `source`: without its guard and comments.
  std::string inlined(const std::string& text, const std::string& source, const std::filesystem::path& own,
                      const Position& position) {
    const std::vector<syntax::Include> lines = syntax::includes_of(text);
    const std::vector<syntax::Include> includes = syntax::includes_of(source);
    syntax::Edits edits;
    for (std::size_t i = 0; i < includes.size() && position.depth < kDeepestInclude; ++i) {
      const std::filesystem::path file = find(includes[i].name, own);
      const auto read = base::read_file(file);
      if (file.empty() || !read) continue;
      Position inside{position.depth + 1, {}};
      if (lines.size() == includes.size()) inside.next = entered_at(position, text, lines[i].line, file.string());
      if (const auto header = text_at(inside, file, plain_text(*read))) edits.replace(includes[i].line, *header);
    }
    return edits.apply(source).value_or(source);
  }

  /// What stands in the place of an #include of the file. None: the #include.
  std::optional<std::string> text_at(const Position& position, const std::filesystem::path& file,
                                     const std::string& header) {
    const bool is_elsewhere = knows_entered_ && !position.next && files_.contains(file.string());
    if (is_elsewhere) return "";
    const bool is_whole = position.next || ends_its_conditionals(header);
    const bool is_first = seen_.insert(file.string()).second;
    is_unclear_ = is_unclear_ || !is_whole || !is_first;
    if (!is_first && (!position.next || says_all_at_once(header))) return "";
    if (!is_whole) return std::nullopt;
    const std::string plain = without_comments(header);
    return inlined(header, is_first ? without_guard(plain) : plain, file.parent_path(), position);
  }

  /// What follows the file where the line in the text at the position enters it. None: the line does not.
  std::optional<std::size_t> entered_at(const Position& position, const std::string& text, const Extent& line,
                                        const std::string& file) const {
    if (!knows_entered_ || !position.next) return std::nullopt;
    const auto line_of = [&](std::size_t offset) {
      return 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n');
    };
    const std::ptrdiff_t first = line_of(line.begin);
    const std::ptrdiff_t last = line_of(line.end);
    for (std::size_t i = *position.next; i < entered_.size() && entered_[i].depth > position.depth; ++i) {
      const Inclusion& one = entered_[i];
      const bool is_here = one.depth == position.depth + 1 && one.line >= first && one.line <= last;
      if (is_here && one.file == file) return i + 1;
    }
    return std::nullopt;
  }

  /// Empty: it is none of the user's.
  std::filesystem::path find(const std::string& spelled, const std::filesystem::path& own) const {
    if (spelled.size() < 2) return {};
    const std::string name = spelled.substr(1, spelled.size() - 2);
    std::vector<std::filesystem::path> places = folders_.searched;
    if (spelled.front() == '"') places.insert(places.begin(), own);
    for (const std::filesystem::path& place : places) {
      std::error_code ignored;
      if (std::filesystem::is_regular_file(place / name, ignored)) {
        return std::filesystem::weakly_canonical(place / name, ignored);
      }
    }
    return {};
  }

  const HeaderFolders& folders_;
  std::vector<Inclusion> entered_;
  std::set<std::string> files_;  ///< of what is entered
  std::set<std::string> seen_;
  bool knows_entered_ = false;
  bool is_unclear_ = false;
};

}  // namespace

std::string with_headers(const syntax::Clang& clang, const std::string& source, model::Language language,
                         const HeaderFolders& folders) {
  const std::string text = with_first_lines(plain_text(source), included_lines(folders));
  HeaderInliner by_text(folders);
  std::string inlined = by_text.run(text);
  if (!by_text.is_unclear()) return inlined;
  auto entered = syntax::inclusions_of(clang, {text, language, {}, reading_arguments(folders)});
  return entered ? HeaderInliner(folders, std::move(*entered)).run(text) : inlined;
}

}  // namespace accelopt::scaffold
