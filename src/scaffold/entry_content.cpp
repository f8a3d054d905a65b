// SPDX-License-Identifier: Apache-2.0
#include "scaffold/entry_content.hpp"

#include <set>
#include <string_view>
#include <vector>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "model/c_tokens.hpp"
#include "scaffold/extract.hpp"
#include "scaffold/inlined_headers.hpp"
#include "scaffold/winner_blocks.hpp"
#include "scaffold/words.hpp"

namespace accelopt::scaffold {
namespace {

using base::Result;
using model::Token;
using model::TokenKind;

/// A definition, and the names by which others use it.
struct Named {
  syntax::Extent extent;
  std::set<std::string> names;
};

/// All that the file defines, without the entry and the class around it.
std::vector<Named> definitions_beside(const syntax::Unit& unit, const syntax::Function& entry) {
  std::vector<Named> all;
  std::set<std::string> functions_here{entry.name};
  for (const auto* functions : {&unit.functions, &unit.members}) {
    for (const syntax::Function& one : *functions) {
      functions_here.insert(one.name);
      if (&one != &entry) all.push_back({one.extent, {one.name}});
    }
  }
  for (const Chunk& chunk : top_level_chunks(unit.source)) {
    if (chunk.extent.contains(entry.extent)) continue;
    if (chunk.kind == Chunk::Kind::define) all.push_back({chunk.extent, {chunk.name}});
    if (chunk.kind != Chunk::Kind::declaration) continue;
    std::set<std::string> names = declared_names(unit.text(chunk.extent));
    for (const std::string& function : functions_here) names.erase(function);  // a prototype
    all.push_back({chunk.extent, std::move(names)});
  }
  return all;
}

}  // namespace

std::set<std::string> declared_names(std::string_view text) {
  const std::vector<Token> tokens = model::c_tokens(text);
  std::set<std::string> names;
  const bool is_enumeration = !tokens.empty() && tokens.front().text == "enum";
  std::string last;
  int depth = 0;  // within alignas(...), __attribute__((...))
  for (const Token& token : tokens) {
    if (token.text == "(" && (depth > 0 || last == "alignas" || last == "__attribute__")) ++depth;
    if (depth > 0) {
      if (token.text == ")") --depth;
      continue;
    }
    const bool of_type = token.text == "*" || token.text == "&" || token.text == "<" || token.text == ">" ||
                         token.text == "::" || token.text == ",";
    if (token.kind == TokenKind::punctuator && !of_type && !is_enumeration) break;
    if (token.kind == TokenKind::identifier) last = token.text;
    if (token.kind == TokenKind::identifier && is_enumeration) names.insert(last);
  }
  if (!last.empty()) names.insert(last);
  return names;
}

Result<std::string> content_of(const syntax::Clang& clang, const std::string& source, model::Language language,
                               const std::string& function, const HeaderFolders& folders) {
  TRY_ASSIGN(const syntax::Unit unit,
             read_unit(clang, with_macros(with_headers(clang, source, language, folders), folders), language));
  TRY_ASSIGN(const syntax::Function* const entry, find_function(unit, function));
  const std::vector<Named> beside = definitions_beside(unit, *entry);
  std::set<std::string> texts;  // a set: definitions may change places
  std::vector<bool> taken(beside.size(), false);
  std::vector<syntax::Extent> open{entry->extent};
  while (!open.empty()) {
    const std::string_view text = unit.text(open.back());
    open.pop_back();
    texts.insert(base::joined(model::canonical_tokens(text), "\n"));
    for (const Word& word : words(text)) {
      for (std::size_t i = 0; i < beside.size(); ++i) {
        if (word.is_number || taken[i] || !beside[i].names.contains(word.text)) continue;
        taken[i] = true;
        open.push_back(beside[i].extent);
      }
    }
  }
  return base::sha256_hex(base::joined(texts, "\n\n"));
}

Result<bool> is_content_of(const syntax::Clang& clang, const std::string& content, const std::string& source,
                           model::Language language, const std::string& function, const HeaderFolders& folders) {
  TRY_ASSIGN(const std::string now, content_of(clang, source, language, function, folders));
  if (now == content) return true;
  HeaderFolders own = folders;
  own.searched.clear();
  const std::string plain = plain_text(source);
  const std::string before = without_winners(plain);
  const auto is_made_from = [&](const std::string& text, const HeaderFolders& some) {
    const auto found = content_of(clang, text, language, function, some);
    return found && *found == content;  // without headers the function may not even be found
  };
  return is_made_from(plain, own) || (before != plain && (is_made_from(before, folders) || is_made_from(before, own)));
}

}  // namespace accelopt::scaffold
