// SPDX-License-Identifier: Apache-2.0
#include "base/json.hpp"

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

Json json_or_discarded(std::string_view text) {
  if (nests_deeper(text, kDeepestJson)) return Json(Json::value_t::discarded);
  return Json::parse(text, nullptr, false);
}

Result<Json> parse_json(std::string_view text, std::string_view what) {
  if (nests_deeper(text, kDeepestJson)) return fail(ErrorCode::parse, std::string(what) + ": nested too deeply");
  try {
    return Json::parse(text);
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
