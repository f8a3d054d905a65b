// SPDX-License-Identifier: Apache-2.0
// One table of names for the values of an enum:
//
//   constexpr auto kRoleNames = std::to_array<base::Named<Role>>({{Role::race, "race"}, {Role::check, "check"}});
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace accelopt::base {

template <class E>
using Named = std::pair<E, std::string_view>;

/// The value's name; the first one of the table for a value that is not in it.
template <class E, std::size_t N>
constexpr std::string_view name_in(const std::array<Named<E>, N>& table, E value) {
  for (const auto& [known, name] : table) {
    if (known == value) return name;
  }
  return table.front().second;
}

/// The value of that name; none where the table has no such name.
template <class E, std::size_t N>
constexpr std::optional<E> value_in(const std::array<Named<E>, N>& table, std::string_view name) {
  for (const auto& [value, known] : table) {
    if (known == name) return value;
  }
  return std::nullopt;
}

}  // namespace accelopt::base
