// SPDX-License-Identifier: Apache-2.0
#include "refactor/languages.hpp"

#include <algorithm>

namespace accelopt::refactor {

std::span<const CodeLanguage> code_languages() {
  static const std::vector<CodeLanguage> kLanguages{
      {"python", {".py"}, FunctionForm::indentation, {"PYTHONDONTWRITEBYTECODE=1", "PYTHONHASHSEED={hash}"}},
      {"javascript", {".js", ".mjs", ".cjs"}, FunctionForm::none, {}},
      {"typescript", {".ts"}, FunctionForm::none, {}},
      {"c", {".c", ".h"}, FunctionForm::none, {}},
      {"c++", {".cpp", ".cc", ".cxx", ".hpp"}, FunctionForm::none, {}},
      {"rust", {".rs"}, FunctionForm::none, {}},
      {"go", {".go"}, FunctionForm::none, {}},
  };
  return kLanguages;
}

CodeLanguage code_language(std::string_view name) {
  const auto known = std::ranges::find(code_languages(), name, &CodeLanguage::name);
  return known != code_languages().end() ? *known : CodeLanguage{.name = std::string(name)};
}

const CodeLanguage* language_of_file(std::string_view path) {
  for (const CodeLanguage& language : code_languages()) {
    if (std::ranges::any_of(language.extensions, [&](const auto& extension) { return path.ends_with(extension); }))
      return &language;
  }
  return nullptr;
}

}  // namespace accelopt::refactor
