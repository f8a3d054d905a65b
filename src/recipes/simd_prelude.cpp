// SPDX-License-Identifier: Apache-2.0
// The helper types and functions that generated code calls, put into the kernel's own file.
#include <algorithm>

#include "recipes/simd_body.hpp"

namespace accelopt::recipes {
namespace {

struct Helper {
  const char* name;    ///< as SimdBody::helpers() has it
  const char* marker;  ///< what only a file that defines the helper contains
  std::vector<const char*> needs;
  const char* cpp;
  const char* c;  ///< null: the same
};

/// `@` stands for the suffix of the functions, `T` types are spelled out by replacement: VEC, AT, MASK, ELEMENT, WIDTH;
/// ZEROS for a vector of them, as C++ has no compound literals.
const std::vector<Helper>& helpers() {
  static const std::vector<Helper> kHelpers = {
      {"types",
       "} VEC_lanes",
       {},
       R"(#if defined(__AVX512F__)
typedef enum { WIDTH = 64 / sizeof(ELEMENT) } VEC_lanes;
#elif defined(__AVX__)
typedef enum { WIDTH = 32 / sizeof(ELEMENT) } VEC_lanes;
#else
typedef enum { WIDTH = 16 / sizeof(ELEMENT) } VEC_lanes;
#endif
typedef ELEMENT VEC __attribute__((vector_size(WIDTH * sizeof(ELEMENT))));
typedef ELEMENT VEC_at __attribute__((vector_size(WIDTH * sizeof(ELEMENT)), aligned(sizeof(ELEMENT)), may_alias));
typedef INTEGER MASK __attribute__((vector_size(WIDTH * sizeof(ELEMENT))));
static inline VEC simd_load@(const ELEMENT* from) { return *(const VEC_at*)from; }
static inline void simd_store@(ELEMENT* to, VEC value) { *(VEC_at*)to = value; }
static inline VEC simd_splat@(ELEMENT value) { return value - ZEROS; }
)",
       nullptr},
      // Stores past the caches are not ordered with what follows: the fence makes them visible before the kernel
      // returns.
      {"stream",
       "inline void simd_stream@(",
       {"types"},
       R"(static inline void simd_stream@(ELEMENT* to, VEC value) {
#if defined(__x86_64__) && !defined(__clang__)
  if (((unsigned long long)to & (sizeof(value) - 1)) == 0) {
#if defined(__AVX512F__)
    NONTEMPORAL512(to, value);
#elif defined(__AVX__)
    NONTEMPORAL256(to, value);
#else
    NONTEMPORAL(to, value);
#endif
    return;
  }
#endif
  simd_store@(to, value);
}
static inline void simd_stream_end@(void) {
#if defined(__x86_64__) && !defined(__clang__)
  __builtin_ia32_sfence();
#endif
}
)",
       nullptr},
      {"select",
       "inline VEC simd_select@(",
       {"types"},
       R"(static inline VEC simd_select@(MASK mask, VEC yes, VEC no) { return mask ? yes : no; }
)",
       R"(static inline VEC simd_select@(MASK mask, VEC yes, VEC no) { return (VEC)((mask & (MASK)yes) | (~mask & (MASK)no)); }
)"},
      {"max",
       "inline VEC simd_max@(",
       {"select"},
       R"(static inline VEC simd_max@(VEC a, VEC b) { return simd_select@(a > b, a, b); }
)",
       nullptr},
      {"min",
       "inline VEC simd_min@(",
       {"select"},
       R"(static inline VEC simd_min@(VEC a, VEC b) { return simd_select@(a < b, a, b); }
)",
       nullptr},
      // Of fmax and fmin: the other argument where one is NaN.
      {"fmax",
       "inline VEC simd_fmax@(",
       {"select"},
       R"(static inline VEC simd_fmax@(VEC a, VEC b) { return simd_select@((a > b) | (b != b), a, b); }
)",
       nullptr},
      {"fmin",
       "inline VEC simd_fmin@(",
       {"select"},
       R"(static inline VEC simd_fmin@(VEC a, VEC b) { return simd_select@((a < b) | (b != b), a, b); }
)",
       nullptr},
      {"abs",
       "inline VEC simd_abs@(",
       {"select"},
       R"(static inline VEC simd_abs@(VEC a) { return simd_select@(a < simd_splat@(0), -a, a); }
)",
       nullptr},
      {"sum",
       "inline ELEMENT simd_sum@(",
       {"types"},
       R"(static inline ELEMENT simd_sum@(VEC a) {
  ELEMENT part[WIDTH];
  simd_store@(part, a);
#pragma GCC unroll 8
  for (int half = WIDTH / 2; half > 0; half /= 2)
#pragma GCC unroll 16
    for (int lane = 0; lane < half; ++lane) part[lane] += part[lane + half];
  return part[0];
}
)",
       nullptr},
      {"largest",
       "inline ELEMENT simd_largest@(",
       {"max"},
       R"(static inline ELEMENT simd_largest@(VEC a) {
  ELEMENT best = a[0];
  for (int lane = 1; lane < WIDTH; ++lane) best = a[lane] > best ? a[lane] : best;
  return best;
}
)",
       nullptr},
      {"smallest",
       "inline ELEMENT simd_smallest@(",
       {"min"},
       R"(static inline ELEMENT simd_smallest@(VEC a) {
  ELEMENT best = a[0];
  for (int lane = 1; lane < WIDTH; ++lane) best = a[lane] < best ? a[lane] : best;
  return best;
}
)",
       nullptr},
      {"largest_number",
       "inline ELEMENT simd_largest_number@(",
       {"fmax"},
       R"(static inline ELEMENT simd_largest_number@(VEC a) {
  ELEMENT best = a[0];
  for (int lane = 1; lane < WIDTH; ++lane) best = a[lane] > best || best != best ? a[lane] : best;
  return best;
}
)",
       nullptr},
      {"smallest_number",
       "inline ELEMENT simd_smallest_number@(",
       {"fmin"},
       R"(static inline ELEMENT simd_smallest_number@(VEC a) {
  ELEMENT best = a[0];
  for (int lane = 1; lane < WIDTH; ++lane) best = a[lane] < best || best != best ? a[lane] : best;
  return best;
}
)",
       nullptr},
      {"sqrt",
       "inline VEC simd_sqrt@(",
       {"types"},
       R"(static inline VEC simd_sqrt@(VEC a) {
  for (int lane = 0; lane < WIDTH; ++lane) a[lane] = SQRT(a[lane]);
  return a;
}
)",
       nullptr},
      // exp(x) = 2^n exp(r), |r| <= ln(2) / 2, by a Taylor polynomial whose first term left out is below 1e-8; two
      // factors of 2^(n/2) keep overflow to infinity and gradual underflow. ln(2) is split so that n times its upper
      // part is exact.
      {"exp",
       "inline VEC simd_exp(",
       {"select"},
       R"(#if defined(__has_builtin)
#if __has_builtin(__builtin_assoc_barrier)
#define simd_exactly(value) __builtin_assoc_barrier(value)
#endif
#endif
#ifndef simd_exactly
#define simd_exactly(value) (value)
#endif
static inline VEC simd_exp(VEC x) {
  x = simd_select(x > 89.0f, simd_splat(89.0f), x);
  x = simd_select(x < -104.0f, simd_splat(-104.0f), x);
  const VEC scaled = x * 1.44269504f;
  const VEC half = simd_select(scaled < 0.0f, simd_splat(-0.5f), simd_splat(0.5f));
  const MASK n = __builtin_convertvector(scaled + half, MASK);
  const VEC whole = __builtin_convertvector(n, VEC);
  const VEC r = simd_exactly(x - whole * 0.693359375f) - whole * -2.12194440e-4f;
  VEC p = r * (1.0f / 5040.0f) + (1.0f / 720.0f);
  p = p * r + (1.0f / 120.0f);
  p = p * r + (1.0f / 24.0f);
  p = p * r + (1.0f / 6.0f);
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  const MASK low = n >> 1;
  return p * (VEC)((low + 127) << 23) * (VEC)((n - low + 127) << 23);
}
)",
       nullptr}};
  return kHelpers;
}

