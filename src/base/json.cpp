// SPDX-License-Identifier: Apache-2.0
#include "base/json.hpp"

#include "base/json_text.hpp"

namespace accelopt::base {

Result<Json> parse_json(std::string_view text, std::string_view what) {
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
