// SPDX-License-Identifier: Apache-2.0
#include "scaffold/real_source.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "scaffold/words.hpp"

namespace accelopt::scaffold {
namespace {

/// The functions of <math.h> that have a form ending in f.
const std::set<std::string> kFunctions{
    "acos",     "acosh", "asin",  "asinh", "atan", "atan2",     "atanh",  "cbrt",      "ceil",
    "copysign", "cos",   "cosh",  "erf",   "erfc", "exp",       "exp2",   "expm1",     "fabs",
    "fdim",     "floor", "fma",   "fmax",  "fmin", "fmod",      "frexp",  "hypot",     "ldexp",
    "log",      "log10", "log1p", "log2",  "modf", "nearbyint", "pow",    "remainder", "rint",
    "round",    "sin",   "sinh",  "sqrt",  "tan",  "tanh",      "tgamma", "lgamma",    "trunc"};

bool is_floating_literal(const std::string& text) {
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  const bool is_long = text.back() == 'l' || text.back() == 'L';
  if (is_long) return false;
  if (hexadecimal) return text.find_first_of("pP.") != std::string::npos;
  return text.find_first_of(".eE") != std::string::npos;
}

/// Of a floating literal: in hexadecimal f is a digit, but never one of the exponent.
bool has_suffix_f(const std::string& text) {
  return text.back() == 'f' || text.back() == 'F';
}

/// Of the instruction sets' intrinsics: _mm256_add_ps, __m256, vfmaq_f32, float32x4_t.
bool is_vector_name(const std::string& text) {
  return text.starts_with("_mm") || text.starts_with("__m128") || text.starts_with("__m256") ||
         text.starts_with("__m512") || text.starts_with("float32x") || text.starts_with("float64x") ||
         text == "__builtin_convertvector" || text == "vector_size" || text == "__vector_size__";
}

}  // namespace

RealSource over_real(const std::string& source, model::Language language, Doubles doubles) {
  RealSource result;
  std::string previous;
  const bool is_c = language == model::Language::c;
  bool calls_math = false;
  const std::string changed = change_words(source, [&](const Word& word) -> std::optional<std::string> {
    const bool is_long = std::exchange(previous, word.text) == "long";
    if (is_vector_name(word.text)) result.vector_names.push_back(word.text);
    if (word.is_number) {
      if (!is_floating_literal(word.text)) return std::nullopt;
      if (doubles == Doubles::stay && !has_suffix_f(word.text)) return std::nullopt;
      return is_c ? "((real)" + word.text + ")" : "real(" + word.text + ")";
    }
    if (word.text == "double" && (is_long || doubles == Doubles::stay)) return std::nullopt;
    if (word.text == "float" || word.text == "double" || word.text == "_Float16" || word.text == "__bf16")
      return "real";
    if (word.text.size() < 2 || word.text.back() != 'f') return std::nullopt;
    const std::string name = word.text.substr(0, word.text.size() - 1);
    if (!kFunctions.contains(name)) return std::nullopt;
    calls_math = true;
    return is_c || word.is_qualified ? name : "std::" + name;
  });
  result.source = calls_math ? std::string(is_c ? "#include <tgmath.h>\n" : "#include <cmath>\n") + changed : changed;
  return result;
}

}  // namespace accelopt::scaffold
