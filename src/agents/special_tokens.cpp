// SPDX-License-Identifier: Apache-2.0
#include "agents/special_tokens.hpp"

#include <algorithm>
#include <cctype>

namespace accelopt::agents {
namespace {

/// The longest name of a token between its bars, bytes; those of published models have up to 40.
constexpr std::size_t kLongestTokenName = 100;

/// How a token begins and ends.
struct TokenBars {
  std::string_view open;
  std::string_view close;
};
constexpr TokenBars kWholeBars{"<|", "|>"};
constexpr TokenBars kBrokenBars{"< |", "| >"};

bool is_token_blank(char c) {
  return c == ' ' || c == '\t';
}

/// Of other characters than ASCII all count: models have names in any writing.
bool is_token_letter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || (static_cast<unsigned char>(c) & 0x80U) != 0 ||
         std::string_view("_.:/-").find(c) != std::string_view::npos;
}

/// A token at the beginning of a text; none: its length is 0.
struct TokenPlace {
  std::string_view name;
  bool opens = false;   ///< with a bar
  bool closes = false;  ///< with a bar
  std::size_t length = 0;
};

/// "<|im_start|>"; of some models also "<|turn>" and "<turn|>". Blanks may stand within a name that has both bars, but
/// not at its ends: `f <| x |> g` is code, and so is `x <-y|>f()`.
TokenPlace token_at(std::string_view text, const TokenBars& bars) {
  TokenPlace place;
  place.opens = text.starts_with(bars.open);
  const std::size_t begin = place.opens ? bars.open.size() : 1;
  std::size_t end = begin;
  bool has_blanks = false;
  while (end < text.size() && end - begin <= kLongestTokenName &&
         (is_token_letter(text[end]) || is_token_blank(text[end]))) {
    has_blanks = has_blanks || is_token_blank(text[end]);
    ++end;
  }
  if (end == begin || end - begin > kLongestTokenName || is_token_blank(text[begin]) || is_token_blank(text[end - 1]))
    return {};
  place.name = text.substr(begin, end - begin);
  place.closes = text.substr(end).starts_with(bars.close);
  if (!place.closes && !(place.opens && text.substr(end).starts_with('>'))) return {};
  const bool one_bar = place.opens != place.closes;
  if (one_bar && (has_blanks || std::string_view(".:/-").find(text[begin]) != std::string_view::npos)) return {};
  place.length = end + (place.closes ? bars.close.size() : 1);
  return place;
}

std::string spelled(const TokenPlace& place, const TokenBars& bars) {
  std::string out(place.opens ? bars.open : "<");
  out += place.name;
  out += place.closes ? bars.close : ">";
  return out;
}

/// The text with what `replaced` makes of each token.
template <class Replaced>
std::string with_tokens(std::string_view text, const TokenBars& bars, const Replaced& replaced) {
  std::string out;
  out.reserve(text.size());
  std::size_t done = 0;
  for (std::size_t at = 0; (at = text.find('<', at)) != std::string_view::npos;) {
    const TokenPlace place = token_at(text.substr(at), bars);
    if (place.length == 0) {
      ++at;
      continue;
    }
    out += text.substr(done, at - done);
    out += replaced(place);
    at += place.length;
    done = at;
  }
  return out += text.substr(done);
}

}  // namespace

std::string with_broken_tokens(std::string_view text) {
  return with_tokens(text, kWholeBars, [](const TokenPlace& place) { return spelled(place, kBrokenBars); });
}

void ShownTokens::add(std::string_view text) {
  with_tokens(text, kWholeBars, [&](const TokenPlace& place) {
    std::string original = spelled(place, kWholeBars);
    originals_.insert_or_assign(spelled(place, kBrokenBars), original);
    return original;
  });
  with_tokens(text, kBrokenBars, [&](const TokenPlace& place) {
    std::string broken = spelled(place, kBrokenBars);
    broken_before_.insert(broken);
    return broken;
  });
}

std::string ShownTokens::restored(std::string_view text) const {
  return with_tokens(text, kBrokenBars, [&](const TokenPlace& place) {
    std::string broken = spelled(place, kBrokenBars);
    const auto original = originals_.find(broken);
    return original == originals_.end() || broken_before_.contains(broken) ? broken : original->second;
  });
}

}  // namespace accelopt::agents
