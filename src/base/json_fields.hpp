// SPDX-License-Identifier: Apache-2.0
// One list of a struct's fields for both directions of its JSON. In the struct's namespace,
//
//   ACCELOPT_JSON(Stage) {
//     field.required("name", it.name);
//     field.optional("seconds", it.seconds);
//   }
//
// defines to_json(Json&, const Stage&) and from_json(const Json&, Stage&).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/json.hpp"
#include "base/names.hpp"

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

template <class T>
bool is_default(const T& value) {
  if constexpr (requires { value.empty(); }) {
    return value.empty();
  } else if constexpr (requires { value.has_value(); }) {
    return !value.has_value();
  } else {
    return value == T();
  }
}

/// Each takes a name and a member, and any number of further ones.
class FieldWriter {
 public:
  /// Whether the list is read: a field that is written on a condition of its own is read without it.
  static constexpr bool kReads = false;
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
    if (!is_default(member)) required(name, member);
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
  template <class Count>
  void count_unless_zero(const char* name, Count member, std::int64_t) {
    if (member != 0) out_[name] = member;
  }
  template <class E, class Table>
  void named(const char* name, E member, const Table& table) {
    out_[name] = name_in(table, member);
  }
  template <class E, class Table>
  void optional_name(const char* name, E member, const Table& table) {
    named(name, member, table);
  }
  template <class List>
  void nested(const char* name, const List& list) {
    FieldWriter inner(out_[name]);
    list(inner);
  }
  template <class T, class Write, class Read>
  void converted(const char* name, const T& member, const Write& write, const Read&) {
    out_[name] = write(member);
  }
  template <class... More>
  void finite(const char* name, double member, More&&... more) {
    out_[name] = std::isfinite(member) ? Json(member) : Json();
    if constexpr (sizeof...(more) > 0) finite(more...);
  }
  void object() const {}

 private:
  Json& out_;
};

class FieldReader {
 public:
  static constexpr bool kReads = true;
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
  /// Keeps the member where it is missing; null empties it.
  template <class T>
  void nullable(const char* name, std::optional<T>& member) {
    if (const auto found = in_.find(name); found != in_.end()) found->get_to(member);
  }
  /// Written only where it is not what the type's default is.
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
  /// The same, written only where it is not 0.
  template <class Count>
  void count_unless_zero(const char* name, Count& member, std::int64_t most) {
    count(name, member, most);
  }
  /// A required enumerator by its name in a table; the table's first for a name that it lacks.
  template <class E, class Table>
  void named(const char* name, E& member, const Table& table) {
    member = value_in(table, in_.at(name).get_ref<const std::string&>()).value_or(table.front().first);
  }
  /// The same; where it is missing or null the member stays.
  template <class E, class Table>
  void optional_name(const char* name, E& member, const Table& table) {
    if (const auto found = in_.find(name); found != in_.end() && !found->is_null()) named(name, member, table);
  }
  /// An object of fields of its own; where it is missing or null they stay.
  template <class List>
  void nested(const char* name, const List& list) {
    const auto found = in_.find(name);
    if (found == in_.end() || found->is_null()) return;
    FieldReader inner(*found);
    list(inner);
  }
  /// A required member with a form of its own: `write` makes it, `read` takes it back from the Json.
  template <class T, class Write, class Read>
  void converted(const char* name, T& member, const Write&, const Read& read) {
    member = read(in_.at(name));
  }
  /// A number that is null when it is NaN or infinite; NaN where it is missing or null.
  template <class... More>
  void finite(const char* name, double& member, More&&... more) {
    member = number_from_json(in_.value(name, Json()));
    if constexpr (sizeof...(more) > 0) finite(more...);
  }
  /// Throws what nlohmann does where it is no object: for structs that require no field.
  void object() const { static_cast<void>(in_.get_ref<const Json::object_t&>()); }

 private:
  const Json& in_;
};

}  // namespace accelopt::base

/// The body of the list follows; `field` is a FieldWriter or a FieldReader, `it` the struct.
#define ACCELOPT_JSON(Struct)                                                \
  template <class Field, class It>                                           \
  static void list_fields(std::type_identity<Struct>, Field& field, It& it); \
  void to_json(::accelopt::base::Json& out, const Struct& value) {           \
    ::accelopt::base::FieldWriter writer(out);                               \
    list_fields(std::type_identity<Struct>(), writer, value);                \
  }                                                                          \
  void from_json(const ::accelopt::base::Json& in, Struct& value) {          \
    ::accelopt::base::FieldReader reader(in);                                \
    list_fields(std::type_identity<Struct>(), reader, value);                \
  }                                                                          \
  template <class Field, class It>                                           \
  static void list_fields(std::type_identity<Struct>, Field& field, It& it)
