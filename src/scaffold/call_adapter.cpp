// SPDX-License-Identifier: Apache-2.0
#include "scaffold/call_adapter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <vector>

#include "scaffold/drawn_values.hpp"
#include "scaffold/null_tests.hpp"
#include "scaffold/parameter_type.hpp"
#include "scaffold/unknown_extents.hpp"
#include "scaffold/verified_sizes.hpp"
#include "scaffold/words.hpp"

namespace accelopt::scaffold {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using model::DType;
using model::Language;

/// The element type's canonical spelling in a C or C++ program on a 64-bit Unix; empty for types that only task.h
/// defines.
std::string canonical_type(DType dtype, model::SmallFloats small_floats) {
  const bool native = small_floats == model::SmallFloats::native;
  switch (dtype) {
    case DType::float64:
      return "double";
    case DType::float32:
      return "float";
    case DType::int64:
      return "long";
    case DType::int32:
      return "int";
    case DType::int16:
      return "short";
    case DType::int8:
      return "signed char";
    case DType::uint64:
      return "unsigned long";
    case DType::uint32:
      return "unsigned int";
    case DType::uint16:
      return "unsigned short";
    case DType::uint8:
      return "unsigned char";
    case DType::float16:
      return native ? "_Float16" : "";
    case DType::bfloat16:
      return native ? "__bf16" : "";
    case DType::boolean:
      return "bool";
    default:
      return "";
  }
}

/// Types of one size and meaning that differ in name alone.
bool same_meaning(const std::string& own, const std::string& wanted) {
  return (own == "long long" && wanted == "long") || (own == "unsigned long long" && wanted == "unsigned long") ||
         (own == "char" && wanted == "signed char") || (own == "_Bool" && wanted == "bool");
}

/// The call of the winner with the function's own arguments, and the condition under which it does what the old body
/// does.
class Adapter {
 public:
  Adapter(const model::Task& task, const syntax::Unit& unit, const syntax::Function& function)
      : task_(task),
        unit_(unit),
        function_(function),
        language_(unit.language),
        unknown_(unknown_extents(task, unit, function)) {}

  std::string note() const { return note_on_sizes(task_, unknown_); }

  /// `is_disjoint`: the name of the helper.
  Result<std::string> body(const std::string& callee, const std::string& is_disjoint) const {
    const std::vector<std::string>& args = task_.entry->args;
    const auto arguments_count = static_cast<std::size_t>(std::count_if(
        args.begin(), args.end(), [](const std::string& one) { return one.find('=') == std::string::npos; }));
    if (function_.parameters.size() != arguments_count) {
      return fail(ErrorCode::invalid_argument, function_.name + " has " + std::to_string(function_.parameters.size()) +
                                                   " parameters and entry.args names " +
                                                   std::to_string(arguments_count) +
                                                   "; bring entry.args in line with the function");
    }
    std::string arguments;
    std::string result;  // what the function returns, as a local
    for (const auto* tensors : {&task_.definition.inputs, &task_.definition.outputs}) {
      for (const model::TensorSpec& tensor : *tensors) {
        if (tensors == &task_.definition.inputs && !model::is_passed_as_input(tensor)) continue;
        if (tensor.name == task_.entry->returns) {
          result = "accelopt_" + tensor.name;
          arguments += std::string(arguments.empty() ? "" : ", ") + "&" + result;
          continue;
        }
        TRY_ASSIGN(const std::string argument, tensor_argument(tensor, tensors == &task_.definition.outputs));
        arguments += (arguments.empty() ? "" : ", ") + argument;
      }
    }
    for (const std::string& axis : model::variable_axes(task_.definition)) {
      std::set<std::string> divisors;
      const std::string extent = extent_of(axis, divisors);
      if (extent.empty()) {
        return fail(ErrorCode::invalid_argument,
                    "entry.args lacks the variable axis " + axis + ", which the kernel must be given");
      }
      arguments += (arguments.empty() ? "" : ", ") + extent;
    }
    TRY(refuse_fixed_tensors(task_));
    std::string condition = joined(joined(constants_hold(), sizes_hold()), sizes_are_verified());
    condition = joined(joined(condition, scalars_are_verified()), pointers_are_given());
    condition = joined(condition, tensors_are_disjoint(is_disjoint));
    const std::string indent = condition.empty() ? "  " : "    ";
    const std::string declared = result.empty() ? "" : function_.return_type + " " + result + " = 0;\n" + indent;
    const std::string call = indent + declared + callee + "(" + arguments + ");\n";
    const std::string back = result.empty() ? "" : indent + "return " + result + ";\n";
    if (condition.empty()) return "{\n" + call + back + "}";
    return "{\n  if (" + condition + ") {\n" + call + (back.empty() ? "    return;\n" : back) + "  }" +
           std::string(unit_.text(function_.body).substr(1));
  }

