// SPDX-License-Identifier: Apache-2.0
#include "targets/cuda/task_header.hpp"

#include <algorithm>
#include <set>

namespace accelopt::targets::cuda {
namespace {

using model::Definition;
using model::DType;
using model::TensorSpec;

// As CUDA's own C++ library declares them, so that both may be there.
constexpr const char* kIntegerTypes = R"(using int8_t = signed char;
using int16_t = signed short;
using int32_t = signed int;
using int64_t = signed long long;
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long long;
using intptr_t = int64_t;
using uintptr_t = uint64_t;
)";

// As cuda.h declares it: what a parameter that a tensor map is given to must be.
constexpr const char* kTensorMapType = R"(#ifndef ACCELOPT_TENSOR_MAP
#define ACCELOPT_TENSOR_MAP
typedef struct alignas(64) CUtensorMap_st { unsigned long long opaque[16]; } CUtensorMap;
#endif
)";

constexpr const char* kMathMacros = R"(#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
)";

/// Of POSIX and of every C library, to the digits that these have.
constexpr const char* kMathConstants = R"(#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
)";

constexpr const char* kStandaloneHead = R"(/* What the kernels' source includes. */
#pragma once
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdint>

#include <cuda.h>
)";

constexpr const char* kLimits = R"(#pragma once
#ifndef INT_MAX
#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define SHRT_MIN (-32768)
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define INT_MIN (-2147483647 - 1)
#define INT_MAX 2147483647
#define UINT_MAX 4294967295U
#define LLONG_MIN (-9223372036854775807LL - 1)
#define LLONG_MAX 9223372036854775807LL
#define ULLONG_MAX 18446744073709551615ULL
#endif
)";

constexpr const char* kFloatLimits = R"(#pragma once
#ifndef FLT_MAX
#define FLT_MAX 3.402823466e+38f
#define FLT_MIN 1.175494351e-38f
#define FLT_EPSILON 1.192092896e-07f
#define DBL_MAX 1.7976931348623157e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-16
#endif
)";

constexpr const char* kIntegerLimits = R"(#pragma once
#include <limits.h>
#ifndef INT32_MAX
#define INT8_MIN SCHAR_MIN
#define INT16_MIN SHRT_MIN
#define INT32_MIN INT_MIN
#define INT64_MIN LLONG_MIN
#define INT8_MAX SCHAR_MAX
#define INT16_MAX SHRT_MAX
#define INT32_MAX INT_MAX
#define INT64_MAX LLONG_MAX
#define UINT8_MAX UCHAR_MAX
#define UINT16_MAX USHRT_MAX
#define UINT32_MAX UINT_MAX
#define UINT64_MAX ULLONG_MAX
#endif
)";

/// In the types' own order, so that the text is one for all.
std::string floating_headers(const Definition& definition) {
  std::set<std::string> headers;
  for (const auto* list : {&definition.inputs, &definition.outputs}) {
    for (const TensorSpec& tensor : *list) {
      if (tensor.dtype == DType::float16) headers.insert("#include <cuda_fp16.h>\n");
      if (tensor.dtype == DType::bfloat16) headers.insert("#include <cuda_bf16.h>\n");
      if (tensor.dtype == DType::float8_e4m3fn || tensor.dtype == DType::float8_e5m2)
        headers.insert("#include <cuda_fp8.h>\n");
    }
  }
  std::string out;
  for (const std::string& header : headers) out += header;
  return out;
}

std::string constant_axes(const Definition& definition) {
  std::string out;
  for (const model::Axis& axis : definition.axes) {
    if (axis.value) out += (out.empty() ? "enum { " : ", ") + axis.name + " = " + std::to_string(*axis.value);
  }
  return out.empty() ? out : out + " };\n";
}

std::string shape_text(const TensorSpec& tensor) {
  std::string out;
  for (const std::string& axis : *tensor.shape) out += (out.empty() ? "" : ", ") + axis;
  return "[" + out + "]";
}

