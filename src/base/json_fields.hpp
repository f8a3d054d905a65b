// SPDX-License-Identifier: Apache-2.0
// One list of a struct's fields for both directions of its JSON:
//
//   constexpr auto kFields = [](auto& field, auto& it) {
//     field.required("name", it.name);
//     field.optional("seconds", it.seconds);
//   };
//   void to_json(Json& out, const Stage& value) { write_fields(out, value, kFields); }
//   void from_json(const Json& in, Stage& value) { read_fields(in, value, kFields); }
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "base/json.hpp"

namespace accelopt::base {

/// A number, or "nan", "inf", "-inf": JSON has none of these.
inline Json number_to_json(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

/// The reverse; null, as others write it, is NaN. Throws what nlohmann does for anything else.
inline double number_from_json(const Json& in) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (in.is_string()) return in == "inf" ? kInfinity : in == "-inf" ? -kInfinity : std::nan("");
  return in.is_null() ? std::nan("") : in.get<double>();
}

/// Each takes a name and a member, and any number of further ones.
class FieldWriter {
 public:
  explicit FieldWriter(Json& out) : out_(out) { out_ = Json::object(); }

  template <class T, class... More>
  void required(const char* name, const T& member, More&&... more) {
    out_[name] = Json(member);
    if constexpr (sizeof...(more) > 0) required(more...);
  }
  template <class... All>
  void optional(All&&... all) {
    required(std::forward<All>(all)...);
  }
  template <class T, class... More>
  void unless_empty(const char* name, const T& member, More&&... more) {
    if (!member.empty()) required(name, member);
    if constexpr (sizeof...(more) > 0) unless_empty(more...);
  }
  template <class... More>
  void number(const char* name, double member, More&&... more) {
    out_[name] = number_to_json(member);
    if constexpr (sizeof...(more) > 0) number(more...);
  }
  template <class Count>
  void count(const char* name, Count member, std::int64_t) {
    out_[name] = member;
  }
  template <class E>
  void named(const char* name, E member, E (*)(std::string_view)) {
    out_[name] = to_string(member);
  }

 private:
  Json& out_;
};

class FieldReader {
 public:
  explicit FieldReader(const Json& in) : in_(in) {}

  /// Throws what nlohmann does where it is missing.
  template <class T, class... More>
  void required(const char* name, T& member, More&&... more) {
    in_.at(name).get_to(member);
    if constexpr (sizeof...(more) > 0) required(more...);
  }
  /// Keeps the member where it is missing or null.
  template <class T, class... More>
  void optional(const char* name, T& member, More&&... more) {
    read_field(in_, name, member);
    if constexpr (sizeof...(more) > 0) optional(more...);
  }
  /// Written only where it holds something.
  template <class... All>
  void unless_empty(All&&... all) {
    optional(std::forward<All>(all)...);
  }
  /// A required number that may be NaN or infinite.
  template <class... More>
  void number(const char* name, double& member, More&&... more) {
    member = number_from_json(in_.at(name));
    if constexpr (sizeof...(more) > 0) number(more...);
  }
  /// Brought into 0 to `most`, whatever the text says: it may be a stranger's.
  template <class Count>
  void count(const char* name, Count& member, std::int64_t most) {
    const auto found = in_.find(name);
    if (found == in_.end() || found->is_null()) return;
    const auto said = found->is_number() ? found->get<double>() : static_cast<double>(found->get<std::int64_t>());
    member = static_cast<Count>(said > 0 ? std::min(said, static_cast<double>(most)) : 0);
  }
  /// An enumerator by name; where it is missing the member stays.
  template <class E>
  void named(const char* name, E& member, E (*parse)(std::string_view)) {
    if (const auto found = in_.find(name); found != in_.end()) member = parse(found->get_ref<const std::string&>());
  }

 private:
  const Json& in_;
};

template <class T, class List>
void write_fields(Json& out, const T& value, const List& list) {
  FieldWriter writer(out);
  list(writer, value);
}

template <class T, class List>
void read_fields(const Json& in, T& value, const List& list) {
  FieldReader reader(in);
  list(reader, value);
}

}  // namespace accelopt::base
