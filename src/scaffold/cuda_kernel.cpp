// SPDX-License-Identifier: Apache-2.0
#include "scaffold/cuda_kernel.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "base/text.hpp"
#include "model/c_tokens.hpp"

namespace accelopt::scaffold {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using model::Token;
using model::TokenKind;

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// A kernel's name with what stands before it and its parameters, by places among the tokens.
struct KernelHead {
  std::size_t begin;   ///< of its specifiers
  std::size_t name;    ///< "(" follows
  std::size_t closed;  ///< the ")" of its parameters
};

std::optional<std::size_t> matching_close(const std::vector<Token>& tokens, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    if (tokens[i].text == "(") ++depth;
    if (tokens[i].text == ")" && --depth == 0) return i;
  }
  return std::nullopt;
}

/// The "(" of the ")" at `close`; 0 where there is none.
std::size_t matching_open(const std::vector<Token>& tokens, std::size_t close) {
  int depth = 0;
  for (std::size_t i = close; i > 0; --i) {
    if (tokens[i].text == ")") ++depth;
    if (tokens[i].text == "(" && --depth == 0) return i;
  }
  return 0;
}

/// Where the specifiers begin that stand before the name.
std::size_t specifiers_begin(const std::vector<Token>& tokens, std::size_t name) {
  static constexpr std::array kSpecifiers = std::to_array<std::string_view>(
      {"void", "__global__", "static", "inline", "extern", "\"C\"", "__noinline__", "__forceinline__"});
  static constexpr std::array kWithArguments = std::to_array<std::string_view>(
      {"__launch_bounds__", "__cluster_dims__", "__maxnreg__", "__block_size__", "__attribute__"});
  std::size_t begin = name;
  while (begin > 0) {
    const std::string& before = tokens[begin - 1].text;
    if (is_one_of(kSpecifiers, before)) {
      --begin;
      continue;
    }
    const std::size_t open = before == ")" ? matching_open(tokens, begin - 1) : 0;
    if (open == 0 || !is_one_of(kWithArguments, tokens[open - 1].text)) break;
    begin = open - 1;
  }
  return begin;
}

/// Every declaration and definition of the kernel.
std::vector<KernelHead> heads_of(const std::vector<Token>& tokens, const std::string& name) {
  std::vector<KernelHead> out;
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i].kind != TokenKind::identifier || tokens[i].text != name || tokens[i + 1].text != "(") continue;
    const std::size_t begin = specifiers_begin(tokens, i);
    const auto has = [&](std::string_view word) {
      const std::span<const Token> specifiers(tokens.data() + begin, i - begin);
      return std::any_of(specifiers.begin(), specifiers.end(), [&](const Token& one) { return one.text == word; });
    };
    const auto closed = matching_close(tokens, i + 1);
    if (closed && has("__global__") && has("void")) out.push_back({begin, i, *closed});
  }
  return out;
}

/// Whether the parameters of a template, or what it requires of them, end before the head.
bool is_template_head(const std::vector<Token>& tokens, const KernelHead& head) {
  if (head.begin == 0) return false;
  const std::string& before = tokens[head.begin - 1].text;
  if (before != ")") return before == ">" || before == ">>";
  const std::size_t open = matching_open(tokens, head.begin - 1);
  return open > 0 && tokens[open - 1].text == "requires";
}

bool is_integer_word(std::string_view word) {
  static constexpr std::array kIntegers =
      std::to_array<std::string_view>({"unsigned", "long", "short", "size_t", "ptrdiff_t"});
  return word.find("int") != std::string_view::npos || is_one_of(kIntegers, word);
}

/// Of one parameter's tokens; nothing where it has no name.
std::optional<CudaParameter> cuda_parameter(std::span<const Token> words) {
  bool array = false;  // which is a pointer here
  while (!words.empty() && words.back().text == "]") {
    while (!words.empty() && words.back().text != "[") words = words.first(words.size() - 1);
    if (!words.empty()) words = words.first(words.size() - 1);
    array = true;
  }
  if (words.size() < 2 || words.back().kind != TokenKind::identifier) return std::nullopt;
  bool pointer = false;
  bool integer = false;
  bool constant = false;            // so far
  bool points_to_constant = false;  // by what stands left of the last "*"
  int depth = 0;                    // of template arguments
  for (const Token& token : words.first(words.size() - 1)) {
    const std::string& word = token.text;
    depth += word == "<" ? 1 : word == ">" ? -1 : word == ">>" ? -2 : 0;
    if (depth > 0) continue;
    if (word == "const") constant = true;
    if (is_integer_word(word)) integer = true;
    if (word != "*") continue;
    pointer = true;
    points_to_constant = constant;
  }
  if (array && !pointer) points_to_constant = constant;
  CudaParameter out{.name = words.back().text};
  if ((pointer || array) && !points_to_constant) out.kind = CudaParameter::Kind::output;
  if (!pointer && !array && integer) out.kind = CudaParameter::Kind::axis;
  return out;
}

