// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/json.hpp"

namespace accelopt::model {

/// What a kernel is written in: a key that journals, ids and prompts' folders are made with. What there is to know of a
/// language is in target_description.hpp.
class Language {
 public:
  constexpr Language() = default;
  /// Of a literal.
  consteval explicit Language(const char* key) : key_(key) {}
  /// Of any text; one that no target describes is kept as it is.
  static Language of(std::string_view key);

  [[nodiscard]] constexpr std::string_view key() const { return key_; }
  constexpr bool operator==(const Language&) const = default;

  // What src/syntax reads, and the recipes and the scaffold write.
  static const Language c;    // NOLINT(readability-identifier-naming): as an enumerator
  static const Language cpp;  // NOLINT(readability-identifier-naming): likewise

 private:
  std::string_view key_ = "cpp";
};
inline constexpr Language Language::c{"c"};
inline constexpr Language Language::cpp{"cpp"};

inline std::string_view to_string(Language language) {
  return language.key();
}

/// By a file's extension, as the targets describe their languages. @error invalid_argument: another one.
base::Result<Language> language_of_file(std::string_view file_name);

}  // namespace accelopt::model
