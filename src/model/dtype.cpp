// SPDX-License-Identifier: Apache-2.0
#include "model/dtype.hpp"

#include <array>

namespace accelopt::model {
namespace {

struct Facts {
  DType dtype;
  std::string_view name;
  std::string_view c_name;
  std::size_t bytes;
  bool floating;
  double roundoff;  ///< 2^-p with p the precision in bits
};

constexpr std::array kFacts{
    Facts{DType::float64, "float64", "double", 8, true, 0x1p-53},
    Facts{DType::float32, "float32", "float", 4, true, 0x1p-24},
    Facts{DType::float16, "float16", "f16_t", 2, true, 0x1p-11},
    Facts{DType::bfloat16, "bfloat16", "bf16_t", 2, true, 0x1p-8},
    Facts{DType::float8_e4m3fn, "float8_e4m3fn", "fp8_e4m3_t", 1, true, 0x1p-4},
    Facts{DType::float8_e5m2, "float8_e5m2", "fp8_e5m2_t", 1, true, 0x1p-3},
    Facts{DType::int64, "int64", "int64_t", 8, false, 0},
    Facts{DType::int32, "int32", "int32_t", 4, false, 0},
    Facts{DType::int16, "int16", "int16_t", 2, false, 0},
    Facts{DType::int8, "int8", "int8_t", 1, false, 0},
    Facts{DType::uint8, "uint8", "uint8_t", 1, false, 0},
    Facts{DType::boolean, "bool", "bool", 1, false, 0},
    Facts{DType::uint64, "uint64", "uint64_t", 8, false, 0},
    Facts{DType::uint32, "uint32", "uint32_t", 4, false, 0},
    Facts{DType::uint16, "uint16", "uint16_t", 2, false, 0},
};

const Facts& facts(DType dtype) {
  return kFacts.at(static_cast<std::size_t>(dtype));
}

}  // namespace

std::string_view to_string(DType dtype) {
  return facts(dtype).name;
}

std::optional<DType> parse_dtype(std::string_view name) {
  for (const Facts& entry : kFacts) {
    if (entry.name == name) return entry.dtype;
  }
  return std::nullopt;
}

std::size_t size_of(DType dtype) {
  return facts(dtype).bytes;
}
bool is_floating(DType dtype) {
  return facts(dtype).floating;
}
double unit_roundoff(DType dtype) {
  return facts(dtype).roundoff;
}
std::string_view c_name(DType dtype) {
  return facts(dtype).c_name;
}

}  // namespace accelopt::model
