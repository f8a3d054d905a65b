// SPDX-License-Identifier: Apache-2.0
// JSON as the rest of the program uses it: parsing that returns Result, and std::optional as null.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/result.hpp"

namespace accelopt::base {

using Json = nlohmann::json;
class JsonText;  // json_text.hpp

/// The parsed text. @error parse: not JSON; the message begins with `what` and names the position.
Result<Json> parse_json(std::string_view text, std::string_view what);

/// One line, keys sorted, invalid UTF-8 replaced: equal values give equal text, so it can be hashed.
std::string canonical(const Json& value);

/// The JSON value as a T. @error parse: a key is missing or has another type; the message begins with `what`.
template <class T>
Result<T> decode(const Json& value, std::string_view what) {
  try {
    return value.get<T>();
  } catch (const nlohmann::json::exception& problem) {
    return fail(ErrorCode::parse, std::string(what) + ": " + problem.what());
  }
}

/// Reads `key` into `target` when it is there and not null; leaves the target's default otherwise.
template <class T>
void read_field(const Json& object, const char* key, T& target) {
  if (const auto found = object.find(key); found != object.end() && !found->is_null()) found->get_to(target);
}

/// The text under `key`; empty where there is none, or something else.
std::string text_at(const Json& object, const char* key);

}  // namespace accelopt::base

template <class T>
struct nlohmann::adl_serializer<std::optional<T>> {
  static void to_json(json& out, const std::optional<T>& value) { value ? void(out = *value) : void(out = nullptr); }
  static void from_json(const json& in, std::optional<T>& value) {
    value = in.is_null() ? std::nullopt : std::optional<T>(in.get<T>());
  }
};
