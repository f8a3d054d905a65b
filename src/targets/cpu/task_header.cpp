// SPDX-License-Identifier: Apache-2.0
#include "targets/cpu/task_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "targets/cpu/arena/protocol.hpp"

namespace accelopt::targets::cpu {
namespace {

using model::Definition;
using model::DType;
using model::TensorSpec;

enum class Reader { kernel, reference };

std::string element_type(DType dtype, Reader reader) {
  if (reader == Reader::reference && model::is_floating(dtype)) return "real";
  return std::string(model::c_name(dtype));
}

std::string parameter(const TensorSpec& tensor, Reader reader, bool output) {
  const std::string type = element_type(tensor.dtype, reader);
  if (output) return type + "* " + tensor.name;
  return tensor.shape ? "const " + type + "* " + tensor.name : type + " " + tensor.name;
}

std::string prototype(const Definition& definition, Reader reader) {
  std::string out = reader == Reader::kernel ? "void kernel(" : "void reference(";
  const char* separator = "";
  const auto add = [&](const std::string& text) {
    out += separator + text;
    separator = ", ";
  };
  for (const TensorSpec& input : definition.inputs) {
    if (model::is_passed_as_input(input)) add(parameter(input, reader, false));
  }
  for (const TensorSpec& output : definition.outputs) add(parameter(output, reader, true));
  for (const std::string& axis : model::variable_axes(definition)) add("int64_t " + axis);
  return out + ")";
}

std::string axes(const Definition& definition) {
  std::string out;
  for (const model::Axis& axis : definition.axes) {
    if (axis.value) out += (out.empty() ? "enum { " : ", ") + axis.name + " = " + std::to_string(*axis.value);
  }
  return out.empty() ? "" : out + " };\n";
}

constexpr const char* kBits = R"(
static inline float accelopt_float_of_bits(uint32_t bits) { float value; __builtin_memcpy(&value, &bits, 4); return value; }
static inline uint32_t accelopt_bits_of_float(float value) { uint32_t bits; __builtin_memcpy(&bits, &value, 4); return bits; }
)";

constexpr const char* kFloat16 = R"(
typedef struct { uint16_t bits; } f16_t;  /* IEEE binary16 */
static inline float f16_to_float(f16_t value) {
  const uint32_t sign = (uint32_t)(value.bits & 0x8000u) << 16, low = value.bits & 0x7fffu;
  if (low >= 0x7c00u) return accelopt_float_of_bits(sign | 0x7f800000u | ((low & 0x3ffu) << 13));
  if (low >= 0x0400u) return accelopt_float_of_bits(sign | ((low << 13) + 0x38000000u));
  const float tiny = (float)low * 0x1p-24f;
  return sign ? -tiny : tiny;
}
static inline f16_t f16_from_float(float value) {  /* to nearest, ties to even */
  const uint32_t bits = accelopt_bits_of_float(value), sign = (bits >> 16) & 0x8000u, low = bits & 0x7fffffffu;
  f16_t out;
  if (low > 0x7f800000u) { out.bits = (uint16_t)(sign | 0x7e00u); return out; }
  if (low >= 0x477ff000u) { out.bits = (uint16_t)(sign | 0x7c00u); return out; }
  if (low < 0x38800000u) {
    const float shifted = accelopt_float_of_bits(low) + 0.5f;  /* the sum's rounding is the one wanted */
    out.bits = (uint16_t)(sign | (accelopt_bits_of_float(shifted) - 0x3f000000u));
    return out;
  }
  out.bits = (uint16_t)(sign | ((low - 0x38000000u + 0x0fffu + ((low >> 13) & 1u)) >> 13));
  return out;
}
)";

