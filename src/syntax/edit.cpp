// SPDX-License-Identifier: Apache-2.0
#include "syntax/edit.hpp"

#include <algorithm>

namespace accelopt::syntax {

using base::ErrorCode;
using base::fail;

void Edits::replace(const Extent& extent, std::string text) {
  edits_.push_back({extent, std::move(text)});
}

base::Result<std::string> Edits::apply(std::string_view source) const {
  std::vector<Edit> ordered = edits_;
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const Edit& a, const Edit& b) { return a.extent.begin < b.extent.begin; });
  std::string result;
  std::size_t at = 0;
  for (const Edit& edit : ordered) {
    if (edit.extent.begin < at || edit.extent.end < edit.extent.begin || edit.extent.end > source.size()) {
      return fail(ErrorCode::invalid_argument, "edits overlap or lie outside of the text at offset " +
                                                   std::to_string(edit.extent.begin) +
                                                   "; apply them one after another");
    }
    result += source.substr(at, edit.extent.begin - at);
    result += edit.text;
    at = edit.extent.end;
  }
  result += source.substr(at);
  return result;
}

std::string with_names(const Unit& unit, const Function& function, const Extent& extent,
                       const std::map<std::int64_t, std::string>& replacements) {
  std::string result;
  std::size_t at = extent.begin;
  for (const NameUse& use : function.names) {
    if (use.extent.begin < at || !extent.contains(use.extent) || use.declaration < 0) continue;
    const auto found = replacements.find(use.declaration);
    if (found == replacements.end()) continue;
    result += unit.text({at, use.extent.begin});
    result += found->second;
    at = use.extent.end;
  }
  result += unit.text({at, extent.end});
  return result;
}

std::string indentation_at(std::string_view source, std::size_t offset) {
  const std::size_t line = offset == 0 ? std::string_view::npos : source.rfind('\n', offset - 1);
  const std::size_t begin = line == std::string_view::npos ? 0 : line + 1;
  std::size_t end = begin;
  while (end < offset && (source[end] == ' ' || source[end] == '\t')) ++end;
  return std::string(source.substr(begin, end - begin));
}

}  // namespace accelopt::syntax