 private:
  static std::string joined(const std::string& one, const std::string& other) {
    return one + (one.empty() || other.empty() ? "" : " && ") + other;
  }

  /// The axes of a tensor whose parameter is a container, without those that a struct's members make; none: it is none.
  std::optional<std::vector<std::string>> axes_of_container(const model::TensorSpec& tensor) const {
    const syntax::Parameter* const parameter = parameter_of(tensor.name);
    if (parameter == nullptr || !tensor.shape) return std::nullopt;
    const ParameterType type = type_of(unit_, *parameter);
    if (type.form != ParameterForm::container) return std::nullopt;
    std::vector<std::string> axes = *tensor.shape;
    if (type.fields > 0 && !axes.empty()) axes.pop_back();
    return axes;
  }

  /// Calls `visit` with each container's parameter and axes, until it returns true.
  template <class Visit>
  void for_containers(Visit visit) const {
    for (const auto* tensors : {&task_.definition.inputs, &task_.definition.outputs}) {
      for (const model::TensorSpec& tensor : *tensors) {
        if (tensors == &task_.definition.inputs && tensor.inout) continue;
        if (const auto axes = axes_of_container(tensor)) visit(*parameter_of(tensor.name), *axes);
      }
    }
  }

  /// The axis as the function knows it without looking at sizes; empty: it does not.
  std::string plain_extent(const std::string& name) const {
    const syntax::Parameter* const parameter = parameter_of(name);
    if (parameter != nullptr) return parameter->name;
    for (const model::Axis& axis : task_.definition.axes) {
      if (axis.name == name && axis.value) return std::to_string(*axis.value);
    }
    return "";
  }

  /// The axis as the function's arguments give it: by itself, or by a container's size and the other axes. What is
  /// divided by goes to `divisors`.
  std::string extent_of(const std::string& axis, std::set<std::string>& divisors,
                        std::set<std::string> open = {}) const {
    std::string extent = plain_extent(axis);
    if (!extent.empty() || !open.insert(axis).second) return extent;
    if (const std::string expression = model::derived_extent(*task_.entry, axis); !expression.empty()) {
      return "(" +
             change_words(expression,
                          [&](const Word& word) -> std::optional<std::string> {
                            return word.is_number ? word.text : wide(extent_of(word.text, divisors, open));
                          }) +
             ")";
    }
    for_containers([&](const syntax::Parameter& parameter, const std::vector<std::string>& axes) {
      if (!extent.empty() || std::count(axes.begin(), axes.end(), axis) != 1) return;
      std::string text = signed_size(parameter);
      std::set<std::string> others;
      for (const std::string& other : axes) {
        if (other == axis) continue;
        const std::string divisor = extent_of(other, divisors, open);
        if (divisor.empty()) return;
        others.insert(divisor);
        text += " / " + wide(divisor);
      }
      divisors.insert(others.begin(), others.end());
      extent = text;
    });
    return extent;
  }

  static std::string signed_size(const syntax::Parameter& parameter) {
    return "static_cast<int64_t>(" + parameter.name + ".size())";
  }

  /// That every container has as many elements as its axes say: else the kernel would go beyond it.
  std::string sizes_hold() const {
    std::string condition;
    std::set<std::string> divisors;
    for_containers([&](const syntax::Parameter& parameter, const std::vector<std::string>& axes) {
      std::string product;
      for (const std::string& axis : axes) {
        product += (product.empty() ? "" : " * ") + wide(extent_of(axis, divisors));
      }
      const std::string size = signed_size(parameter);
      if (size != product) condition = joined(condition, size + " == " + product);
    });
    std::string divisible;
    for (const std::string& divisor : divisors) {
      const bool is_number = divisor.find_first_not_of("0123456789") == std::string::npos;
      if (!is_number) divisible = joined(divisible, divisor + " != 0");
    }
    return joined(divisible, condition);
  }

  /// That no size is below or above all those on which kernels were verified: nothing says what the winner does there.
  std::string sizes_are_verified() const {
    if (!unknown_.empty()) return sizes_are_of_a_workload();
    std::string condition;
    for (const VerifiedExtents& verified : verified_extents(task_)) {
      std::set<std::string> divisors;
      const std::string extent = extent_of(verified.axis, divisors);
      if (verified.smallest == verified.largest) {
        condition = joined(condition, extent + " == " + std::to_string(verified.largest));
        continue;
      }
      condition = joined(condition, extent + " >= " + std::to_string(verified.smallest));
      if (verified.largest < largest_argument(verified.axis))
        condition = joined(condition, extent + " <= " + std::to_string(verified.largest));
    }
    for (const auto& [axis, other] : model::equal_axes(task_)) condition = joined(condition, are_equal(axis, other));
    std::set<std::string> products;
    for (const auto* tensors : {&task_.definition.outputs, &task_.definition.inputs}) {
      for (const model::TensorSpec& tensor : *tensors) {
        const std::int64_t most = tensor.shape ? most_verified_elements(task_, tensor) : 0;
        const std::string elements = most > 0 ? elements_of(tensor) : "";
        if (most > 0 && products.insert(elements).second)
          condition = joined(condition, elements + " <= " + std::to_string(most));
      }
    }
    return condition;
  }

