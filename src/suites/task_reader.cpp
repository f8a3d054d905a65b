// SPDX-License-Identifier: Apache-2.0
#include "suites/task_reader.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/expression.hpp"
#include "base/text.hpp"
#include "base/toml.hpp"
#include "model/target_description.hpp"
#include "model/user_flags.hpp"
#include "suites/c_names.hpp"
#include "suites/definition_reader.hpp"
#include "suites/init_check.hpp"

namespace accelopt::suites {
namespace {

using base::in_quotes;
using base::join_names;
using base::parse_toml;
using base::Problem;
using base::TableReader;
using base::TomlEntry;
using base::TomlNode;
using base::unknown_name;

constexpr std::int64_t kNewestSchema = 4;

/// Larger tensors are a slip of the pen on any machine, and would overflow sizes further on.
constexpr std::int64_t kMaxTensorBytes = std::int64_t{1} << 40;

/// Of a workload. They travel to the host's program with each set of inputs, and are structure, not data.
constexpr std::int64_t kMaxVisibleBytes = std::int64_t{1} << 20;

/// Each is opened, verified and timed: what people write is far below.
constexpr std::size_t kMostWorkloads = 1000;

constexpr std::string_view kPositiveExtent = "the axis's extent, a positive integer";

void read_schema(TableReader& root) {
  const auto schema = root.integer("schema", "schema = 1");
  if (!schema && !root.has("schema")) root.require("schema", "schema = 1");
  if (!schema || (*schema >= 1 && *schema <= kNewestSchema)) return;
  root.refuse("schema", *schema > kNewestSchema
                            ? "schema " + std::to_string(*schema) + " is newer than this program, which reads up to " +
                                  std::to_string(kNewestSchema) + "; use a newer accelopt"
                            : "must be from 1 to " + std::to_string(kNewestSchema));
}

/// What an older program would read as another task says so by its number.
void check_schema(TableReader& root, const model::Task& task) {
  const auto schema = root.integer("schema", "schema = 1");
  if (!schema || *schema >= model::schema_of(task)) return;
  if (model::schema_of(task) == 4)
    return root.refuse("schema", "must be 4: [entry] content is not in the schemas before");
  if (model::schema_of(task) == 3) {
    return root.refuse("schema",
                       "must be 3: visible, distinct, values, generators over axes and a workload's own inputs are not "
                       "in the schemas before");
  }
  root.refuse("schema", "must be 2: inout, ties, small_floats, returns, uint16, uint32 and uint64 are not in schema 1");
}

/// The targets that a task may name.
std::vector<std::string> known_targets() {
  std::vector<std::string> out;
  for (const model::TargetDescription* target : model::targets()) out.push_back(target->name);
  return out;
}

/// Only where a program of the host launches kernels there is somebody to see an input.
void refuse_visible(TableReader& root, const model::Task& task) {
  if (model::target_of(task).host_may_see_inputs) return;
  const auto able = [](const model::TargetDescription* target) { return target->host_may_see_inputs; };
  std::vector<const model::TargetDescription*> seeing;
  std::ranges::copy_if(model::targets(), std::back_inserter(seeing), able);
  const std::string names =
      base::joined(seeing, " or ", [](const model::TargetDescription* target) { return in_quotes(target->name); });
  for (const model::TensorSpec& input : task.definition.inputs) {
    if (input.visible)
      root.refuse("inputs", in_quotes(input.name) + ": only tasks with target = " + names +
                                " may have inputs that are visible; leave the key out");
  }
}

/// What not every target's kernels may have so far.
void check_target(TableReader& root, const model::Task& task) {
  refuse_visible(root, task);
  if (model::target_of(task).takes_every_tensor) return;
  std::string able;
  for (const model::TargetDescription* target : model::targets()) {
    if (target->takes_every_tensor) able += (able.empty() ? "" : " or ") + in_quotes(target->name);
  }
  able = "only tasks with target = " + able + " may have ";
  for (const std::string key : {"inout", "ties", "small_floats"}) {
    if (root.has(key)) root.refuse(key, able + "it; leave it out");
  }
  const model::Definition& definition = task.definition;
  for (const auto& [key, tensors] : {std::pair{"inputs", &definition.inputs}, {"outputs", &definition.outputs}}) {
    for (const model::TensorSpec& tensor : *tensors) {
      const bool wide = tensor.dtype == model::DType::uint64 || tensor.dtype == model::DType::uint32 ||
                        tensor.dtype == model::DType::uint16;
      if (!wide && tensor.ties.empty()) continue;
      root.refuse(key, in_quotes(tensor.name) + ": " + able +
                           (wide ? "dtype " + std::string(to_string(tensor.dtype)) : "ties"));
    }
  }
}

void read_target(TableReader& root, model::Task& task) {
  const std::string known = "one of " + join_names(known_targets());
  const auto target = root.string("target", known);
  if (!target && !root.has("target")) root.require("target", known);
  if (!target) return;
  task.target = *target;
  if (model::find_target(*target) == nullptr) root.refuse("target", unknown_name("target", *target, known_targets()));
}

/// Bytes of the tensor; none when they are more than kMaxTensorBytes.
std::optional<std::int64_t> bytes_of(const model::TensorSpec& tensor, const model::AxisValues& axes) {
  auto bytes = static_cast<std::int64_t>(model::size_of(tensor.dtype));
  for (const std::string& name : tensor.shape.value_or(std::vector<std::string>{})) {
    const auto axis = axes.find(name);
    if (axis == axes.end()) return 0;  // an unknown axis has its own problem
    if (__builtin_mul_overflow(bytes, axis->second, &bytes) || bytes > kMaxTensorBytes) return std::nullopt;
  }
  return bytes;
}

/// Sizes and costs under the workload's binding.
void check_binding(TableReader& table, const model::Definition& definition, const model::Workload& workload) {
  const model::AxisValues axes = bind_axes(definition, workload);
  for (const auto* tensors : {&definition.inputs, &definition.outputs, &definition.ties}) {
    for (const model::TensorSpec& tensor : *tensors) {
      if (!bytes_of(tensor, axes))
        return table.refuse("axes", "makes " + in_quotes(tensor.name) + " larger than 1 TiB");
    }
  }
  std::int64_t visible = 0;
  for (const model::TensorSpec& input : definition.inputs) {
    if (input.visible) visible += bytes_of(input, axes).value_or(0);
  }
  if (visible > kMaxVisibleBytes)
    table.refuse("axes", "makes the inputs that the host may see larger than 1 MiB together");
  for (const model::TensorSpec& input : definition.inputs) {
    // Unknown axes are reported where they stand.
    const auto unbound = [&](const std::string& name) { return !axes.contains(name); };
    const model::InitSpec& init = model::init_of(workload, input);
    const std::vector<std::string> names = names_in(init);
    const std::vector<std::string> shape = input.shape.value_or(std::vector<std::string>{});
    if (std::any_of(names.begin(), names.end(), unbound) || std::any_of(shape.begin(), shape.end(), unbound)) continue;
    const bool own = workload.inits.contains(input.name);
    if (!own && !refuse_init(input, init).empty()) continue;  // reported where it stands
    if (std::string reason = refuse_bound_init(input, init, axes); !reason.empty())
      table.refuse(own ? "inputs" : "axes", in_quotes(input.name) + ": " + reason);
  }
  for (const auto& [key, text] : {std::pair{"flops", definition.cost.flops}, {"bytes", definition.cost.bytes}}) {
    if (text.empty()) continue;
    const auto value = base::evaluate_expression(text, axes);
    // Malformed expressions and unknown names are reported where they stand.
    if (!value && value.error().code == base::ErrorCode::invalid_argument &&
        value.error().message.find("unknown name") == std::string::npos) {
      table.refuse("axes", "cost." + std::string(key) + " has no value here: " + value.error().message);
    }
    if (value && *value < 0) table.refuse("axes", "makes cost." + std::string(key) + " negative");
  }
}

/// Binds the workload's axes; whether every variable axis is bound and nothing else is.
bool read_binding(TableReader& table, const model::Definition& definition, model::Workload& workload,
                  std::vector<Problem>& problems) {
  const std::size_t before = problems.size();
  const std::vector<std::string> variable = variable_axes(definition);
  const std::vector<std::string> all = axis_names(definition);
  const TomlNode* node = table.table("axes", "axes = { M = 64 } with every variable axis");
  if (!node && table.has("axes")) return false;
  if (node) {
    TableReader axes(*node, table.path("axes"), problems);
    for (const TomlEntry& entry : node->entries) {
      const bool known = std::find(all.begin(), all.end(), entry.key) != all.end();
      const bool bindable = std::find(variable.begin(), variable.end(), entry.key) != variable.end();
      if (!known) {
        axes.refuse(entry.key, unknown_axis(entry.key, definition));
      } else if (!bindable) {
        axes.refuse(entry.key, "the axis is constant in [axes]; make it \"var\" there or leave it out here");
      } else if (const auto value = axes.integer(entry.key, kPositiveExtent)) {
        if (*value < 1) axes.refuse(entry.key, "must be " + std::string(kPositiveExtent));
        workload.axes[entry.key] = std::max<std::int64_t>(*value, 1);
      }
    }
  }
  for (const std::string& name : variable) {
    const bool there = node && std::any_of(node->entries.begin(), node->entries.end(),
                                           [&](const TomlEntry& entry) { return entry.key == name; });
    if (!there) table.refuse("axes", "does not bind the variable axis " + in_quotes(name) + "; add " + name + " = 64");
  }
  return problems.size() == before;
}

/// `inputs = { x = "values(0, 3, 7)" }`: how this workload draws them.
void read_own_inits(TableReader& table, const model::Definition& definition, model::Workload& workload,
                    std::vector<Problem>& problems) {
  const TomlNode* node = table.table("inputs", "inputs = { x = \"normal(0, 1)\" }");
  if (!node) return;
  TableReader inputs(*node, table.path("inputs"), problems);
  std::vector<std::string> known;
  for (const model::TensorSpec& input : definition.inputs) known.push_back(input.name);
  for (const TomlEntry& entry : node->entries) {
    const auto text = inputs.string(entry.key, "how its elements are drawn, like \"normal(0, 1)\"");
    const auto place = std::find(known.begin(), known.end(), entry.key);
    if (place == known.end()) {
      inputs.refuse(entry.key, unknown_name("input", entry.key, known));
    } else if (text) {
      const auto init = model::parse_init(*text);
      if (!init) {
        inputs.refuse(entry.key, init.error().message);
      } else {
        for (const std::string& name : names_in(*init)) {
          const std::vector<std::string> axes = axis_names(definition);
          if (std::find(axes.begin(), axes.end(), name) == axes.end())
            inputs.refuse(entry.key, unknown_axis(name, definition));
        }
        workload.inits.emplace(entry.key, *init);
      }
    }
  }
}

void read_role(TableReader& table, model::Workload& workload) {
  std::vector<std::string> known;
  for (const auto& [role, its] : model::Names<model::Role>::kTable) known.emplace_back(its);
  const auto name = table.string("role", "one of race, check, held_out");
  if (!name && !table.has("role")) table.require("role", "one of race, check, held_out");
  if (!name) return;
  if (const auto role = model::named<model::Role>(*name)) {
    workload.role = *role;
    return;
  }
  table.refuse("role", unknown_name("role", *name, known));
}

void read_workloads(TableReader& root, model::Task& task, std::vector<Problem>& problems) {
  const std::string form = "[[workloads]] with name, axes and role";
  std::set<std::string> names;
  const std::size_t before = problems.size();
  const auto tables = root.tables("workloads", form);
  if (tables.size() > kMostWorkloads) {
    return root.refuse("workloads", std::to_string(tables.size()) + " are too many; a task has at most " +
                                        std::to_string(kMostWorkloads));
  }
  for (const TomlNode* node : tables) {
    TableReader table(*node, root.path("workloads") + "[" + std::to_string(task.workloads.size()) + "]", problems);
    model::Workload workload;
    workload.name = table.string("name", "the workload's name").value_or("");
    if (!table.has("name")) table.require("name", "the workload's name");
    if (table.has("name") && workload.name.empty()) table.refuse("name", "must not be empty");
    if (std::string reason = refuse_shown_name(workload.name); !reason.empty()) table.refuse("name", std::move(reason));
    if (!workload.name.empty() && !names.insert(workload.name).second) {
      table.refuse("name", in_quotes(workload.name) + " is already the name of a workload; choose another name");
    }
    read_own_inits(table, task.definition, workload, problems);
    if (read_binding(table, task.definition, workload, problems)) check_binding(table, task.definition, workload);
    read_role(table, workload);
    workload.weight = table.real("weight", "a positive number").value_or(1.0);
    if (!(workload.weight > 0) || !std::isfinite(workload.weight)) {
      table.refuse("weight", "must be a positive number");
    }
    table.finish();
    task.workloads.push_back(std::move(workload));
  }
  if (!root.has("workloads")) return root.require("workloads", "at least one " + form);
  const bool raced = std::any_of(task.workloads.begin(), task.workloads.end(),
                                 [](const model::Workload& workload) { return workload.role == model::Role::race; });
  if (!raced && problems.size() == before) {
    root.refuse("workloads", "none has role = \"race\"; without one nothing is timed");
  }
}

void read_cache(TableReader& table, model::Task& task) {
  const auto cache = table.string("cache", "\"cold\" or \"warm\"");
  if (!cache) return;
  if (*cache != "cold" && *cache != "warm") table.refuse("cache", "must be \"cold\" or \"warm\"");
  task.cpu.cache = *cache == "warm" ? model::Cache::warm : model::Cache::cold;
}

void read_threads(TableReader& table, model::Task& task) {
  const auto threads = table.integer("threads", "how many threads a kernel may use");
  if (!threads) return;
  if (*threads < 1 || *threads > 4096) table.refuse("threads", "must be from 1 to the machine's cores - 1");
  task.cpu.threads = static_cast<int>(std::clamp<std::int64_t>(*threads, 1, 4096));
}

std::string_view name_of(model::TaskKey key) {
  return key == model::TaskKey::threads ? "threads" : "cache";
}

/// "[cuda] with cache": the table that has the target's name.
void read_table_of(const model::TargetDescription& target, TableReader& root, model::Task& task,
                   std::vector<Problem>& problems) {
  std::string keys =
      base::joined(target.task_keys, " and ", [&](const model::TaskKey key) { return std::string(name_of(key)); });
  const TomlNode* node = root.table(target.name, "[" + target.name + "] with " + keys);
  if (!node) return;
  TableReader table(*node, root.path(target.name), problems);
  for (const model::TaskKey key : target.task_keys) {
    key == model::TaskKey::threads ? read_threads(table, task) : read_cache(table, task);
  }
  table.finish();
  if (model::find_target(task.target) != nullptr && task.target != target.name)
    root.refuse(target.name, "belongs to target = " + in_quotes(target.name) + "; leave it out");
}

void read_tables_of_targets(TableReader& root, model::Task& task, std::vector<Problem>& problems) {
  for (const model::TargetDescription* target : model::targets()) {
    if (!target->task_keys.empty()) read_table_of(*target, root, task, problems);
  }
}

/// The name in "x" or "int M"; empty when there is none.
std::string argument_name(std::string_view text) {
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  std::size_t start = text.size();
  while (start > 0 && is_identifier("_" + std::string(text.substr(start - 1)))) --start;
  const std::string name(text.substr(start));
  return is_identifier(name) ? name : "";
}

/// "ylen = len+taps": an axis by others, which has to hold in every workload.
void check_derived(TableReader& table, const model::Task& task, const std::string& argument) {
  const std::size_t equals = argument.find('=');
  const std::string axis(base::trimmed(std::string_view(argument).substr(0, equals)));
  const std::string expression(base::trimmed(std::string_view(argument).substr(equals + 1)));
  const std::vector<model::Axis>& axes = task.definition.axes;
  if (std::none_of(axes.begin(), axes.end(), [&](const model::Axis& one) { return one.name == axis; }))
    return table.refuse("args", unknown_axis(axis, task.definition));
  if (const std::string fault = model::refuse_derived_extent(expression); !fault.empty())
    return table.refuse("args", in_quotes(argument) + ": " + fault);
  for (const model::Workload& workload : task.workloads) {
    model::AxisValues values = model::bind_axes(task.definition, workload);
    const auto extent = base::evaluate_expression(expression, values);
    if (!extent) return table.refuse("args", in_quotes(argument) + ": " + extent.error().message);
    if (*extent == values[axis]) continue;
    return table.refuse("args", in_quotes(argument) + ": workload " + in_quotes(workload.name) + " has " +
                                    std::to_string(values[axis]) + " in place of " + std::to_string(*extent));
  }
}

/// `returned`: the output that is no argument, because the function returns it.
void check_arguments(TableReader& table, const model::Task& task, const std::vector<std::string>& args,
                     const std::string& returned) {
  const model::Definition& definition = task.definition;
  std::vector<std::string> required;
  for (const model::TensorSpec& tensor : definition.inputs) required.push_back(tensor.name);
  for (const model::TensorSpec& tensor : definition.outputs) {
    if (!tensor.inout && tensor.name != returned) required.push_back(tensor.name);
  }
  std::vector<std::string> known = required;
  for (const model::Axis& axis : definition.axes) known.push_back(axis.name);
  std::set<std::string> used;
  bool all_known = true;
  for (const std::string& argument : args) {
    if (argument.find('=') != std::string::npos) {
      check_derived(table, task, argument);
      continue;
    }
    const std::string name = argument_name(argument);
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      all_known = false;
      table.refuse("args", in_quotes(argument) + " is no input, output or axis; known are " + join_names(known));
    } else if (!used.insert(name).second) {
      table.refuse("args", in_quotes(name) + " stands there twice");
    }
  }
  for (const std::string& name : required) {
    if (all_known && !used.contains(name))
      table.refuse("args", "lacks " + in_quotes(name) + "; the function must be given it");
  }
}

void read_entry(TableReader& root, bool definition_is_sound, TaskText& result) {
  std::vector<Problem>& problems = result.problems;
  const TomlNode* node = root.table("entry", "[entry] with file, function and args");
  if (!node) return;
  TableReader table(*node, root.path("entry"), problems);
  model::Entry entry;
  const std::string file_form = "the user's file, relative to the task's folder";
  const std::string args_form = "the function's arguments in its own order, like [\"x\", \"y\", \"int M\"]";
  entry.file = table.string("file", file_form).value_or("");
  if (entry.file.empty() && !table.has("file")) table.require("file", file_form);
  entry.function = table.string("function", "the function's name").value_or("");
  if (entry.function.empty() && !table.has("function")) table.require("function", "the function's name");
  entry.returns = table.string("returns", "the output that the function returns").value_or("");
  const std::vector<model::TensorSpec>& outputs = result.task.definition.outputs;
  const bool is_number = std::any_of(outputs.begin(), outputs.end(), [&](const model::TensorSpec& output) {
    return output.name == entry.returns && !output.inout && output.shape && output.shape->empty();
  });
  if (!entry.returns.empty() && !is_number) table.refuse("returns", "must be an output with shape = []");
  const std::string content_form = "the hash that init wrote, or be left out";
  entry.content = table.string("content", content_form).value_or("");
  const bool is_hash =
      entry.content.size() == 64 && entry.content.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!entry.content.empty() && !is_hash) table.refuse("content", "must be " + content_form);
  if (const auto args = table.strings("args", args_form)) {
    entry.args = *args;
    if (definition_is_sound) check_arguments(table, result.task, *args, entry.returns);
  } else if (!table.has("args")) {
    table.require("args", args_form);
  }
  if (auto flags = table.strings("flags", "the flags of your own build, like [\"-O2\", \"-mavx2\"]")) {
    for (const std::string& flag : *flags) {
      if (model::is_user_flag(flag)) continue;
      table.refuse("flags", in_quotes(flag) +
                                " is no flag that decides how a kernel is compiled, like -O2 or "
                                "-march=x86-64-v3; leave it out");
    }
    result.entry_flags = std::move(*flags);
  }
  table.finish();
  result.task.entry = std::move(entry);
}

}  // namespace

TaskText read_task_toml(std::string_view text) {
  TaskText result;
  const auto document = parse_toml(text);
  if (!document) {
    result.problems.push_back(document.error());
    return result;
  }
  TableReader root(*document, "", result.problems);
  read_schema(root);
  read_definition(root, result.task.definition, result.problems);
  const bool definition_is_sound = result.problems.empty();
  read_target(root, result.task);
  result.derived_reference = root.string("derived_reference", "the SHA-256 of the derived reference").value_or("");
  read_workloads(root, result.task, result.problems);
  read_tables_of_targets(root, result.task, result.problems);
  read_entry(root, definition_is_sound, result);
  if (result.problems.empty()) check_schema(root, result.task);
  if (result.problems.empty()) check_target(root, result.task);
  root.finish();
  std::stable_sort(result.problems.begin(), result.problems.end(),
                   [](const Problem& a, const Problem& b) { return a.line < b.line; });
  return result;
}

}  // namespace accelopt::suites
