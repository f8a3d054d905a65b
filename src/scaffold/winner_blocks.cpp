// SPDX-License-Identifier: Apache-2.0
#include "scaffold/winner_blocks.hpp"

#include <optional>
#include <string_view>
#include <vector>

#include "model/c_tokens.hpp"
#include "scaffold/extract.hpp"
#include "scaffold/words.hpp"
#include "syntax/edit.hpp"

namespace accelopt::scaffold {
namespace {

using model::Token;

/// How the comment line goes on, behind "// " or "/* ", that a patch puts above each winner.
constexpr std::string_view kWinnerMark = "Made faster by accelopt";

/// "f_accelopt" of "f_accelopt_kernel". Empty: it is no winner's name.
std::string winner_prefix(const std::string& name) {
  constexpr std::string_view kEnd = "_accelopt";
  const std::size_t at = name.find(kEnd);
  if (at == std::string::npos) return {};
  const std::size_t end = at + kEnd.size();
  return end == name.size() || name[end] == '_' ? name.substr(0, end) : "";
}

/// Of what a definition is called, or what it stands in: not of what it calls.
std::string prefix_of_chunk(const Chunk& chunk, std::string_view text) {
  for (const std::string_view part : {std::string_view(chunk.scope), text.substr(0, text.find('{'))}) {
    for (const Word& word : words(part)) {
      if (const std::string prefix = winner_prefix(word.text); !prefix.empty()) return prefix;
    }
  }
  return {};
}

struct Block {
  syntax::Extent extent;
  std::string prefix;
};

/// The winner below a mark. None: nothing there is one's.
std::optional<Block> block_below(const std::string& source, const std::vector<Chunk>& chunks, std::size_t mark) {
  std::optional<Block> block;
  bool ends = false;  // nothing but lines that close the winner may follow
  for (const Chunk& chunk : chunks) {
    if (chunk.extent.begin < mark) continue;
    const std::string_view text = std::string_view(source).substr(chunk.extent.begin, chunk.extent.size());
    const std::string prefix = prefix_of_chunk(chunk, text);
    if (!prefix.empty() && (!block || prefix == block->prefix)) {
      block = Block{{mark, chunk.extent.end}, prefix};
      ends = true;
      continue;
    }
    if (chunk.kind == Chunk::Kind::closing && block) {  // of its namespace
      block->extent.end = chunk.extent.end;
      continue;
    }
    const bool is_line = chunk.kind == Chunk::Kind::preprocessor || chunk.kind == Chunk::Kind::define;
    const bool closes = chunk.name == "undef" || text.find("pop_") != std::string_view::npos;
    if (ends && is_line && closes) block->extent.end = chunk.extent.end;
    if (is_line) {
      ends = ends && closes;
      continue;
    }
    if (chunk.kind != Chunk::Kind::declaration) break;  // of the user's
    ends = false;
  }
  return block;
}

/// Past the bracket that closes the one at `index`.
std::size_t past_bracket(const std::vector<Token>& tokens, std::size_t index) {
  int depth = 0;
  for (; index < tokens.size(); ++index) {
    if (tokens[index].text == "(" || tokens[index].text == "{") ++depth;
    if (tokens[index].text == ")" || tokens[index].text == "}") --depth;
    if (depth == 0) return index + 1;
  }
  return index;
}

/// The `if (...) {...}` that begins a body and calls the winner, the first from `begin` on.
std::optional<syntax::Extent> call_of(const std::string& source, std::size_t begin, const std::string& prefix) {
  const std::vector<Token> tokens = model::c_tokens(std::string_view(source).substr(begin));
  std::size_t use = 0;
  while (use < tokens.size() && winner_prefix(tokens[use].text) != prefix) ++use;
  if (use == tokens.size()) return std::nullopt;
  for (std::size_t i = use; i > 0; --i) {
    if (tokens[i].text != "if" || tokens[i - 1].text != "{") continue;
    const std::size_t then = past_bracket(tokens, i + 1);
    const std::size_t end = then < tokens.size() ? past_bracket(tokens, then) : then;
    if (end <= use) return std::nullopt;
    return syntax::Extent{begin + tokens[i].offset, begin + tokens[end - 1].offset + 1};
  }
  return std::nullopt;
}

/// Without the braces of the block that holds the old body alone, where declarations are to come before statements.
void free_inner_block(const std::string& source, std::size_t begin, syntax::Edits& edits) {
  const std::vector<Token> tokens = model::c_tokens(std::string_view(source).substr(begin));
  if (tokens.empty() || tokens.front().text != "{") return;
  const std::size_t end = past_bracket(tokens, 0);
  if (end >= tokens.size() || tokens[end].text != "}") return;
  for (const Token& brace : {tokens.front(), tokens[end - 1]}) {
    edits.replace({begin + brace.offset, begin + brace.end}, "");
  }
}

}  // namespace

std::string without_winners(const std::string& source) {
  const std::vector<Chunk> chunks = top_level_chunks(source);
  syntax::Edits edits;
  for (std::size_t at = source.find(kWinnerMark); at != std::string::npos; at = source.find(kWinnerMark, at + 1)) {
    const std::size_t line = at < 3 ? std::string::npos : at - 3;
    const bool is_mark = line != std::string::npos && (line == 0 || source[line - 1] == '\n') &&
                         (source.compare(line, 3, "// ") == 0 || source.compare(line, 3, "/* ") == 0);
    const auto block = is_mark ? block_below(source, chunks, line) : std::nullopt;
    if (!block) continue;
    edits.replace(block->extent, "");
    const auto call = call_of(source, block->extent.end, block->prefix);
    if (!call) continue;
    edits.replace(*call, "");
    free_inner_block(source, call->end, edits);
  }
  return edits.apply(source).value_or(source);
}

}  // namespace accelopt::scaffold
