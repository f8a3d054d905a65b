// SPDX-License-Identifier: Apache-2.0
#include "suites/flashinfer_trace/languages.hpp"

#include <algorithm>
#include <array>

namespace accelopt::suites::flashinfer_trace {
namespace {

struct LanguageRow {
  SourceLanguage language;
  std::string_view name;
  std::string_view target;
};
constexpr std::array kLanguages{
    LanguageRow{SourceLanguage::triton, "triton", "triton"}, LanguageRow{SourceLanguage::cuda, "cuda", "cuda"},
    LanguageRow{SourceLanguage::cpp, "cpp", "cpu"}, LanguageRow{SourceLanguage::python, "python", ""}};

const LanguageRow* row_of(SourceLanguage language) {
  const auto found = std::ranges::find(kLanguages, language, &LanguageRow::language);
  return found == kLanguages.end() ? nullptr : &*found;
}

}  // namespace

std::string common_name(const std::string& name) {
  if (name == "pytorch") return std::string(to_string(SourceLanguage::python));
  const bool is_cuda = name == "cuda_cpp" || name == "cutlass" || name == "cudnn" || name == "cublas";
  return is_cuda ? std::string(to_string(SourceLanguage::cuda)) : name;
}

SourceLanguage language_named(std::string_view name) {
  const auto found = std::ranges::find(kLanguages, name, &LanguageRow::name);
  return found == kLanguages.end() ? SourceLanguage::other : found->language;
}

std::string_view to_string(SourceLanguage language) {
  const LanguageRow* const row = row_of(language);
  return row == nullptr ? "" : row->name;
}

bool is_python(SourceLanguage language) {
  return language != SourceLanguage::cuda && language != SourceLanguage::cpp;
}

std::string_view target_of(SourceLanguage language) {
  const LanguageRow* const row = row_of(language);
  return row == nullptr ? "" : row->target;
}

std::optional<SourceLanguage> language_of_target(std::string_view target) {
  const auto found = std::ranges::find(kLanguages, target, &LanguageRow::target);
  return target.empty() || found == kLanguages.end() ? std::nullopt : std::optional(found->language);
}

}  // namespace accelopt::suites::flashinfer_trace
