// SPDX-License-Identifier: Apache-2.0
// The languages of code to refactor, as data.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace accelopt::refactor {

/// How functions are told from the text around them. none: a scope is a whole file.
enum class FunctionForm { none, indentation, braces };
/// Whose strings, comments and headers of functions these are. c: C and C++; script: JavaScript and TypeScript.
enum class BraceSyntax { c, script, go, rust };

struct CodeLanguage {
  std::string name;
  std::vector<std::string> extensions{};  ///< with the dot
  FunctionForm form = FunctionForm::none;
  std::vector<std::string> environment{};  ///< for its programs; {hash} is the same number for old and new
  BraceSyntax braces = BraceSyntax::c;     ///< where the form is braces
  std::string interpreter{};               ///< program that runs a single file; empty: there is none
};

/// Any other language is used by its commands, with files as scopes.
std::span<const CodeLanguage> code_languages();
/// By name; one without extensions, functions and environment for a name that the list lacks.
CodeLanguage code_language(std::string_view name);
/// By a file's name; null: none of the list.
const CodeLanguage* language_of_file(std::string_view path);

}  // namespace accelopt::refactor
