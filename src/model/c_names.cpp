// SPDX-License-Identifier: Apache-2.0
#include "model/c_names.hpp"

#include <algorithm>
#include <cctype>

#include "base/text.hpp"

namespace accelopt::model {
namespace {

constexpr std::string_view kKeywords =
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class "
    "co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype "
    "default delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline int "
    "long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register "
    "reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast struct switch "
    "template this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile "
    "wchar_t while xor xor_eq";

constexpr std::string_view kHeaderNames =
    "kernel reference real main f16_t bf16_t fp8_e4m3_t fp8_e5m2_t int8_t int16_t int32_t int64_t uint8_t uint16_t "
    "uint32_t uint64_t size_t ptrdiff_t";

}  // namespace

bool is_identifier(std::string_view name) {
  const auto letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  return !name.empty() && letter(name.front()) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || digit(c); });
}

std::string refuse_c_name(std::string_view name) {
  const std::string quoted = "\"" + std::string(name) + "\" ";
  if (!is_identifier(name)) return quoted + "is no C identifier; write letters, digits and underscores";
  if (name.starts_with("__")) return quoted + "is reserved for the compiler; choose another name";
  if (base::has_word(kKeywords, name)) {
    return quoted + "is a keyword of C or C++; choose another name";
  }
  if (base::has_word(kHeaderNames, name)) {
    return quoted + "is taken by the generated task.h; choose another name";
  }
  return {};
}

}  // namespace accelopt::model
