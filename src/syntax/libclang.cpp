// SPDX-License-Identifier: Apache-2.0
#include "syntax/libclang.hpp"

#include <algorithm>

namespace accelopt::syntax {

base::Result<Api> Api::bind(const Clang& clang) {
  Api api;
#define ACCELOPT_BIND(name)                                                      \
  api.name = reinterpret_cast<decltype(api.name)>(clang.symbol("clang_" #name)); \
  if (api.name == nullptr) return base::fail(base::ErrorCode::unsupported, clang.library() + " lacks clang_" #name);
  ACCELOPT_CLANG_FUNCTIONS(ACCELOPT_BIND)
#undef ACCELOPT_BIND
  return api;
}

base::Result<std::vector<std::string>> arguments_of(const Clang& clang, const ParseInput& input) {
  if (input.language != model::Language::c && input.language != model::Language::cpp) {
    return base::fail(base::ErrorCode::invalid_argument, "only C and C++ sources can be read as a syntax tree");
  }
  const bool is_c = input.language == model::Language::c;
  std::vector<std::string> arguments = {"-x", is_c ? "c" : "c++"};
  const auto names_standard = [](const std::string& argument) { return argument.starts_with("-std="); };
  if (std::none_of(input.arguments.begin(), input.arguments.end(), names_standard)) {
    arguments.emplace_back(is_c ? "-std=gnu17" : "-std=gnu++20");
  }
  arguments.insert(arguments.end(), clang.system_arguments().begin(), clang.system_arguments().end());
  arguments.insert(arguments.end(), input.arguments.begin(), input.arguments.end());
  return arguments;
}

std::vector<std::string> files_on_disk(const Api& api, CXTranslationUnit unit) {
  std::vector<CXFile> files;
  api.getInclusions(
      unit,
      [](CXFile file, CXSourceLocation*, unsigned, CXClientData data) {
        static_cast<std::vector<CXFile>*>(data)->push_back(file);
      },
      &files);
  std::vector<std::string> names;
  for (CXFile file : files) {
    const CXString name = api.getFileName(file);
    const char* text = api.getCString(name);
    const std::string_view view = text == nullptr ? std::string_view() : text;
    if (!view.empty() && !view.starts_with(kMemoryFolder) && !view.starts_with(kOpenFiles)) names.emplace_back(view);
    api.disposeString(name);
  }
  return names;
}

}  // namespace accelopt::syntax
