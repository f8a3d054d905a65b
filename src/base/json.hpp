// SPDX-License-Identifier: Apache-2.0
// JSON as the rest of the program uses it: parsing that returns Result, and std::optional as null.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/result.hpp"

namespace accelopt::base {

using Json = nlohmann::json;
class JsonText;  // json_text.hpp

/// Brackets within brackets that a text may have: what copies, compares or writes a value calls itself once for each.
inline constexpr int kDeepestJson = 200;
/// Whether brackets stand in brackets on more than so many levels; of JSON, not parsed yet.
bool nests_deeper(std::string_view text, int levels);

/// The parsed text. @error parse: not JSON, or deeper than kDeepestJson; the message begins with `what` and names the
/// position.
Result<Json> parse_json(std::string_view text, std::string_view what);
/// The same; a discarded value in place of an error.
Json json_or_discarded(std::string_view text);

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

/// Whether a JSON number, cut to a whole one, is one of T's. True for anything else.
template <class T, class AnyJson>
bool fits(const AnyJson& in) {
  if (in.is_number_unsigned()) return std::in_range<T>(*in.template get_ptr<const std::uint64_t*>());
  if (in.is_number_integer()) return std::in_range<T>(*in.template get_ptr<const std::int64_t*>());
  if (!in.is_number_float()) return true;
  // The least number is a power of two, and so is the one behind the greatest.
  const double value = std::trunc(*in.template get_ptr<const double*>());
  const auto least = static_cast<double>(std::numeric_limits<T>::min());
  return value >= least && value < std::ldexp(1.0, std::numeric_limits<T>::digits);
}

/// The text under `key`; empty where there is none, or something else.
std::string text_at(const Json& object, const char* key);

}  // namespace accelopt::base

/// A stranger's 1e300 or 5000000000 for an int is an error: nlohmann casts it, which is undefined or another number.
template <class T>
requires(std::is_integral_v<T> && !std::is_same_v<T, bool> &&
         !std::is_same_v<T, char>) struct nlohmann::adl_serializer<T, void> {
  template <class AnyJson>
  static void to_json(AnyJson& out, T value) {
    ::nlohmann::to_json(out, value);
  }
  template <class AnyJson>
  static void from_json(const AnyJson& in, T& value) {
    if (!accelopt::base::fits<T>(in)) throw AnyJson::out_of_range::create(406, "number out of range", &in);
    ::nlohmann::from_json(in, value);
  }
};

template <class T>
struct nlohmann::adl_serializer<std::optional<T>> {
  static void to_json(json& out, const std::optional<T>& value) { value ? void(out = *value) : void(out = nullptr); }
  static void from_json(const json& in, std::optional<T>& value) {
    value = in.is_null() ? std::nullopt : std::optional<T>(in.get<T>());
  }
};
