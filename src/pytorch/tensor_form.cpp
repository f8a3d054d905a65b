// SPDX-License-Identifier: Apache-2.0
#include "pytorch/tensor_form.hpp"

#include <cmath>
#include <vector>

#include "evaluation/verify/dtype_codec.hpp"

namespace accelopt::pytorch {
namespace {

using base::Json;

Json value_of(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

}  // namespace

Json tensor_form(const model::TensorSpec& tensor, const model::AxisValues& axes, const std::string& file) {
  Json shape = Json::array();
  for (const std::string& axis : tensor.shape.value_or(std::vector<std::string>())) shape.push_back(axes.at(axis));
  return {{"name", tensor.name}, {"dtype", model::to_string(tensor.dtype)}, {"shape", shape}, {"file", file}};
}

Json scalar_form(const model::TensorSpec& scalar, model::DType stored, std::span<const std::byte> bytes) {
  Json value;
  if (model::is_floating(stored)) {
    value = value_of(evaluation::decode_element(stored, bytes, 0));
  } else {
    const std::int64_t bits = evaluation::decode_integers(stored, bytes).at(0);
    value = stored == model::DType::uint64 ? Json(static_cast<std::uint64_t>(bits)) : Json(bits);
  }
  return {{"name", scalar.name}, {"dtype", model::to_string(scalar.dtype)}, {"value", std::move(value)}};
}

}  // namespace accelopt::pytorch
