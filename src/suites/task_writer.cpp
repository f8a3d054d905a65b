// SPDX-License-Identifier: Apache-2.0
#include "suites/task_writer.hpp"

#include <charconv>
#include <cstdio>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "model/target_description.hpp"

namespace accelopt::suites {
namespace {

/// A basic TOML string: quoted, controls escaped.
std::string toml_string(std::string_view text) {
  std::string result = "\"";
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    if (letter == '"' || letter == '\\') {
      result += '\\';
      result += letter;
    } else if (code < 0x20 || code == 0x7F) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04X", static_cast<unsigned>(code));
      result += escape;
    } else {
      result += letter;
    }
  }
  return result + "\"";
}

/// The shortest text that reads back as the same TOML float.
std::string real(double value) {
  char buffer[40];
  const auto [end, problem] = std::to_chars(buffer, buffer + sizeof buffer, value);
  std::string text(buffer, end);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string strings(const std::vector<std::string>& texts) {
  std::string result = base::joined(texts, ", ", [&](const std::string& text) { return toml_string(text); });
  return "[" + result + "]";
}

std::string line(std::string_view key, const std::string& value) {
  return std::string(key) + " = " + value + "\n";
}

/// A tensor under `[[key]]`.
std::string format_tensor(const model::TensorSpec& tensor, const std::string& key) {
  std::string text = "\n[[" + key + "]]\n";
  text += line("name", toml_string(tensor.name));
  if (tensor.shape) text += line("shape", strings(*tensor.shape));
  text += line("dtype", toml_string(to_string(tensor.dtype)));
  if (!tensor.ties.empty()) text += line("ties", toml_string(tensor.ties));
  if (key != "inputs" && key != "inout") return text;
  text += line("init", toml_string(to_string(tensor.init)));
  std::vector<std::string> families;
  for (const model::Family family : tensor.families) families.emplace_back(to_string(family));
  if (!families.empty()) text += line("families", strings(families));
  if (tensor.visible) text += line("visible", "true");
  return text;
}

std::string format_workload(const model::Workload& workload, const std::vector<std::string>& order) {
  std::string axes;
  for (const std::string& name : order) {
    if (const auto axis = workload.axes.find(name); axis != workload.axes.end()) {
      axes += (axes.empty() ? "" : ", ") + name + " = " + std::to_string(axis->second);
    }
  }
  std::string text = "\n[[workloads]]\n" + line("name", toml_string(workload.name));
  if (!axes.empty()) text += line("axes", "{ " + axes + " }");
  text += line("role", toml_string(to_string(workload.role))) + line("weight", real(workload.weight));
  if (workload.inits.empty()) return text;
  const auto init_text = [](const auto& own) { return own.first + " = " + toml_string(to_string(own.second)); };
  return text + line("inputs", "{ " + base::joined(workload.inits, ", ", init_text) + " }");
}

std::string format_contract(const model::Definition& definition) {
  std::string text = "\n[numerics]\n" + line("lower_precision", definition.numerics.lower_precision ? "true" : "false");
  if (definition.numerics.normwise) text += line("normwise", real(*definition.numerics.normwise));
  if (definition.cost.flops.empty() && definition.cost.bytes.empty()) return text;
  text += "\n[cost]\n";
  if (!definition.cost.flops.empty()) text += line("flops", toml_string(definition.cost.flops));
  if (!definition.cost.bytes.empty()) text += line("bytes", toml_string(definition.cost.bytes));
  return text;
}

}  // namespace

std::string format_task_toml(const model::Task& task) {
  const model::Definition& definition = task.definition;
  std::string text =
      line("schema", std::to_string(model::schema_of(task))) + line("name", toml_string(definition.name));
  if (!definition.op_type.empty()) text += line("op_type", toml_string(definition.op_type));
  if (!definition.description.empty()) text += line("description", toml_string(definition.description));
  text += line("target", toml_string(task.target));
  if (definition.small_floats == model::SmallFloats::native) text += line("small_floats", toml_string("native"));
  if (task.derived_reference) {
    text += "# The reference was derived from the baseline: it proves equality, not correctness, until it is edited.\n";
    text += line("derived_reference", toml_string(base::sha256_hex(task.reference.text)));
  }
  text += "\n[axes]\n";
  for (const model::Axis& axis : definition.axes) {
    text += line(axis.name, axis.value ? std::to_string(*axis.value) : "\"var\"");
  }
  for (const model::TensorSpec& tensor : definition.inputs)
    text += format_tensor(tensor, tensor.inout ? "inout" : "inputs");
  for (const model::TensorSpec& tensor : definition.outputs) {
    if (!tensor.inout) text += format_tensor(tensor, "outputs");
  }
  for (const model::TensorSpec& tensor : definition.ties) text += format_tensor(tensor, "ties");
  for (const model::Workload& workload : task.workloads) text += format_workload(workload, variable_axes(definition));
  text += format_contract(definition);
  const std::vector<model::TaskKey>& keys = model::target_of(task).task_keys;
  if (!keys.empty()) text += "\n[" + task.target + "]\n";
  for (const model::TaskKey key : keys) {
    text += key == model::TaskKey::threads
                ? line("threads", std::to_string(task.cpu.threads))
                : line("cache", toml_string(task.cpu.cache == model::Cache::cold ? "cold" : "warm"));
  }
  if (task.entry) {
    text += "\n[entry]\n" + line("file", toml_string(task.entry->file)) +
            line("function", toml_string(task.entry->function)) + line("args", strings(task.entry->args));
    if (!task.entry->returns.empty()) text += line("returns", toml_string(task.entry->returns));
    if (!task.entry->content.empty()) text += line("content", toml_string(task.entry->content));
  }
  return text;
}

}  // namespace accelopt::suites
