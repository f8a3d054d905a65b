// SPDX-License-Identifier: Apache-2.0
#include "llm/json_repair.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/text.hpp"

namespace accelopt::llm {
namespace {

constexpr std::size_t kEscapeBytes = 6;  // of \uXXXX

enum class Half { none, first, second };

/// Which half of a character the text begins with, as an escape.
Half half_at(std::string_view text) {
  unsigned code = 0;
  if (text.size() < kEscapeBytes || !text.starts_with("\\u")) return Half::none;
  const char* end = text.data() + kEscapeBytes;
  const auto [read, problem] = std::from_chars(text.data() + 2, end, code, 16);
  if (problem != std::errc() || read != end || code < 0xd800 || code > 0xdfff) return Half::none;
  return code < 0xdc00 ? Half::first : Half::second;
}

}  // namespace

JsonRepair::Repaired JsonRepair::repair(std::string_view json) {
  Repaired out;
  const std::string earlier = std::exchange(half_, {});
  bool begins_string = false;
  const auto take = [&](std::size_t bytes) {
    out.json += json.substr(0, bytes);
    json.remove_prefix(std::min(bytes, json.size()));
  };
  while (!json.empty()) {
    const bool begins = std::exchange(begins_string, json.front() == '"');
    const Half half = half_at(json);
    if (half == Half::first && half_at(json.substr(kEscapeBytes)) == Half::second) {
      take(2 * kEscapeBytes);
    } else if (half == Half::second && begins && !earlier.empty()) {
      out.json += earlier;
      out.begins = Begins::with_joined;
      take(kEscapeBytes);
    } else if (half != Half::none) {
      const std::string_view escape = json.substr(0, kEscapeBytes);
      json.remove_prefix(kEscapeBytes);
      if (half == Half::first && json.starts_with('"')) half_ = escape;
      out.json += kReplacement;
    } else if (json.front() == '\\') {
      take(2);
    } else if (const base::Character character = base::first_character(json); character.valid) {
      take(character.bytes);
    } else {
      out.json += kReplacement;
      json.remove_prefix(1);
    }
  }
  return out;
}

}  // namespace accelopt::llm
