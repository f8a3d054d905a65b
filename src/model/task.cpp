// SPDX-License-Identifier: Apache-2.0
#include "model/task.hpp"

#include <algorithm>

#include "base/hash.hpp"

namespace accelopt::model {

using base::Json;
using base::read_field;

std::string_view to_string(Role role) {
  switch (role) {
    case Role::race:
      return "race";
    case Role::check:
      return "check";
    case Role::held_out:
      return "held_out";
  }
  return "race";
}

AxisValues bind_axes(const Definition& definition, const Workload& workload) {
  AxisValues values = workload.axes;
  for (const Axis& axis : definition.axes) {
    if (axis.value) values[axis.name] = *axis.value;
  }
  return values;
}

std::vector<std::int64_t> shape_of(const TensorSpec& tensor, const AxisValues& axes) {
  std::vector<std::int64_t> shape;
  if (!tensor.shape) return shape;
  for (const std::string& name : *tensor.shape) {
    const auto axis = axes.find(name);
    ACCELOPT_ASSERT(axis != axes.end(), "a tensor's axis is not bound");
    shape.push_back(axis->second);
  }
  return shape;
}

std::int64_t element_count(const TensorSpec& tensor, const AxisValues& axes) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape_of(tensor, axes)) count *= extent;
  return count;
}

std::vector<std::string> variable_axes(const Definition& definition) {
  std::vector<std::string> names;
  for (const Axis& axis : definition.axes) {
    if (!axis.value) names.push_back(axis.name);
  }
  return names;
}

bool is_passed_as_input(const TensorSpec& input) {
  return !input.inout;
}

std::optional<std::size_t> contents_of(const Definition& definition, const TensorSpec& output) {
  if (!output.inout) return std::nullopt;
  const auto found = std::find_if(definition.inputs.begin(), definition.inputs.end(),
                                  [&](const TensorSpec& input) { return input.inout && input.name == output.name; });
  ACCELOPT_ASSERT(found != definition.inputs.end(), "an inout tensor is an input too");
  return static_cast<std::size_t>(found - definition.inputs.begin());
}

Definition reference_definition(const Definition& definition) {
  Definition whole = definition;
  whole.outputs.insert(whole.outputs.end(), whole.ties.begin(), whole.ties.end());
  whole.ties.clear();
  return whole;
}

std::optional<std::size_t> ties_of(const Definition& definition, const TensorSpec& output) {
  if (output.ties.empty()) return std::nullopt;
  std::size_t place = 0;
  for (const auto* tensors : {&definition.outputs, &definition.ties}) {
    for (const TensorSpec& one : *tensors) {
      if (one.name == output.ties) return place;
      ++place;
    }
  }
  ACCELOPT_ASSERT(false, "an output's ties tensor is there");
}

int schema_of(const Task& task) {
  const Definition& definition = task.definition;
  const auto is_new = [](const TensorSpec& one) {
    return one.inout || !one.ties.empty() || one.dtype == DType::uint16 || one.dtype == DType::uint32 ||
           one.dtype == DType::uint64;
  };
  const bool any = std::any_of(definition.inputs.begin(), definition.inputs.end(), is_new) ||
                   std::any_of(definition.outputs.begin(), definition.outputs.end(), is_new);
  const bool returns = task.entry && !task.entry->returns.empty();
  return any || returns || !definition.ties.empty() || definition.small_floats == SmallFloats::native ? 2 : 1;
}

bool has_exact_output(const Definition& definition) {
  return std::any_of(definition.outputs.begin(), definition.outputs.end(),
                     [](const TensorSpec& output) { return !is_floating(output.dtype) && output.ties.empty(); });
}

std::string task_id(const Task& task) {
  Json identity = task;
  identity.erase("hints");
  return base::sha256_hex(base::canonical(identity));
}

namespace {

Json tensor_to_json(const TensorSpec& tensor, bool input) {
  Json out = {{"name", tensor.name}, {"dtype", to_string(tensor.dtype)}};
  out["shape"] = tensor.shape;
  if (tensor.inout) out["inout"] = true;
  if (!tensor.ties.empty()) out["ties"] = tensor.ties;
  if (input) {
    out["init"] = to_string(tensor.init);
    out["families"] = Json::array();
    for (const Family family : tensor.families) out["families"].push_back(to_string(family));
  }
  return out;
}

/// Throws what nlohmann::json throws: from_json's way to refuse a value.
[[noreturn]] void refuse(const std::string& message, const Json& where) {
  throw Json::other_error::create(501, message, &where);
}

TensorSpec tensor_from_json(const Json& in) {
  TensorSpec tensor;
  in.at("name").get_to(tensor.name);
  in.at("shape").get_to(tensor.shape);
  const auto dtype = parse_dtype(in.at("dtype").get<std::string>());
  if (!dtype) refuse("unknown dtype", in);
  tensor.dtype = *dtype;
  tensor.inout = in.value("inout", false);
  tensor.ties = in.value("ties", std::string());
  if (in.contains("init")) {
    auto init = parse_init(in.at("init").get<std::string>());
    if (!init) refuse(init.error().message, in);
    tensor.init = *init;
  }
  for (const Json& name : in.value("families", Json::array())) {
    auto families = parse_family(name.get<std::string>());
    if (!families) refuse(families.error().message, in);
    tensor.families.insert(tensor.families.end(), families->begin(), families->end());
  }
  return tensor;
}

Role role_from(const std::string& name) {
  for (const Role role : {Role::check, Role::held_out}) {
    if (to_string(role) == name) return role;
  }
  return Role::race;
}

}  // namespace

