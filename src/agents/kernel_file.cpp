// SPDX-License-Identifier: Apache-2.0
#include "agents/kernel_file.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "agents/answer_text.hpp"
#include "agents/edits.hpp"
#include "agents/quote.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "model/c_tokens.hpp"
#include "model/target_description.hpp"

namespace accelopt::agents {
namespace {

using model::KernelForm;

constexpr std::size_t kLargestSource = std::size_t{256} << 10U;

/// Where the parenthesis that `tokens[open]` opens is closed, or their end.
std::size_t closing_parenthesis(const std::vector<model::Token>& tokens, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    if (tokens[i].text == "(") ++depth;
    if (tokens[i].text == ")" && --depth == 0) return i;
  }
  return tokens.size();
}

/// Whether the text has the name `kernel`, its parameters right behind it, and then a brace before a semicolon: a
/// definition, as far as this can be told without a compiler.
bool defines_kernel(std::string_view text) {
  const std::vector<model::Token> tokens = model::c_tokens(text);
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i].text != "kernel" || tokens[i + 1].text != "(") continue;
    for (std::size_t after = closing_parenthesis(tokens, i + 1); after < tokens.size(); ++after) {
      if (tokens[after].text == ";") break;
      if (tokens[after].text == "{") return true;
    }
  }
  return false;
}

/// Whether the text has a line that begins with "//@ launch" and the word __global__: a whole file of device code. One
/// without its directives would build and launch nothing.
bool declares_launch(std::string_view text) {
  const std::vector<std::string_view> lines = lines_of(text);
  const bool launches = std::ranges::any_of(lines, [](std::string_view line) {
    constexpr std::string_view kMark = "//@";
    line = base::trimmed(line);
    return line.starts_with(kMark) && base::trimmed(line.substr(kMark.size())).starts_with("launch");
  });
  return launches && text.find("__global__") != std::string_view::npos;
}

bool is_diff(const FencedBlock& block) {
  return block.info == "diff" || block.info == "patch" || block.text.starts_with("--- ") ||
         block.text.starts_with("@@") || block.text.starts_with("diff --git");
}

/// No file of any language begins so.
bool is_object(std::string_view text) {
  return base::trimmed(text).starts_with('{');
}

bool is_whole(std::string_view text, KernelForm form) {
  if (is_object(text) || has_edits(text)) return false;
  if (form == KernelForm::text) return true;
  return form == KernelForm::launches ? declares_launch(text) : defines_kernel(text);
}

/// The "content" of an object {"path": ..., "content": "..."}, as tools for writing files take it; none: it is none.
std::optional<std::string> content_of(std::string_view text) {
  if (!is_object(text)) return std::nullopt;
  const base::Json object = base::json_or_discarded(with_escapes(base::trimmed(text)));
  if (!object.is_object()) return std::nullopt;
  const auto content = object.find("content");
  if (content == object.end() || !content->is_string()) return std::nullopt;
  std::string file;
  for (const std::string_view line : lines_of(content->get_ref<const std::string&>())) file += std::string(line) + "\n";
  return file;
}

/// Whether C, C++ or device code may begin with the line.
bool begins_file(std::string_view line) {
  constexpr auto kBeginnings =
      std::to_array<std::string_view>({"//", "/*", "#include", "#define", "#pragma", "#if", "extern \"C\"",
                                       "template <", "template<", "static inline", "void kernel(", "__global__"});
  return std::ranges::any_of(kBeginnings, [line](std::string_view known) { return line.starts_with(known); });
}

bool ends_like_code(std::string_view line) {
  line = base::trimmed(line);
  return line.ends_with(';') || line.ends_with('{') || line.ends_with('}');
}

bool has_balanced_braces(std::string_view text) {
  std::ptrdiff_t depth = 0;
  for (const model::Token& token : model::c_tokens(text)) depth += token.text == "{" ? 1 : token.text == "}" ? -1 : 0;
  return depth == 0;
}

/// The file in an answer without any fence; none: where it begins or ends is not plain, or a part is missing.
std::optional<std::string> unfenced_file(std::string_view answer, KernelForm form) {
  if (auto content = content_of(answer); content && is_whole(*content, form)) return content;
  if (form != KernelForm::function && form != KernelForm::launches) return std::nullopt;
  const std::vector<std::string_view> lines = lines_of(answer);
  const auto first = std::ranges::find_if(lines, begins_file);
  const auto last = std::find_if(lines.rbegin(), lines.rend(), [](std::string_view line) {
                      return line.starts_with('#') || base::trimmed(line).ends_with('}');
                    }).base();
  if (first >= last) return std::nullopt;
  if (std::any_of(lines.begin(), first, ends_like_code) || std::any_of(last, lines.end(), ends_like_code))
    return std::nullopt;
  std::string file;
  for (auto line = first; line != last; ++line) file += std::string(*line) + "\n";
  return is_whole(file, form) && has_balanced_braces(file) ? std::optional(file) : std::nullopt;
}

/// Why none of the blocks is a whole file.
const char* no_whole_file(const std::vector<FencedBlock>& blocks, KernelForm form) {
  if (std::ranges::any_of(blocks, is_object, &FencedBlock::text))
    return "the fenced block is JSON; the file itself is needed, as it is";
  if (form == KernelForm::text) return "the fenced block holds search/replace blocks; the whole file is needed";
  return form == KernelForm::launches
             ? "no fenced block has both //@ launch lines and the __global__ functions that they name; "
               "the whole file is needed, with its directives"
             : "no fenced block defines the function kernel; the whole file is needed, not a part of it";
}

/// The block with the file; null: none holds a whole one.
const FencedBlock* chosen_block(const std::vector<FencedBlock>& blocks, KernelForm form, const IsShown& is_shown) {
  const FencedBlock* last = nullptr;
  for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
    if (!is_whole(block->text, form)) continue;
    if (last == nullptr) last = &*block;
    // Of text each block would be whole: one before the last has to look like it.
    const bool counts =
        last == &*block || form != KernelForm::text || ("\n" + block->text).find("\ndef ") != std::string::npos;
    if (counts && (!is_shown || !is_shown(block->text))) return &*block;
  }
  return last;
}

tl::unexpected<std::string> no_file(std::string reason) {
  return tl::make_unexpected(std::move(reason));
}

}  // namespace

Parsed<std::string> parse_kernel_file(std::string_view text, model::Language language, const IsShown& is_shown) {
  const KernelForm form = model::describe(language).form;
  const std::string answer = without_thoughts(text);
  std::vector<FencedBlock> blocks = blocks_of(answer);
  if (blocks.empty()) {
    auto file = unfenced_file(answer, form);
    if (!file) return no_file("it has no fenced block with the file");
    blocks.push_back({{}, *std::move(file), true});
  }
  if (!blocks.back().closed) return no_file("its last fenced block is not closed, so the file may be cut off");
  for (FencedBlock& block : blocks) {
    if (auto content = content_of(block.text)) block.text = *std::move(content);
  }
  const FencedBlock* const whole = chosen_block(blocks, form, is_shown);
  if (whole == nullptr) return no_file(no_whole_file(blocks, form));
  if (is_diff(*whole)) return no_file("the fenced block is a diff; the whole file is needed");
  if (whole->text.size() > kLargestSource) return no_file("the file is larger than 256 KiB");
  if (has_deceptive_characters(whole->text)) {
    return no_file("the file holds control characters or characters that change the direction of writing");
  }
  return whole->text;
}

}  // namespace accelopt::agents
