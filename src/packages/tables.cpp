// SPDX-License-Identifier: Apache-2.0
#include "packages/tables.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "packages/package_text.hpp"

namespace accelopt::packages {
namespace {

/// What `lower_precision` lets an output be off, relative to its norm.
constexpr double kLowerPrecision = 0x1p-7;

struct TableTensor {
  Parameter parameter;
  std::vector<std::int64_t> shape;
  std::optional<model::InitSpec> init;  ///< of what the kernel reads
};

std::string init_name(const model::InitSpec& init) {
  const std::string text = model::to_string(init);
  return text.substr(0, text.find('('));
}

std::string part_name(const Parameter& parameter) {
  if (parameter.kind == Parameter::Kind::scalar) return "scalar";
  if (parameter.kind == Parameter::Kind::tensor) return "input";
  return parameter.holds_input ? "inout" : "output";
}

base::Result<std::vector<TableTensor>> tensors_of(const model::Task& task, const model::Workload& workload) {
  const model::AxisValues axes = model::bind_axes(task.definition, workload);
  std::vector<TableTensor> out;
  for (const Parameter& parameter : parameters_of(task.definition)) {
    if (parameter.kind == Parameter::Kind::axis) continue;
    TableTensor& tensor = out.emplace_back(TableTensor{parameter, {}, {}});
    for (const std::string& axis : parameter.shape) tensor.shape.push_back(axes.at(axis));
    for (const model::TensorSpec& input : task.definition.inputs) {
      if (input.name != parameter.name) continue;
      TRY_ASSIGN(tensor.init, model::bound(model::init_of(workload, input), axes));
    }
  }
  return out;
}

std::int64_t elements_of(const model::Task& task, const model::Workload& workload) {
  const model::AxisValues axes = model::bind_axes(task.definition, workload);
  std::int64_t out = 0;
  for (const auto* list : {&task.definition.inputs, &task.definition.outputs}) {
    for (const model::TensorSpec& tensor : *list) out += model::element_count(tensor, axes);
  }
  return out;
}

std::string cpp_tensor(const TableTensor& tensor) {
  const std::string type(model::to_string(tensor.parameter.dtype));
  std::string init = "{}";
  if (tensor.init) {
    init = fmt::format("{{\"{}\", {}, {}, {{{}}}}}", init_name(*tensor.init), tensor.init->first, tensor.init->second,
                       fmt::join(tensor.init->values, ", "));
  }
  return fmt::format("      {{\"{}\", Type::{}, Part::{}, {{{}}}, {}}},\n", tensor.parameter.name,
                     type == "bool" ? "boolean" : type, part_name(tensor.parameter), fmt::join(tensor.shape, ", "),
                     init);
}

double least_of(const model::Task& task) {
  return task.definition.numerics.lower_precision ? kLowerPrecision : 0;
}

std::int64_t fewest_elements(const model::Task& task) {
  std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
  for (const model::Workload& workload : task.workloads) fewest = std::min(fewest, elements_of(task, workload));
  return fewest;
}

}  // namespace

base::Result<std::string> cpp_tables(const model::Task& task, Quick quick) {
  std::string out = "inline const std::vector<Workload> kWorkloads = {\n";
  const std::int64_t fewest = fewest_elements(task);
  for (const model::Workload& workload : task.workloads) {
    const bool runs =
        quick == Quick::all || workload.role == model::Role::check || elements_of(task, workload) == fewest;
    std::vector<std::int64_t> values;
    for (const std::string& axis : model::variable_axes(task.definition)) values.push_back(workload.axes.at(axis));
    out += fmt::format("    {{\"{}\", {}, {{{}}}, {{\n", harmless(workload.name), runs, fmt::join(values, ", "));
    TRY_ASSIGN(const auto tensors, tensors_of(task, workload));
    for (const TableTensor& tensor : tensors) out += cpp_tensor(tensor);
    out += "    }},\n";
  }
  return out + fmt::format("}};\n\ninline const Tolerance kTolerance{{{}, {}}};\n",
                           task.definition.numerics.normwise.value_or(0), least_of(task));
}

base::Result<base::Json> json_tables(const model::Task& task) {
  base::Json workloads = base::Json::array();
  for (const model::Workload& workload : task.workloads) {
    base::Json tensors = base::Json::array();
    TRY_ASSIGN(const auto rows, tensors_of(task, workload));
    for (const TableTensor& row : rows) {
      const model::InitSpec init = row.init.value_or(model::InitSpec{});
      tensors.push_back(
          {{"name", row.parameter.name},
           {"dtype", model::to_string(row.parameter.dtype)},
           {"part", part_name(row.parameter)},
           {"shape", row.shape},
           {"init",
            {{"kind", init_name(init)}, {"first", init.first}, {"second", init.second}, {"values", init.values}}}});
    }
    base::Json axes = base::Json::array();  // in the order of the arguments, which an object would not keep
    for (const std::string& axis : model::variable_axes(task.definition))
      axes.push_back(base::Json::array({axis, workload.axes.at(axis)}));
    workloads.push_back({{"name", workload.name}, {"axes", axes}, {"tensors", tensors}});
  }
  return base::Json{{"workloads", workloads},
                    {"reference", reference_name(task)},
                    {"normwise", task.definition.numerics.normwise.value_or(0)},
                    {"least", least_of(task)}};
}

}  // namespace accelopt::packages
