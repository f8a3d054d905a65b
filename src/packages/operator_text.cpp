// SPDX-License-Identifier: Apache-2.0
#include "packages/operator_text.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"

namespace accelopt::packages {
namespace {

using Kind = Parameter::Kind;

/// An operator: what it is called with, in its order, and what it returns.
struct Operator {
  std::vector<Parameter> tensors;   ///< inputs, scalars, and outputs that it reads, too
  std::vector<Parameter> returned;  ///< outputs that it alone writes
  std::vector<std::string> given;   ///< variable axes that no tensor of the call tells
};

Operator operator_of(const model::Definition& definition) {
  Operator out;
  std::set<std::string> told;
  for (const Parameter& parameter : parameters_of(definition)) {
    if (parameter.kind == Kind::axis) continue;
    if (parameter.kind == Kind::output && !parameter.holds_input) {
      out.returned.push_back(parameter);
      continue;
    }
    out.tensors.push_back(parameter);
    if (parameter.kind != Kind::scalar) told.insert(parameter.shape.begin(), parameter.shape.end());
  }
  for (const std::string& axis : model::variable_axes(definition)) {
    if (!told.contains(axis)) out.given.push_back(axis);
  }
  return out;
}

std::string schema_of_operator(const Operator& op) {
  std::vector<std::string> arguments;
  char alias = 'a';
  for (const Parameter& parameter : op.tensors) {
    std::string type = "Tensor";
    if (parameter.kind == Kind::output) type = std::string("Tensor(") + alias++ + "!)";
    if (parameter.kind == Kind::scalar)
      type = model::is_floating(parameter.dtype) ? "float" : parameter.dtype == model::DType::boolean ? "bool" : "int";
    arguments.push_back(type + " " + parameter.name);
  }
  for (const std::string& axis : op.given) arguments.push_back("SymInt " + axis);
  const std::vector<std::string> tensors(op.returned.size(), "Tensor");
  const std::string returned = tensors.size() == 1 ? "Tensor" : "(" + base::joined(tensors, ", ") + ")";
  return "(" + base::joined(arguments, ", ") + ") -> " + returned;
}

std::vector<std::string> call_names(const Operator& op) {
  std::vector<std::string> out;
  for (const Parameter& parameter : op.tensors) out.push_back(parameter.name);
  out.insert(out.end(), op.given.begin(), op.given.end());
  return out;
}

/// A shape in Python: variable axes by `around` their names, constant ones as numbers.
std::string python_shape(const model::Definition& definition, const Parameter& parameter, bool quoted) {
  std::string out;
  for (const std::string& name : parameter.shape) {
    const auto axis =
        std::find_if(definition.axes.begin(), definition.axes.end(), [&](const auto& one) { return one.name == name; });
    std::string text = quoted ? "\"" + name + "\"" : "axes[\"" + name + "\"]";
    if (axis != definition.axes.end() && axis->value) text = std::to_string(*axis->value);
    out += text + ", ";
  }
  return "(" + out + ")";
}

/// `_axes_of(...)` and `_empty(...)`: the checks, and the tensors that are returned.
std::string shared_functions(const model::Definition& definition, const Operator& op) {
  const std::string names = base::joined(call_names(op), ", ");
  std::string rows;
  std::string device;
  for (const Parameter& parameter : op.tensors) {
    if (parameter.kind == Kind::scalar) continue;
    if (device.empty()) device = parameter.name;
    rows += fmt::format("        \"{0}\": ({0}, torch.{1}, {2}),\n", parameter.name, model::to_string(parameter.dtype),
                        python_shape(definition, parameter, true));
  }
  std::string given;
  for (const std::string& axis : op.given) given += fmt::format("\"{0}\": {0}, ", axis);
  std::string empty;
  for (const Parameter& parameter : op.returned) {
    empty +=
        fmt::format("        torch.empty({}, dtype=torch.{}, device={}),\n", python_shape(definition, parameter, false),
                    model::to_string(parameter.dtype), device.empty() ? "\"cuda\"" : device + ".device");
  }
  return fmt::format(
      "\ndef _axes_of({0}):\n    return _check({{\n{1}    }}, {{{2}}})\n\n\ndef _empty(axes, {0}):\n    return (\n{3}  "
      "  )\n\n",
      names, rows, given, empty);
}

std::string returned_text(const Operator& op) {
  if (op.returned.empty()) return "    return None\n";
  return op.returned.size() == 1 ? "    return results[0]\n" : "    return results\n";
}

/// Registrations and the function of the module.
std::string ending(const Operator& op, const std::string& name) {
  const std::string names = base::joined(call_names(op), ", ");
  return fmt::format(
      "\ndef _fake({0}):\n    results = _empty(_axes_of({0}), {0})\n{1}\n\n_library.impl(\"{2}\", _run, \"CUDA\")\n"
      "torch.library.register_fake(\"{3}::{2}\", _fake)\n\n\ndef {2}({0}):\n    return torch.ops.{3}.{2}({0})\n",
      names, returned_text(op), name, "kernels_" + name);
}

/// Inputs are made contiguous; what the kernels write must be it already.
std::string tensor_lines(const Operator& op) {
  std::string out;
  for (const Parameter& parameter : op.tensors) {
    if (parameter.kind == Kind::tensor) out += fmt::format("    {0} = {0}.contiguous()\n", parameter.name);
    if (parameter.kind == Kind::output) {
      out += fmt::format(
          "    if not {0}.is_contiguous():\n        raise ValueError(\"{0} is read and written, and has to be "
          "contiguous\")\n",
          parameter.name);
    }
  }
  return out;
}

std::string ctypes_of(const Parameter& parameter) {
  if (parameter.kind == Kind::axis) return "ctypes.c_int64";
  if (parameter.kind != Kind::scalar) return "ctypes.c_void_p";
  if (parameter.dtype == model::DType::float32) return "ctypes.c_float";
  if (parameter.dtype == model::DType::float64) return "ctypes.c_double";
  if (parameter.dtype == model::DType::boolean) return "ctypes.c_bool";
  return "ctypes.c_" + std::string(model::to_string(parameter.dtype));
}

}  // namespace

Filling operator_filling(const model::Definition& definition, const std::string& name) {
  const Operator op = operator_of(definition);
  std::vector<std::string> returned;
  for (const Parameter& parameter : op.returned) returned.push_back(parameter.name);
  std::vector<std::string> types;
  std::size_t inputs = 0;
  for (const Parameter& parameter : parameters_of(definition)) {
    types.push_back(ctypes_of(parameter));
    if (parameter.kind == Kind::tensor || parameter.kind == Kind::scalar) ++inputs;
  }
  return {{"LIBRARY", "kernels_" + name},
          {"SCHEMA", schema_of_operator(op)},
          {"AXES", std::to_string(model::variable_axes(definition).size())},
          {"TYPES", base::joined(types, ", ")},
          {"INPUTS", std::to_string(inputs)},
          {"OUTPUTS", std::to_string(definition.outputs.size())},
          {"ARGUMENTS", base::quoted_list(call_names(op))},
          {"RETURNED", base::quoted_list(returned)}};
}

std::string launcher_operator(const model::Definition& definition, const std::string& name) {
  const Operator op = operator_of(definition);
  const std::string names = base::joined(call_names(op), ", ");
  std::vector<std::string> arguments;
  std::vector<std::string> axes;
  std::size_t result = 0;
  std::string device = "results[0].device";
  for (const Parameter& parameter : parameters_of(definition)) {
    if (parameter.kind == Kind::axis) {
      axes.push_back("axes[\"" + parameter.name + "\"]");
    } else if (parameter.kind == Kind::scalar) {
      arguments.push_back(parameter.name);
    } else if (parameter.kind == Kind::output && !parameter.holds_input) {
      arguments.push_back(fmt::format("results[{}].data_ptr()", result++));
    } else {
      arguments.push_back(parameter.name + ".data_ptr()");
      device = parameter.name + ".device";
    }
  }
  return shared_functions(definition, op) +
         fmt::format(
             "\ndef _run({0}):\n    axes = _axes_of({0})\n{1}    results = _empty(axes, {0})\n"
             "    _call({2}, [{3}], [{4}])\n{5}\n",
             names, tensor_lines(op), device, base::joined(arguments, ", "), base::joined(axes, ", "),
             returned_text(op)) +
         ending(op, name);
}

std::string function_operator(const model::Definition& definition, const std::string& name) {
  const Operator op = operator_of(definition);
  const std::string names = base::joined(call_names(op), ", ");
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::size_t result = 0;
  std::string writes;
  for (const Parameter& parameter : parameters_of(definition)) {
    if (parameter.kind == Kind::tensor || parameter.kind == Kind::scalar) inputs.push_back(parameter.name);
    if (parameter.kind != Kind::output) continue;
    outputs.push_back(parameter.holds_input ? parameter.name : fmt::format("results[{}]", result++));
  }
  std::string by_name;
  for (const Parameter& parameter : op.returned) by_name += fmt::format("returned[\"{}\"], ", parameter.name);
  return shared_functions(definition, op) +
         fmt::format(
             "\ndef _run({0}):\n    axes = _axes_of({0})\n{1}    if _writes_outputs():\n        results = _empty(axes, "
             "{0})\n"
             "        solution.run({2})\n    else:\n        returned = solution.run({3})\n"
             "        results = ({4}) if isinstance(returned, dict) else returned if isinstance(returned, (tuple, "
             "list)) else (returned,)\n"
             "{5}\n",
             names, tensor_lines(op),
             base::joined(inputs, ", ") + (outputs.empty() ? "" : ", ") + base::joined(outputs, ", "),
             base::joined(inputs, ", "), by_name, returned_text(op)) +
         ending(op, name);
}

}  // namespace accelopt::packages
