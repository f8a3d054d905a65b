// SPDX-License-Identifier: Apache-2.0
#include "refactor/languages.hpp"

#include <algorithm>

namespace accelopt::refactor {

std::span<const CodeLanguage> code_languages() {
  // The machine's OpenSSL configuration is out of reach, and without it node does not start.
  static const std::vector<std::string> kNode{"OPENSSL_CONF=/dev/null"};
  static const std::vector<CodeLanguage> kLanguages{
      {"python",
       {".py"},
       FunctionForm::indentation,
       {"PYTHONDONTWRITEBYTECODE=1", "PYTHONHASHSEED={hash}"},
       {},
       "python3"},
      {"javascript", {".js", ".mjs", ".cjs"}, FunctionForm::braces, kNode, BraceSyntax::script, "node"},
      {"typescript", {".ts"}, FunctionForm::braces, kNode, BraceSyntax::script},
      {"c", {".c", ".h"}, FunctionForm::braces, {}, BraceSyntax::c},
      {"c++", {".cpp", ".cc", ".cxx", ".hpp"}, FunctionForm::braces, {}, BraceSyntax::c},
      {"rust", {".rs"}, FunctionForm::braces, {}, BraceSyntax::rust},
      {"go", {".go"}, FunctionForm::braces, {"GOTOOLCHAIN=local", "GOPROXY=off", "GOTELEMETRY=off"}, BraceSyntax::go},
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