constexpr const char* kBfloat16 = R"(
typedef struct { uint16_t bits; } bf16_t;  /* the upper half of a binary32 */
static inline float bf16_to_float(bf16_t value) { return accelopt_float_of_bits((uint32_t)value.bits << 16); }
static inline bf16_t bf16_from_float(float value) {  /* to nearest, ties to even */
  const uint32_t bits = accelopt_bits_of_float(value);
  bf16_t out;
  if ((bits & 0x7fffffffu) > 0x7f800000u) { out.bits = (uint16_t)((bits >> 16) | 0x40u); return out; }
  out.bits = (uint16_t)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
  return out;
}
)";

constexpr const char* kFloat8E4m3 = R"(
typedef struct { uint8_t bits; } fp8_e4m3_t;  /* 4 bits of exponent, 3 of fraction, no infinity */
static inline float fp8_e4m3_to_float(fp8_e4m3_t value) {
  const uint32_t sign = (uint32_t)(value.bits & 0x80u) << 24, low = value.bits & 0x7fu;
  if (low == 0x7fu) return accelopt_float_of_bits(sign | 0x7fc00000u);
  if (low >= 8u) return accelopt_float_of_bits(sign | ((low << 20) + (120u << 23)));
  const float tiny = (float)low * 0x1p-9f;
  return sign ? -tiny : tiny;
}
static inline fp8_e4m3_t fp8_e4m3_from_float(float value) {  /* to nearest, ties to even; beyond 464 is NaN */
  const uint32_t bits = accelopt_bits_of_float(value), sign = (bits >> 24) & 0x80u, low = bits & 0x7fffffffu;
  fp8_e4m3_t out;
  if (low > 0x43e80000u) { out.bits = (uint8_t)(sign | 0x7fu); return out; }
  if (low < 0x3c800000u) {
    const float shifted = accelopt_float_of_bits(low) + 0x1p14f;
    out.bits = (uint8_t)(sign | (accelopt_bits_of_float(shifted) - 0x46800000u));
    return out;
  }
  out.bits = (uint8_t)(sign | ((low - (120u << 23) + 0x7ffffu + ((low >> 20) & 1u)) >> 20));
  return out;
}
)";

constexpr const char* kFloat8E5m2 = R"(
typedef struct { uint8_t bits; } fp8_e5m2_t;  /* 5 bits of exponent, 2 of fraction */
static inline float fp8_e5m2_to_float(fp8_e5m2_t value) {
  const uint32_t sign = (uint32_t)(value.bits & 0x80u) << 24, low = value.bits & 0x7fu;
  if (low >= 0x7cu) return accelopt_float_of_bits(sign | 0x7f800000u | ((low & 3u) << 21));
  if (low >= 4u) return accelopt_float_of_bits(sign | ((low << 21) + (112u << 23)));
  const float tiny = (float)low * 0x1p-16f;
  return sign ? -tiny : tiny;
}
static inline fp8_e5m2_t fp8_e5m2_from_float(float value) {  /* to nearest, ties to even */
  const uint32_t bits = accelopt_bits_of_float(value), sign = (bits >> 24) & 0x80u, low = bits & 0x7fffffffu;
  fp8_e5m2_t out;
  if (low > 0x7f800000u) { out.bits = (uint8_t)(sign | 0x7fu); return out; }
  if (low >= 0x47700000u) { out.bits = (uint8_t)(sign | 0x7cu); return out; }
  if (low < 0x38800000u) {
    const float shifted = accelopt_float_of_bits(low) + 0x1p7f;
    out.bits = (uint8_t)(sign | (accelopt_bits_of_float(shifted) - 0x43000000u));
    return out;
  }
  out.bits = (uint8_t)(sign | ((low - (112u << 23) + 0xfffffu + ((low >> 21) & 1u)) >> 21));
  return out;
}
)";

constexpr const char* kNative = R"(
#ifndef {macro}
#error "this compiler has no {type}; leave small_floats out of task.toml, or measure with another one by --compiler"
#endif
typedef {type} {name};
static inline float {helper}_to_float({name} value) {{ return (float)value; }}
static inline {name} {helper}_from_float(float value) {{ return ({name})value; }}
)";

