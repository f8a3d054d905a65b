// SPDX-License-Identifier: Apache-2.0
#include "agents/prompts.hpp"

#include <algorithm>
#include <array>

#include "agents/builtin_prompts.hpp"
#include "agents/prompt_text.hpp"
#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "model/target_description.hpp"

namespace accelopt::agents {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr std::string_view kOpen = "{{";
constexpr std::string_view kClose = "}}";
constexpr auto kRoles = std::to_array({Role::planner, Role::executor, Role::fixer, Role::summarizer});

/// Every language of which something may be asked, once a folder of prompts or once a language.
template <class Take>
void for_prompted_languages(Take&& take) {
  for (const model::TargetDescription* target : model::targets()) {
    for (const model::LanguageDescription& language : target->languages) {
      if (!language.prompts.empty()) take(language);
    }
  }
}

std::vector<std::string> folders() {
  std::vector<std::string> out;
  for_prompted_languages([&](const model::LanguageDescription& language) {
    if (std::ranges::find(out, language.prompts) == out.end()) out.push_back(language.prompts);
  });
  return out;
}

auto line_of(std::string_view text, std::size_t at) {
  return 1 + std::ranges::count(text.substr(0, at), '\n');
}

Result<std::string> read_prompt(const std::optional<std::filesystem::path>& folder, const std::string& name) {
  if (folder) {
    auto text = base::read_file(*folder / name);
    if (!text && text.error().code == ErrorCode::not_found) {
      return fail(ErrorCode::not_found,
                  (*folder / name).string() +
                      ": no such prompt; a folder of prompts needs every file that the built-in one has");
    }
    return text;
  }
  const auto files = builtin_prompts();
  const auto found = std::ranges::find(files, std::string_view(name), &BuiltinPrompt::name);
  ACCELOPT_ASSERT(found != files.end(), "a prompt was not built in");
  return std::string(found->text);
}

}  // namespace

Result<PromptTemplate> PromptTemplate::parse(std::string_view text, std::string_view file,
                                             const std::vector<std::string_view>& known) {
  PromptTemplate out;
  const auto where = [&](std::size_t at) { return std::string(file) + ":" + std::to_string(line_of(text, at)) + ": "; };
  std::size_t done = 0;
  for (std::size_t at = 0; (at = text.find(kOpen, done)) != std::string_view::npos;) {
    const std::size_t name_at = at + kOpen.size();
    const std::size_t end = text.find(kClose, name_at);
    if (end == std::string_view::npos || text.substr(name_at, end - name_at).find('\n') != std::string_view::npos) {
      return fail(ErrorCode::parse, where(at) + "\"{{\" begins a place that does not end; write {{name}}");
    }
    const std::string_view name = text.substr(name_at, end - name_at);
    if (std::ranges::find(known, name) == known.end()) {
      return fail(ErrorCode::parse,
                  where(at) + "unknown place {{" + std::string(name) + "}}; known here: " + base::joined(known, " "));
    }
    out.pieces_.push_back({std::string(text.substr(done, at - done)), false});
    out.pieces_.push_back({std::string(name), true});
    done = end + kClose.size();
  }
  out.pieces_.push_back({std::string(text.substr(done)), false});
  return out;
}

std::string PromptTemplate::fill(const PlaceValues& values) const {
  std::string out;
  for (const Piece& piece : pieces_) {
    if (!piece.is_place) {
      out += piece.text;
      continue;
    }
    const auto value = values.find(piece.text);
    ACCELOPT_ASSERT(value != values.end(), "a known place of a prompt has no value");
    out += value->second;
  }
  return out;
}

std::vector<std::string> PromptTemplate::places() const {
  std::vector<std::string> names;
  for (const Piece& piece : pieces_) {
    if (piece.is_place) names.push_back(piece.text);
  }
  return names;
}

Result<std::string> Prompts::folder_of(model::Language language) {
  if (const std::string& folder = model::describe(language).prompts; !folder.empty()) return folder;
  std::string known;
  for_prompted_languages(
      [&](const model::LanguageDescription& other) { known += (known.empty() ? "" : ", ") + other.title; });
  return fail(ErrorCode::unsupported, "there are no prompts for " + std::string(model::to_string(language)) +
                                          " kernels; models are asked about these so far: " + known);
}

Result<const LanguagePrompts*> Prompts::of(model::Language language) const {
  TRY_ASSIGN(const std::string folder, folder_of(language));
  const auto found = languages_.find(folder);
  if (found != languages_.end()) return &found->second;
  return fail(ErrorCode::unsupported, "the folder of prompts that was given has none for " +
                                          std::string(model::to_string(language)) + " kernels; put them into " +
                                          folder + "/ in it");
}

namespace {

/// One file of a language.
Result<PromptTemplate> load_file(const std::optional<std::filesystem::path>& folder, const std::string& name,
                                 const std::vector<std::string_view>& known, std::string& all) {
  TRY_ASSIGN(const std::string text, read_prompt(folder, name));
  all += name + '\0' + text + '\0';
  return PromptTemplate::parse(text, folder ? (*folder / name).string() : name, known);
}

Result<LanguagePrompts> load_language(const std::optional<std::filesystem::path>& folder, const std::string& language,
                                      std::string& all) {
  LanguagePrompts prompts;
  TRY_ASSIGN(prompts.contract, load_file(folder, language + "/contract.txt", contract_places(), all));
  for (const Role role : kRoles) {
    const std::string name = language + "/" + std::string(to_string(role));
    RolePrompt& prompt = prompts.roles[role];
    TRY_ASSIGN(prompt.system, load_file(folder, name + ".system.txt", places_of(role), all));
    TRY_ASSIGN(prompt.user, load_file(folder, name + ".user.txt", places_of(role), all));
  }
  return prompts;
}

}  // namespace

Result<Prompts> load_prompts(const std::optional<std::filesystem::path>& folder) {
  Prompts prompts;
  std::string all;
  for (const std::string& language : folders()) {
    std::error_code ignored;
    if (folder && !std::filesystem::is_directory(*folder / language, ignored)) continue;
    TRY_ASSIGN(prompts.languages_[language], load_language(folder, language, all));
  }
  if (prompts.languages_.empty() && folder) {
    std::string known = base::joined(folders(), " or ", [&](const std::string& name) { return name + "/"; });
    return fail(ErrorCode::not_found, folder->string() + ": no folder of prompts; it needs " + known +
                                          " with every file that the built-in one has");
  }
  prompts.id_ = base::sha256_hex(all);
  return prompts;
}

}  // namespace accelopt::agents