std::string replaced_all(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::string spelled(std::string text, const std::string& element, model::Language language) {
  const bool is_double = element == "double";
  text = replaced_all(std::move(text), "ZEROS", language == model::Language::c ? "(VEC){0}" : "VEC{}");
  text = replaced_all(std::move(text), "VEC", simd_type(element));
  text = replaced_all(std::move(text), "WIDTH", simd_width(element));
  text = replaced_all(std::move(text), "ELEMENT", element);
  text = replaced_all(std::move(text), "MASK", is_double ? "simd_i64" : "simd_i32");
  text = replaced_all(std::move(text), "INTEGER", is_double ? "long long" : "int");
  text = replaced_all(std::move(text), "NONTEMPORAL", is_double ? "__builtin_ia32_movntpd" : "__builtin_ia32_movntps");
  text = replaced_all(std::move(text), "SQRT", is_double ? "__builtin_sqrt" : "__builtin_sqrtf");
  return replaced_all(std::move(text), "@", is_double ? "_f64" : "");
}

void require(const std::string& name, std::vector<const Helper*>& ordered) {
  const auto found =
      std::find_if(helpers().begin(), helpers().end(), [&](const Helper& helper) { return helper.name == name; });
  if (found == helpers().end() || std::find(ordered.begin(), ordered.end(), &*found) != ordered.end()) return;
  for (const char* need : found->needs) require(need, ordered);
  ordered.push_back(&*found);
}

}  // namespace

std::string simd_type(const std::string& element) {
  return element == "double" ? "simd_f64" : "simd_f32";
}
std::string simd_width(const std::string& element) {
  return element == "double" ? "simd_width_f64" : "simd_width";
}

std::string with_prelude(const Subject& subject, std::string source, const std::string& function,
                         const std::set<std::string>& names, const std::string& element) {
  std::vector<const Helper*> ordered;
  require("types", ordered);
  for (const std::string& name : names) require(name, ordered);
  const model::Language language = subject.is_cpp() ? model::Language::cpp : model::Language::c;
  std::string text;
  for (const Helper* helper : ordered) {
    if (source.find(spelled(helper->marker, element, language)) != std::string::npos) continue;
    const bool is_own = language == model::Language::c && helper->c != nullptr;
    text += spelled(is_own ? helper->c : helper->cpp, element, language);
  }
  if (text.empty()) return source;
  // The function's text is unchanged up to its body, so the line on which it begins is found again by its header.
  const syntax::Function* definition = subject.unit().find(function);
  const std::string header(subject.text({definition->extent.begin, definition->body.begin}));
  const std::size_t found = source.find(header);
  const std::size_t line = found == std::string::npos || found == 0 ? std::string::npos : source.rfind('\n', found - 1);
  return source.insert(line == std::string::npos ? 0 : line + 1, text + "\n");
}

}  // namespace accelopt::recipes