  /// Types that differ are made wide: compilers warn of comparing an int with a size_t.
  std::string are_equal(const std::string& axis, const std::string& other) const {
    const syntax::Parameter* const one = parameter_of(axis);
    const syntax::Parameter* const two = parameter_of(other);
    std::set<std::string> divisors;
    const std::string left = extent_of(axis, divisors);
    const std::string right = extent_of(other, divisors);
    const bool are_alike = one != nullptr && two != nullptr && one->value_type == two->value_type;
    return are_alike ? left + " == " + right : wide(left) + " == " + wide(right);
  }

  /// That all sizes together are those of one workload: where a tensor's length cannot be known, nothing says that the
  /// caller's is as long as the task's for any other sizes.
  std::string sizes_are_of_a_workload() const {
    std::set<std::string> alternatives;
    for (const model::Workload& workload : task_.workloads) {
      std::string sizes;
      for (const auto& [axis, extent] : workload.axes) {
        std::set<std::string> divisors;
        sizes = joined(sizes, extent_of(axis, divisors) + " == " + std::to_string(extent));
      }
      if (!sizes.empty()) alternatives.insert(workload.axes.size() > 1 ? "(" + sizes + ")" : sizes);
    }
    std::string condition;
    for (const std::string& one : alternatives) condition += (condition.empty() ? "" : " || ") + one;
    return alternatives.size() > 1 ? "(" + condition + ")" : condition;
  }

  /// The largest value that the axis's parameter can have: comparing it with that is always true, which compilers warn
  /// of.
  std::int64_t largest_argument(const std::string& axis) const {
    const syntax::Parameter* const parameter = parameter_of(axis);
    const std::string type = parameter == nullptr ? "" : parameter->value_type;
    if (type == "short") return std::numeric_limits<std::int16_t>::max();
    if (type == "unsigned short") return std::numeric_limits<std::uint16_t>::max();
    if (type == "int") return std::numeric_limits<std::int32_t>::max();
    return std::numeric_limits<std::int64_t>::max();
  }

  /// That no scalar has a value with which no kernel was verified.
  std::string scalars_are_verified() const {
    std::string condition;
    for (const model::TensorSpec& input : task_.definition.inputs) {
      const syntax::Parameter* const parameter = input.shape ? nullptr : parameter_of(input.name);
      if (parameter == nullptr) continue;
      const ScalarParameter scalar{parameter->name, parameter->value_type};
      condition = joined(condition, values_are_drawn(task_, input, scalar, language_));
    }
    return condition;
  }

  /// That no pointer is null for which the old body may be called with null: the task gives kernels every tensor.
  std::string pointers_are_given() const {
    std::string condition;
    for (const std::string& name : parameters_tested_for_null(unit_, function_))
      condition = joined(condition, name + (language_ == Language::c ? " != 0" : " != nullptr"));
    return condition;
  }

  /// An extent as what products of extents fit into.
  std::string wide(const std::string& extent) const {
    if (extent.find_first_not_of("0123456789") == std::string::npos) return extent;
    if (extent.find('/') != std::string::npos) return "(" + extent + ")";
    if (extent.starts_with("static_cast")) return extent;
    return language_ == Language::c ? "(int64_t)" + extent : "int64_t(" + extent + ")";
  }

  /// "int64_t(n) * 3"; empty: one.
  std::string elements_of(const model::TensorSpec& tensor) const {
    std::string product;
    for (const std::string& axis : tensor.shape.value_or(std::vector<std::string>{})) {
      std::set<std::string> divisors;
      product += (product.empty() ? "" : " * ") + wide(extent_of(axis, divisors));
    }
    return product;
  }

  /// The bytes that a tensor of the task takes: "4 * int64_t(n)".
  std::string bytes_of(const model::TensorSpec& tensor) const {
    const std::string elements = elements_of(tensor);
    return std::to_string(model::size_of(tensor.dtype)) + (elements.empty() ? "" : " * ") + elements;
  }

