// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/solution.hpp"

namespace accelopt::agents {

enum class Role { planner, executor, fixer, summarizer };
/// "planner", ...
std::string_view to_string(Role role);

/// What the places of a prompt are filled with, by name.
using PlaceValues = std::map<std::string, std::string, std::less<>>;

/// A text with places `{{name}}`.
class PromptTemplate {
 public:
  PromptTemplate() = default;
  /// @error parse: "{{" that begins no place, or a name that is not in `known`; the message says file, line and known
  /// names.
  static base::Result<PromptTemplate> parse(std::string_view text, std::string_view file,
                                            const std::vector<std::string_view>& known);
  /// The text with its places filled in; values are not searched for places. Requires a value for each place.
  [[nodiscard]] std::string fill(const PlaceValues& values) const;
  /// The names of the places that it has.
  [[nodiscard]] std::vector<std::string> places() const;

 private:
  struct Piece {
    std::string text;
    bool is_place = false;
  };
  std::vector<Piece> pieces_;
};

/// What one role is told: its system message and its user message.
struct RolePrompt {
  PromptTemplate system;
  PromptTemplate user;
};

/// The prompts of every language and role. Read-only after loading, so it may be used by many threads at once.
class Prompts {
 public:
  /// The folder's name of the language's prompts: "cpp" for C and C++. @error unsupported: there are none for the
  /// language.
  static base::Result<std::string> folder_of(model::Language language);

  [[nodiscard]] const RolePrompt& of(Role role) const { return roles_.at(role); }
  [[nodiscard]] const PromptTemplate& contract() const { return contract_; }
  /// SHA-256 over all texts: equal prompts have equal ids.
  [[nodiscard]] const std::string& id() const { return id_; }

 private:
  friend base::Result<Prompts> load_prompts(const std::optional<std::filesystem::path>& folder);
  std::map<Role, RolePrompt> roles_;
  PromptTemplate contract_;
  std::string id_;
};

/// The prompts of a folder with the layout of prompts/, or those that the program was built with.
/// @error not_found and the like: a file of the layout is missing or cannot be read; parse: a text has an unknown
/// place.
base::Result<Prompts> load_prompts(const std::optional<std::filesystem::path>& folder = std::nullopt);

}  // namespace accelopt::agents
