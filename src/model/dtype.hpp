// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace accelopt::model {

/// Element types of tensors and scalars.
enum class DType {
  float64,
  float32,
  float16,
  bfloat16,
  float8_e4m3fn,
  float8_e5m2,
  int64,
  int32,
  int16,
  int8,
  uint8,
  boolean,
  uint64,
  uint32,
  uint16
};

/// "float32", "bool", ... as task.toml spells it.
std::string_view to_string(DType dtype);
/// The dtype of that name, or none.
std::optional<DType> parse_dtype(std::string_view name);
/// Bytes an element.
std::size_t size_of(DType dtype);
bool is_floating(DType dtype);
/// Unit roundoff u of a floating type (2^-24 for float32); 0 for the others.
double unit_roundoff(DType dtype);
/// The type's name in the generated task.h: "float", "int64_t", "f16_t", "bf16_t", "fp8_e4m3_t", ...
std::string_view c_name(DType dtype);

}  // namespace accelopt::model