/// What each name is when args give it to a kernel, a line each.
std::string names_comment(const Definition& definition, bool real) {
  const auto type = [&](const TensorSpec& tensor) {
    return real && model::is_floating(tensor.dtype) ? std::string("real") : std::string(device_type(tensor.dtype));
  };
  std::string out = "/* A kernel's parameters, in the order of its launch's args:\n";
  for (const TensorSpec& input : definition.inputs) {
    out += input.shape ? "     const " + type(input) + "* " + input.name + "  " + shape_text(input) + "\n"
                       : "     " + type(input) + " " + input.name + "\n";
  }
  for (const TensorSpec& output : definition.outputs)
    out += "     " + type(output) + "* " + output.name + "  " + shape_text(output) + "\n";
  for (const model::Axis& axis : definition.axes)
    out += "     int64_t " + axis.name + (axis.value ? " = " + std::to_string(*axis.value) : "") + "\n";
  return out + "   Tensors are row-major and contiguous. */\n";
}

}  // namespace

std::string_view device_type(DType dtype) {
  switch (dtype) {
    case DType::float16:
      return "__half";
    case DType::bfloat16:
      return "__nv_bfloat16";
    case DType::float8_e4m3fn:
      return "__nv_fp8_e4m3";
    case DType::float8_e5m2:
      return "__nv_fp8_e5m2";
    default:
      return model::c_name(dtype);
  }
}

std::string device_header(const Definition& definition) {
  return std::string("/* Generated by accelopt for one task. */\n#pragma once\n") + kIntegerTypes +
         floating_headers(definition) + kTensorMapType + kMathMacros + constant_axes(definition) +
         names_comment(definition, false);
}

std::string device_reference_header(const Definition& definition) {
  return std::string("/* Generated by accelopt for one task. */\n#pragma once\n") + kIntegerTypes + kTensorMapType +
         kMathMacros + "typedef ACCELOPT_REAL real;\n" + constant_axes(definition) + names_comment(definition, true);
}

std::string standalone_header(const Definition& definition) {
  return kStandaloneHead + floating_headers(definition) + "\n" + constant_axes(definition) +
         names_comment(definition, false);
}

std::string standalone_reference_header(const Definition& definition) {
  return std::string(kStandaloneHead) + "\ntypedef REAL real;\n" + constant_axes(definition) +
         names_comment(definition, true);
}

Definition reference_definition(Definition definition, DType real) {
  for (auto* list : {&definition.inputs, &definition.outputs}) {
    for (TensorSpec& tensor : *list) {
      if (model::is_floating(tensor.dtype)) tensor.dtype = real;
    }
  }
  return definition;
}

const std::vector<std::pair<std::string, std::string>>& library_headers() {
  static const std::vector<std::pair<std::string, std::string>> headers = [] {
    const std::string nothing = "#pragma once\n";
    std::vector<std::pair<std::string, std::string>> out;
    for (const char* name : {"stdint.h", "cstdint"})
      out.emplace_back(name, std::string(kIntegerLimits) + kIntegerTypes);
    for (const char* name : {"limits.h", "climits"}) out.emplace_back(name, kLimits);
    for (const char* name : {"float.h", "cfloat"}) out.emplace_back(name, kFloatLimits);
    for (const char* name : {"math.h", "cmath"}) out.emplace_back(name, nothing + kMathMacros + kMathConstants);
    for (const char* name : {"stddef.h", "cstddef", "stdlib.h", "cstdlib", "string.h", "cstring", "stdio.h", "cstdio",
                             "stdbool.h", "device_launch_parameters.h"})
      out.emplace_back(name, nothing);
    // A device's assert traps, which ends the context: not for a kernel that is to be measured.
    for (const char* name : {"assert.h", "cassert"})
      out.emplace_back(name, nothing + "#ifndef assert\n#define assert(condition) ((void)0)\n#endif\n");
    for (const char* name : {"cuda.h", "cudaTypedefs.h"}) out.emplace_back(name, nothing + kTensorMapType);
    return out;
  }();
  return headers;
}

}  // namespace accelopt::targets::cuda
