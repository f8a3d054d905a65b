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
#include "model/vocabulary.hpp"

namespace accelopt::agents {

using Role = model::AgentRole;
using model::to_string;

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

/// What the roles are told about kernels of one language.
struct LanguagePrompts {
  std::map<Role, RolePrompt> roles;
  PromptTemplate contract;  ///< what the others take in as `contract`
};

/// The prompts of every language and role. Read-only after loading, so it may be used by many threads at once.
class Prompts {
 public:
  /// The name of the folder with the language's prompts: "cpp" for C and C++.
  /// @error unsupported: there are none for the language.
  static base::Result<std::string> folder_of(model::Language language);

  /// Those of the language; they live as long as this object. @error unsupported: there are none for the language, or
  /// the folder that was given holds none.
  [[nodiscard]] base::Result<const LanguagePrompts*> of(model::Language language) const;
  /// SHA-256 over all texts: equal prompts have equal ids.
  [[nodiscard]] const std::string& id() const { return id_; }

 private:
  friend base::Result<Prompts> load_prompts(const std::optional<std::filesystem::path>& folder);
  std::map<std::string, LanguagePrompts, std::less<>> languages_;  ///< by folder
  std::string id_;
};

/// The prompts of a folder with the layout of prompts/, or those that the program was built with. A folder may hold the
/// prompts of some languages only. @error not_found and the like: it holds none, or a file of a language is missing or
/// cannot be read; parse: a text has an unknown place.
base::Result<Prompts> load_prompts(const std::optional<std::filesystem::path>& folder = std::nullopt);

}  // namespace accelopt::agents