/// The parameters between the parentheses; where one has no name, its number from 1 on.
tl::expected<std::vector<CudaParameter>, std::size_t> parameters_between(const std::vector<Token>& tokens,
                                                                         std::size_t open, std::size_t close) {
  std::vector<CudaParameter> out;
  std::size_t begin = open + 1;
  if (begin == close || (close - begin == 1 && tokens[begin].text == "void")) return out;
  int depth = 0;
  std::size_t value = 0;  // of a default, its "="
  for (std::size_t i = begin; i <= close; ++i) {
    const std::string& word = tokens[i].text;
    if (i == close || (word == "," && depth == 0)) {
      const std::size_t end = value > 0 ? value : i;
      auto parameter = cuda_parameter(std::span(tokens).subspan(begin, end - begin));
      if (!parameter) return tl::unexpected(out.size() + 1);
      out.push_back(std::move(*parameter));
      begin = i + 1;
      value = 0;
    }
    if (word == "=" && depth == 0) value = i;
    if (word == "(" || word == "[" || word == "{" || word == "<") ++depth;
    if (word == ")" || word == "]" || word == "}" || word == ">") --depth;
    if (word == ">>") depth -= 2;
  }
  return out;
}

/// Gives the head the linkage of C: what contradicts it goes, and the rest of the text stays as it is.
void give_linkage_of_c(std::string& source, const std::vector<Token>& tokens, const KernelHead& head) {
  static constexpr std::array kContradicting = std::to_array<std::string_view>({"static", "inline", "extern"});
  bool has_linkage = false;
  for (std::size_t i = head.name; i > head.begin; --i) {
    const Token& token = tokens[i - 1];
    if (tokens[i].text == "\"C\"") continue;
    if (token.text == "\"C\"") has_linkage = true;
    if (!is_one_of(kContradicting, token.text)) continue;
    std::size_t end = token.offset + token.text.size();
    while (end < source.size() && (source[end] == ' ' || source[end] == '\t')) ++end;
    source.erase(token.offset, end - token.offset);
  }
  if (!has_linkage) source.insert(tokens[head.begin].offset, "extern \"C\" ");
}

/// What stands between the first <<< and >>> behind the name.
std::string launch_of_kernel(const std::string& source, const std::vector<Token>& tokens, const std::string& name) {
  const auto at = [&](std::size_t i, std::string_view two, std::string_view one) {
    return i + 1 < tokens.size() && tokens[i].text == two && tokens[i + 1].text == one &&
           tokens[i + 1].offset == tokens[i].offset + two.size();
  };
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].text != name || !at(i + 1, "<<", "<")) continue;
    const std::size_t begin = tokens[i + 2].offset + 1;
    for (std::size_t end = i + 3; end < tokens.size() && tokens[end].text != ";"; ++end) {
      if (at(end, ">>", ">"))
        return std::string(base::trimmed(std::string_view(source).substr(begin, tokens[end].offset - begin)));
    }
  }
  return {};
}

}  // namespace

Result<CudaKernel> find_cuda_kernel(const std::string& source, const std::string& name,
                                    const std::filesystem::path& file) {
  const std::vector<Token> tokens = model::c_tokens(source);
  const std::vector<KernelHead> heads = heads_of(tokens, name);
  const auto defined = std::find_if(heads.begin(), heads.end(), [&](const KernelHead& head) {
    return head.closed + 1 < tokens.size() && tokens[head.closed + 1].text == "{";
  });
  if (defined == heads.end())
    return fail(ErrorCode::not_found, fmt::format("{}: no kernel `__global__ void {}(...)`", file.string(), name));
  if (is_template_head(tokens, *defined))
    return fail(ErrorCode::unsupported, fmt::format("{}: {} is a template; write an instance of it, `extern \"C\" "
                                                    "__global__ void {}_float(...)`, and name that",
                                                    file.string(), name, name));
  auto parameters = parameters_between(tokens, defined->name + 1, defined->closed);
  if (!parameters)
    return fail(ErrorCode::unsupported, fmt::format("{}: parameter {} of {} has no name; give it one: the launch names "
                                                    "what it passes",
                                                    file.string(), parameters.error(), name));
  CudaKernel out{.parameters = std::move(*parameters), .source = source, .launch = {}};
  out.launch = launch_of_kernel(source, tokens, name);
  for (auto head = heads.rbegin(); head != heads.rend(); ++head) {
    if (!is_template_head(tokens, *head)) give_linkage_of_c(out.source, tokens, *head);
  }
  return out;
}

}  // namespace accelopt::scaffold