/// `macro` is predefined where the compiler has the type with its arithmetic.
std::string native_type(const char* macro, const char* type, const char* name, const char* helper) {
  return fmt::format(fmt::runtime(kNative), fmt::arg("macro", macro), fmt::arg("type", type), fmt::arg("name", name),
                     fmt::arg("helper", helper));
}

std::string small_types(const Definition& definition) {
  std::set<DType> used;
  for (const auto* list : {&definition.inputs, &definition.outputs}) {
    for (const TensorSpec& tensor : *list) used.insert(tensor.dtype);
  }
  std::string out;
  const bool native = definition.small_floats == model::SmallFloats::native;
  if (used.contains(DType::float16)) {
    out += native ? native_type("__FLT16_MANT_DIG__", "_Float16", "f16_t", "f16") : kFloat16;
  }
  if (used.contains(DType::bfloat16)) {
    out += native ? native_type("__BFLT16_MANT_DIG__", "__bf16", "bf16_t", "bf16") : kBfloat16;
  }
  if (used.contains(DType::float8_e4m3fn)) out += kFloat8E4m3;
  if (used.contains(DType::float8_e5m2)) out += kFloat8E5m2;
  return out.empty() ? out : kBits + out;
}

constexpr const char* kPreamble = R"(/* Generated by accelopt for one task. Tensors are row-major and contiguous. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#ifndef __cplusplus
#include <stdbool.h>
#endif

)";

/// In C, too, exp of a float is one in float: the float build has to round as a kernel over float does. `I` is left
/// to axes.
constexpr const char* kTypeGeneric = R"(#ifndef __cplusplus
#include <tgmath.h>
#undef I
#endif
)";

std::string declared(const std::string& declaration) {
  return "#ifdef __cplusplus\nextern \"C\" {\n#endif\n" + declaration + ";\n#ifdef __cplusplus\n}\n#endif\n";
}

std::string glue(const Definition& definition, Reader reader) {
  std::vector<std::string> casts;  // of a[0], a[1], ...
  for (const TensorSpec& input : definition.inputs) {
    if (!model::is_passed_as_input(input)) continue;
    casts.push_back(std::string(input.shape ? "" : "*") + "static_cast<const " + element_type(input.dtype, reader) +
                    "*>");
  }
  for (const TensorSpec& output : definition.outputs) {
    casts.push_back("static_cast<" + element_type(output.dtype, reader) + "*>");
  }
  for (std::size_t axis = 0; axis < model::variable_axes(definition).size(); ++axis) {
    casts.emplace_back("*static_cast<const int64_t*>");
  }
  std::string out = "#include \"task.h\"\nextern \"C\" __attribute__((visibility(\"default\"))) void ";
  out += std::string(kEntrySymbol) + "(void* const* a) {\n  " + (reader == Reader::kernel ? "kernel(" : "reference(");
  for (std::size_t i = 0; i < casts.size(); ++i) {
    out += (i == 0 ? "" : ", ") + casts[i] + "(a[" + std::to_string(i) + "])";
  }
  return out + ");\n}\n";
}

}  // namespace

std::string kernel_header(const Definition& definition) {
  return kPreamble + axes(definition) + small_types(definition) + "\n" +
         declared(prototype(definition, Reader::kernel));
}

std::string reference_header(const Definition& kernel) {
  const Definition definition = model::reference_definition(kernel);
  return kPreamble + (kTypeGeneric + ("typedef ACCELOPT_REAL real;\n" + axes(definition))) + "\n" +
         declared(prototype(definition, Reader::reference));
}

std::string reference_prototype(const Definition& definition, model::Language language) {
  return (language == model::Language::c ? "" : "extern \"C\" ") +
         prototype(model::reference_definition(definition), Reader::reference);
}

std::string kernel_glue(const Definition& definition) {
  return glue(definition, Reader::kernel);
}

std::string reference_glue(const Definition& definition) {
  return glue(model::reference_definition(definition), Reader::reference);
}

}  // namespace accelopt::targets::cpu
