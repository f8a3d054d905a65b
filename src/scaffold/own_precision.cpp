// SPDX-License-Identifier: Apache-2.0
#include "scaffold/own_precision.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.hpp"
#include "targets/cpu/task_header.hpp"

namespace accelopt::scaffold {
namespace {

using model::DType;
using model::TensorSpec;

/// "(size_t)n * K", of a tensor without axes "1".
std::string element_count_text(const TensorSpec& tensor) {
  std::string product;
  for (const std::string& axis : *tensor.shape) product += (product.empty() ? "(size_t)" : " * ") + axis;
  return product.empty() ? "1" : product;
}

}  // namespace

bool makes_integers_of_floats(const model::Definition& definition) {
  const auto is_whole = [](const TensorSpec& one) { return !model::is_floating(one.dtype) && one.ties.empty(); };
  const auto is_float = [](const TensorSpec& one) { return one.dtype == DType::float32; };
  // task.h of a reference has no narrower types.
  const auto has_form = [](const TensorSpec& one) {
    return !model::is_floating(one.dtype) || one.dtype == DType::float32 || one.dtype == DType::float64;
  };
  return std::ranges::all_of(definition.outputs, is_whole) && std::ranges::any_of(definition.inputs, is_float) &&
         std::ranges::all_of(definition.inputs, has_form);
}

std::string reference_in_own_precision(const model::Definition& definition, model::Language language,
                                       const std::string& scope) {
  const bool is_c = language == model::Language::c;
  std::vector<std::string> arguments;
  std::string before;
  std::string after;
  for (const TensorSpec& input : definition.inputs) {
    if (!model::is_passed_as_input(input)) continue;
    arguments.push_back(input.name);
    if (!model::is_floating(input.dtype)) continue;
    const std::string type(model::c_name(input.dtype));
    const std::string own = input.name + "_own";
    if (!input.shape) {
      arguments.back() = "(" + type + ")" + input.name;
    } else if (is_c) {
      before += fmt::format(
          "  {0}* const {1} = ({0}*)malloc(sizeof({0}) * ({2} + 1));\n"
          "  for (size_t i_own = 0; i_own < {2}; ++i_own) {1}[i_own] = ({0}){3}[i_own];\n",
          type, own, element_count_text(input), input.name);
      after += "  free(" + own + ");\n";
      arguments.back() = own;
    } else {
      before += fmt::format("  const std::vector<{0}> {1}({2}, {2} + {3});\n", type, own, input.name,
                            element_count_text(input));
      arguments.back() = own + ".data()";
    }
  }
  for (const TensorSpec& output : definition.outputs) arguments.push_back(output.name);
  for (const std::string& axis : model::variable_axes(definition)) arguments.push_back(axis);
  return "\n// Which integer comes out hangs on every rounding, so that it computes in the function's own types, not "
         "in "
         "`real`.\n" +
         targets::cpu::reference_prototype(definition, language) + " {\n" + before + "  " +
         (scope.empty() ? "" : scope + "::") + kInOwnPrecision + "(" + base::joined(arguments, ", ") + ");\n" + after +
         "}\n";
}

}  // namespace accelopt::scaffold