void to_json(Json& out, const Definition& definition) {
  out = {{"name", definition.name}, {"op_type", definition.op_type}, {"description", definition.description}};
  out["axes"] = Json::array();
  for (const Axis& axis : definition.axes) out["axes"].push_back({{"name", axis.name}, {"value", Json(axis.value)}});
  out["inputs"] = Json::array();
  for (const TensorSpec& tensor : definition.inputs) out["inputs"].push_back(tensor_to_json(tensor, true));
  out["outputs"] = Json::array();
  for (const TensorSpec& tensor : definition.outputs) out["outputs"].push_back(tensor_to_json(tensor, false));
  for (const TensorSpec& tensor : definition.ties) out["ties"].push_back(tensor_to_json(tensor, false));
  out["numerics"] = {{"lower_precision", definition.numerics.lower_precision},
                     {"normwise", Json(definition.numerics.normwise)}};
  out["cost"] = {{"flops", definition.cost.flops}, {"bytes", definition.cost.bytes}};
  if (definition.small_floats == SmallFloats::native) out["small_floats"] = "native";
}

void from_json(const Json& in, Definition& definition) {
  in.at("name").get_to(definition.name);
  read_field(in, "op_type", definition.op_type);
  read_field(in, "description", definition.description);
  for (const Json& item : in.at("axes")) {
    Axis axis;
    item.at("name").get_to(axis.name);
    if (item.contains("value")) item.at("value").get_to(axis.value);
    definition.axes.push_back(std::move(axis));
  }
  for (const Json& item : in.at("inputs")) definition.inputs.push_back(tensor_from_json(item));
  for (const Json& item : in.at("outputs")) definition.outputs.push_back(tensor_from_json(item));
  if (in.value("small_floats", std::string()) == "native") definition.small_floats = SmallFloats::native;
  for (const Json& item : in.value("ties", Json::array())) definition.ties.push_back(tensor_from_json(item));
  if (const auto numerics = in.find("numerics"); numerics != in.end()) {
    read_field(*numerics, "lower_precision", definition.numerics.lower_precision);
    if (numerics->contains("normwise")) numerics->at("normwise").get_to(definition.numerics.normwise);
  }
  if (const auto cost = in.find("cost"); cost != in.end()) {
    read_field(*cost, "flops", definition.cost.flops);
    read_field(*cost, "bytes", definition.cost.bytes);
  }
}

void to_json(Json& out, const Workload& workload) {
  out = {{"name", workload.name},
         {"axes", workload.axes},
         {"role", to_string(workload.role)},
         {"weight", workload.weight}};
}

void from_json(const Json& in, Workload& workload) {
  in.at("name").get_to(workload.name);
  in.at("axes").get_to(workload.axes);
  workload.role = role_from(in.value("role", std::string("race")));
  read_field(in, "weight", workload.weight);
}

void to_json(Json& out, const Task& task) {
  out = {{"definition", task.definition},
         {"workloads", task.workloads},
         {"target", task.target},
         {"baseline", task.baseline},
         {"reference", task.reference},
         {"derived_reference", task.derived_reference},
         {"hints", task.hints},
         {"cpu", {{"threads", task.cpu.threads}, {"cache", task.cpu.cache == Cache::cold ? "cold" : "warm"}}}};
  if (task.entry) {
    out["entry"] = {{"file", task.entry->file}, {"function", task.entry->function}, {"args", task.entry->args}};
    if (!task.entry->returns.empty()) out["entry"]["returns"] = task.entry->returns;
  }
}

void from_json(const Json& in, Task& task) {
  in.at("definition").get_to(task.definition);
  in.at("workloads").get_to(task.workloads);
  in.at("target").get_to(task.target);
  in.at("baseline").get_to(task.baseline);
  in.at("reference").get_to(task.reference);
  read_field(in, "derived_reference", task.derived_reference);
  read_field(in, "hints", task.hints);
  if (const auto cpu = in.find("cpu"); cpu != in.end()) {
    read_field(*cpu, "threads", task.cpu.threads);
    task.cpu.cache = cpu->value("cache", std::string("cold")) == "warm" ? Cache::warm : Cache::cold;
  }
  if (const auto entry = in.find("entry"); entry != in.end() && !entry->is_null()) {
    task.entry.emplace();
    entry->at("file").get_to(task.entry->file);
    entry->at("function").get_to(task.entry->function);
    entry->at("args").get_to(task.entry->args);
    read_field(*entry, "returns", task.entry->returns);
  }
}

}  // namespace accelopt::model
