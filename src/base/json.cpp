// SPDX-License-Identifier: Apache-2.0
#include "base/json.hpp"

#include <algorithm>

#include "base/json_text.hpp"

namespace accelopt::base {

bool nests_deeper(std::string_view text, int levels) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted) {
      if (c == '\\') ++at;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > levels) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

namespace {

/// Of a parsed value, whose elements are fewer than its text's bytes; the library parses and destroys without
/// recursion.
bool is_deeper(const Json& value, int levels) {
  const auto within = [&](const Json& inner) { return is_deeper(inner, levels - 1); };
  if (const auto* const array = value.get_ptr<const Json::array_t*>())
    return levels == 0 || std::ranges::any_of(*array, within);
  const auto* const object = value.get_ptr<const Json::object_t*>();
  return object != nullptr &&
         (levels == 0 || std::ranges::any_of(*object, [&](const auto& member) { return within(member.second); }));
}

}  // namespace

Json json_or_discarded(std::string_view text) {
  Json value = Json::parse(text, nullptr, false);
  if (is_deeper(value, kDeepestJson)) return Json(Json::value_t::discarded);
  return value;
}

Result<Json> parse_json(std::string_view text, std::string_view what) {
  try {
    Json value = Json::parse(text);
    if (is_deeper(value, kDeepestJson)) return fail(ErrorCode::parse, std::string(what) + ": nested too deeply");
    return value;
  } catch (const nlohmann::json::exception& problem) {
    return fail(ErrorCode::parse, std::string(what) + ": " + problem.what());
  }
}

std::string canonical(const Json& value) {
  return json_of(value);
}

std::string text_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace accelopt::base
