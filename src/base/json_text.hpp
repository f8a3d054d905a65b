// SPDX-License-Identifier: Apache-2.0
// JSON as text without objects of the library in between, byte by byte what canonical() makes of them. For what is
// written by the hundred thousand: a step of a run and the input that it is known by.
//
// A struct that has a list of its fields (json_fields.hpp) is written from the list where its header declares
// write_json(JsonText&, const Struct&) and ACCELOPT_JSON_TEXT(Struct) stands behind the list. Anything else becomes an
// object first.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "base/json_fields.hpp"
#include "base/names.hpp"

namespace accelopt::base {

namespace json_text {

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <class T>
inline constexpr bool kIsVector = false;
template <class T>
inline constexpr bool kIsVector<std::vector<T>> = !std::is_same_v<T, bool>;

template <class T>
concept Written = requires(JsonText& out, const T& value) {
  write_json(out, value);
};

}  // namespace json_text

/// What is written, value by value.
class JsonText {
 public:
  template <class T>
  void add(const T& value) {
    if constexpr (std::is_same_v<T, Json>) {
      add_json(value);
    } else if constexpr (json_text::Written<T>) {
      write_json(*this, value);
    } else if constexpr (std::is_same_v<T, bool>) {
      text_ += value ? "true" : "false";
    } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
      add_whole(std::int64_t{value});
    } else if constexpr (std::is_integral_v<T>) {
      add_whole(std::uint64_t{value});
    } else if constexpr (std::is_floating_point_v<T>) {
      add_real(double{value});
    } else if constexpr (json_text::kIsOptional<T>) {
      value ? add(*value) : add_null();
    } else if constexpr (json_text::kIsVector<T>) {
      add_list(value, [this](const auto& inner) { this->add(inner); });
    } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      add_string(value);
    } else {
      add_json(Json(value));
    }
  }
  /// A list of what `write` adds for each of them.
  template <class List, class Write>
  void add_list(const List& list, const Write& write) {
    text_ += '[';
    bool first = true;
    for (const auto& inner : list) {
      if (!first) text_ += ',';
      first = false;
      write(inner);
    }
    text_ += ']';
  }
  /// A list of these.
  template <class First, class... More>
  void add_all(const First& first, const More&... more) {
    text_ += '[';
    add(first);
    ((text_ += ',', add(more)), ...);
    text_ += ']';
  }
  void add_null() { text_ += "null"; }
  /// A number, or null where it is none.
  void add_real(double value);

  [[nodiscard]] const std::string& text() const { return text_; }
  std::string take() { return std::move(text_); }

 private:
  friend class FieldText;
  void add_json(const Json& value);
  void add_object(const Json::object_t& object);
  void add_string(std::string_view string);
  void add_escaped(unsigned char byte);
  void add_whole(std::int64_t value);
  void add_whole(std::uint64_t value);

  std::string text_;
};

/// An object, field by field in any order, as FieldWriter has them; end() puts them in the order of their names.
class FieldText {
 public:
  static constexpr bool kReads = false;
  explicit FieldText(JsonText& out) : out_(out), begin_(out.text_.size()) {}
  FieldText(const FieldText&) = delete;
  FieldText& operator=(const FieldText&) = delete;
  /// To be called once, when all are there.
  void end();

  template <class T, class... More>
  void required(const char* name, const T& member, More&&... more) {
    begin(name);
    out_.add(member);
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
    begin(name);
    if (std::isfinite(member))
      out_.add_real(member);
    else
      out_.add_string(std::isnan(member) ? "nan" : member > 0 ? "inf" : "-inf");
    if constexpr (sizeof...(more) > 0) number(more...);
  }
  template <class Count>
  void count(const char* name, Count member, std::int64_t) {
    required(name, member);
  }
  template <class Count>
  void count_unless_zero(const char* name, Count member, std::int64_t) {
    if (member != 0) required(name, member);
  }
  template <class E, class Table>
  void named(const char* name, E member, const Table& table) {
    required(name, name_in(table, member));
  }
  template <class E, class Table>
  void optional_name(const char* name, E member, const Table& table) {
    named(name, member, table);
  }
  template <class List>
  void nested(const char* name, const List& list) {
    begin(name);
    FieldText inner(out_);
    list(inner);
    inner.end();
  }
  template <class T, class Write, class Read>
  void converted(const char* name, const T& member, const Write& write, const Read&) {
    required(name, write(member));
  }
  template <class... More>
  void finite(const char* name, double member, More&&... more) {
    required(name, member);
    if constexpr (sizeof...(more) > 0) finite(more...);
  }
  void object() const {}

 private:
  /// Of any struct.
  static constexpr std::size_t kMostFields = 64;
  struct Field {
    std::string_view name;
    std::size_t begin;  ///< of its text, which ends with a comma
    std::size_t end;
  };
  void begin(std::string_view name);
  void put_in_order();

  JsonText& out_;
  std::size_t begin_;
  std::size_t count_ = 0;
  bool in_order_ = true;
  std::array<Field, kMostFields> fields_;  // NOLINT(cppcoreguidelines-pro-type-member-init): the first `count_` are
};

/// canonical() of it, without the object.
template <class T>
std::string json_of(const T& value) {
  JsonText out;
  out.add(value);
  return out.take();
}

/// The same of an object of these names and values: ("kernel", id, "plan", plan).
template <class... Fields>
std::string json_object(const Fields&... fields) {
  JsonText out;
  FieldText object(out);
  object.required(fields...);
  object.end();
  return out.take();
}

}  // namespace accelopt::base

/// Behind the list of the struct's fields.
#define ACCELOPT_JSON_TEXT(Struct)                                        \
  void write_json(::accelopt::base::JsonText& out, const Struct& value) { \
    ::accelopt::base::FieldText fields(out);                              \
    list_fields(std::type_identity<Struct>(), fields, value);             \
    fields.end();                                                         \
  }                                                                       \
  static_assert(true, "a semicolon follows")