  /// That no tensor that is written overlaps another one: tasks give kernels tensors apart from each other. Two
  /// pointers that the user declared `restrict` are known to be.
  std::string tensors_are_disjoint(const std::string& is_disjoint) const {
    struct Range {
      const syntax::Parameter* parameter;
      std::string text;  // where it begins, and its bytes
      bool is_written;
    };
    std::vector<Range> ranges;
    for (const auto* tensors : {&task_.definition.outputs, &task_.definition.inputs}) {
      const bool is_written = tensors == &task_.definition.outputs;
      for (const model::TensorSpec& tensor : *tensors) {
        const syntax::Parameter* const parameter = parameter_of(tensor.name);
        const bool is_scalar = !is_written && !tensor.shape;
        if (parameter == nullptr || is_scalar || (!is_written && tensor.inout)) continue;
        const std::string first = first_element(type_of(unit_, *parameter), parameter->name);
        ranges.push_back({parameter, first + ", " + bytes_of(tensor), is_written});
      }
    }
    std::string condition;
    for (std::size_t i = 0; i < ranges.size() && ranges[i].is_written; ++i) {
      for (std::size_t j = i + 1; j < ranges.size(); ++j) {
        if (ranges[i].parameter->is_restrict && ranges[j].parameter->is_restrict) continue;
        condition = joined(condition, is_disjoint + "(" + ranges[i].text + ", " + ranges[j].text + ")");
      }
    }
    return condition;
  }

  const syntax::Parameter* parameter_of(const std::string& name) const {
    return parameter_of_entry(*task_.entry, function_, name);
  }

  Result<std::string> tensor_argument(const model::TensorSpec& tensor, bool output) const {
    const syntax::Parameter* parameter = parameter_of(tensor.name);
    if (parameter == nullptr) {
      return fail(ErrorCode::invalid_argument, "entry.args lacks " + tensor.name + ", which the kernel must be given");
    }
    const std::string wanted = canonical_type(tensor.dtype, task_.definition.small_floats);
    const bool pointer = tensor.shape.has_value() || output;
    const ParameterType own = type_of(unit_, *parameter);
    const bool fits = own.element == wanted || same_meaning(own.element, wanted);
    const bool is_pointer = own.form != ParameterForm::value && own.form != ParameterForm::other;
    if (wanted.empty() || !fits || pointer != is_pointer || own.form == ParameterForm::other) {
      return fail(ErrorCode::invalid_argument, "parameter " + parameter->name + " of " + function_.name + " is a " +
                                                   parameter->type + "; " + tensor.name + " of the task is " +
                                                   std::string(model::to_string(tensor.dtype)) +
                                                   (pointer ? " elements" : ""));
    }
    const std::string first = first_element(own, parameter->name);
    if (!pointer || (own.record.empty() && (own.element == wanted || own.element == "_Bool"))) return first;
    const std::string type = own.record.empty() ? std::string(model::c_name(tensor.dtype)) : own.element;
    return cast_pointer(std::string(output ? "" : "const ") + type + "*", first, language_);
  }

  std::string constants_hold() const {
    std::string condition;
    for (const model::Axis& axis : task_.definition.axes) {
      const syntax::Parameter* parameter = axis.value ? parameter_of(axis.name) : nullptr;
      if (parameter == nullptr) continue;
      condition += (condition.empty() ? "" : " && ") + parameter->name + " == " + std::to_string(*axis.value);
    }
    return condition;
  }

  const model::Task& task_;
  const syntax::Unit& unit_;
  const syntax::Function& function_;
  Language language_;
  std::vector<std::string> unknown_;
};

/// Addresses of different objects are compared as numbers, which every compiler takes. C90 has no `inline`.
std::string disjoint_helper(const std::string& name, Language language) {
  const bool is_c = language == Language::c;
  return fmt::format(
      "static {0} {1}(const void* a, int64_t a_bytes, const void* b, int64_t b_bytes) {{\n"
      "  const uintptr_t a_begin = {2}a{3}, b_begin = {2}b{3};\n"
      "  return a_begin + {4}a_bytes{3} <= b_begin || b_begin + {4}b_bytes{3} <= a_begin;\n"
      "}}\n",
      is_c ? "int" : "inline bool", name, is_c ? "(uintptr_t)" : "reinterpret_cast<uintptr_t>(", is_c ? "" : ")",
      is_c ? "(uintptr_t)" : "static_cast<uintptr_t>(");
}

}  // namespace

Result<AdaptedBody> adapted_body(const model::Task& task, const syntax::Unit& unit, const syntax::Function& function,
                                 const std::string& callee, const std::string& prefix) {
  const bool is_c = unit.language == Language::c;
  const std::string name = is_c ? prefix + "_are_disjoint" : "are_disjoint";
  const std::string called = is_c ? name : "::" + prefix + "::" + name;
  AdaptedBody result;
  const Adapter adapter(task, unit, function);
  TRY_ASSIGN(result.body, adapter.body(callee, called));
  result.note = adapter.note();
  if (result.body.find(called + "(") == std::string::npos) return result;
  const std::string helper = disjoint_helper(name, unit.language);
  result.helper = is_c ? "\n" + helper : "\nnamespace " + prefix + " {\n" + helper + "}\n";
  return result;
}

}  // namespace accelopt::scaffold
