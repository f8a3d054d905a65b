// SPDX-License-Identifier: Apache-2.0
#include "scaffold/bit_tricks.hpp"

#include <regex>

namespace accelopt::scaffold {
namespace {

constexpr const char* kFloating = R"(\b(?:float|double|_Float16|__bf16)\s+)";
constexpr const char* kInteger = R"(\b(?:int|unsigned|signed|long|short|char|size_t|u?int(?:8|16|32|64)_t)\s+)";

/// Whether the source declares a variable of that name with a type of that kind; `type` is a pattern.
bool declares(const std::string& source, const char* type, const std::string& name) {
  return std::regex_search(source, std::regex(std::string(type) + name + R"(\s*[,;=)[{])"));
}

bool differ_in_kind(const std::string& source, const std::string& one, const std::string& other) {
  return (declares(source, kFloating, one) && declares(source, kInteger, other)) ||
         (declares(source, kInteger, one) && declares(source, kFloating, other));
}

}  // namespace

std::string bit_trick(const std::string& source) {
  static const std::regex kFunction(
      R"(\b(?:bit_cast\s*<|__(?:float|double)_as_\w+\s*\(|__u?(?:int|longlong)_as_(?:float|double)\s*\())");
  static const std::regex kUnion(R"(\bunion\b[^{};()]*\{([^{}]*)\})");
  static const std::regex kCopy(R"(\bmemcpy\s*\(\s*&\s*(\w+)\s*,\s*&\s*(\w+)\s*,)");
  static const std::regex kCast(
      R"((?:\(|reinterpret_cast\s*<)\s*(?:const\s+)?((?:\w+\s+)?\w+)\s*(?:const\s*)?\*\s*(?:\)|>\s*\()\s*&\s*(\w+))");
  std::smatch found;
  if (std::regex_search(source, found, kFunction)) return found.str();
  const std::regex floating(kFloating);
  const std::regex integer(kInteger);
  const std::sregex_iterator end;
  for (std::sregex_iterator at(source.begin(), source.end(), kUnion); at != end; ++at) {
    const std::string members = (*at)[1];
    if (std::regex_search(members, floating) && std::regex_search(members, integer)) return "union";
  }
  for (std::sregex_iterator at(source.begin(), source.end(), kCopy); at != end; ++at) {
    if (differ_in_kind(source, (*at)[1], (*at)[2])) return std::regex_replace(at->str(), std::regex(R"(\s+)"), " ");
  }
  for (std::sregex_iterator at(source.begin(), source.end(), kCast); at != end; ++at) {
    const std::string type = (*at)[1].str() + " ";
    const std::string name = (*at)[2];
    const bool crosses = (std::regex_search(type, integer) && declares(source, kFloating, name)) ||
                         (std::regex_search(type, floating) && declares(source, kInteger, name));
    if (crosses) return std::regex_replace(at->str(), std::regex(R"(\s+)"), " ");
  }
  return "";
}

}  // namespace accelopt::scaffold
