// SPDX-License-Identifier: Apache-2.0
#include "model/task.hpp"

#include <algorithm>
#include <functional>

#include "base/expression.hpp"
#include "base/hash.hpp"
#include "base/json_fields.hpp"
#include "base/text.hpp"

namespace accelopt::model {

using base::Json;

namespace {

constexpr auto kSmallFloatsNames =
    std::to_array<base::Named<SmallFloats>>({{SmallFloats::bits, "bits"}, {SmallFloats::native, "native"}});
constexpr auto kCacheNames = std::to_array<base::Named<Cache>>({{Cache::cold, "cold"}, {Cache::warm, "warm"}});

}  // namespace

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

std::vector<std::pair<std::string, std::string>> equal_axes(const Task& task) {
  std::map<std::vector<std::int64_t>, std::string> first_with;
  std::vector<std::pair<std::string, std::string>> equal;
  for (const std::string& axis : variable_axes(task.definition)) {
    if (task.entry && !derived_extent(*task.entry, axis).empty()) continue;
    std::vector<std::int64_t> extents;
    for (const Workload& workload : task.workloads) {
      const auto found = workload.axes.find(axis);
      if (found != workload.axes.end()) extents.push_back(found->second);
    }
    const bool is_one = std::adjacent_find(extents.begin(), extents.end(), std::not_equal_to<>()) == extents.end();
    if (is_one || extents.size() != task.workloads.size()) continue;
    const auto [first, is_new] = first_with.emplace(std::move(extents), axis);
    if (!is_new) equal.emplace_back(axis, first->second);
  }
  return equal;
}

const InitSpec& init_of(const Workload& workload, const TensorSpec& input) {
  const auto own = workload.inits.find(input.name);
  return own == workload.inits.end() ? input.init : own->second;
}

bool is_passed_as_input(const TensorSpec& input) {
  return !input.inout;
}

bool is_known_on_host(const TensorSpec& input) {
  return input.visible || !input.shape;
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

namespace {

/// Whether the generator came with schema 3.
bool is_of_third_schema(const InitSpec& init) {
  return init.kind == InitKind::distinct || init.kind == InitKind::values || !init.expressions[0].empty() ||
         !init.expressions[1].empty();
}

}  // namespace

int schema_of(const Task& task) {
  if (task.entry && !task.entry->content.empty()) return 4;
  const Definition& definition = task.definition;
  const auto has_third = [](const TensorSpec& one) { return one.visible || is_of_third_schema(one.init); };
  const auto draws_itself = [](const Workload& one) { return !one.inits.empty(); };
  if (std::any_of(definition.inputs.begin(), definition.inputs.end(), has_third) ||
      std::any_of(task.workloads.begin(), task.workloads.end(), draws_itself))
    return 3;
  const auto is_new = [](const TensorSpec& one) {
    return one.inout || !one.ties.empty() || one.dtype == DType::uint16 || one.dtype == DType::uint32 ||
           one.dtype == DType::uint64;
  };
  const bool any = std::any_of(definition.inputs.begin(), definition.inputs.end(), is_new) ||
                   std::any_of(definition.outputs.begin(), definition.outputs.end(), is_new);
  const bool returns = task.entry && !task.entry->returns.empty();
  return any || returns || !definition.ties.empty() || definition.small_floats == SmallFloats::native ? 2 : 1;
}

std::string refuse_derived_extent(const std::string& expression) {
  if (const auto fault = base::expression_fault(expression)) return fault->reason;
  const bool is_plain = std::all_of(expression.begin(), expression.end(), [](char one) {
    return base::is_word(one) || std::string_view(" +-*()").find(one) != std::string_view::npos;
  });
  return is_plain ? "" : "an extent is made of axes, whole numbers, + - * and parentheses, like len+taps";
}

std::string derived_extent(const Entry& entry, const std::string& axis) {
  for (const std::string& argument : entry.args) {
    const std::size_t equals = argument.find('=');
    if (equals != std::string::npos && base::trimmed(std::string_view(argument).substr(0, equals)) == axis)
      return std::string(base::trimmed(std::string_view(argument).substr(equals + 1)));
  }
  return "";
}

bool has_exact_output(const Definition& definition) {
  return std::any_of(definition.outputs.begin(), definition.outputs.end(),
                     [](const TensorSpec& output) { return !is_floating(output.dtype) && output.ties.empty(); });
}

std::string language_name(const Task& task) {
  return task.repo ? task.repo->language : std::string(task.baseline.language.key());
}

std::string task_id(const Task& task) {
  Json identity = task;
  identity.erase("hints");
  // Where it lies is no part of it, and `content` says all that `files` does.
  if (task.repo) {
    identity["refactor"].erase("file");
    identity["refactor"].erase("files");
  }
  return base::sha256_hex(base::canonical(identity));
}

namespace {

/// Throws what nlohmann::json throws: from_json's way to refuse a value.
[[noreturn]] void refuse(const std::string& message, const Json& where) {
  throw Json::other_error::create(501, message, &where);
}

std::string_view dtype_to_json(DType dtype) {
  return to_string(dtype);
}

DType dtype_from_json(const Json& in) {
  const auto dtype = parse_dtype(in.get<std::string>());
  if (!dtype) refuse("unknown dtype", in);
  return *dtype;
}

}  // namespace

ACCELOPT_JSON(Axis) {
  field.required("name", it.name);
  field.optional("value", it.value);
}

ACCELOPT_JSON(TensorSpec) {
  field.required("name", it.name);
  field.converted("dtype", it.dtype, &dtype_to_json, &dtype_from_json);
  field.required("shape", it.shape);
  field.unless_empty("inout", it.inout, "ties", it.ties, "visible", it.visible);
}

namespace {

InitSpec init_from_text(const std::string& text) {
  auto init = parse_init(text);
  if (!init) refuse(init.error().message, text);
  return *init;
}

std::map<std::string, InitSpec> inits_from_texts(const std::map<std::string, std::string>& texts) {
  std::map<std::string, InitSpec> out;
  for (const auto& [name, text] : texts) out.emplace(name, init_from_text(text));
  return out;
}

/// Of an input: how it is drawn besides what an output has.
Json inputs_to_json(const std::vector<TensorSpec>& inputs) {
  Json out = Json::array();
  for (const TensorSpec& tensor : inputs) {
    Json& one = out.emplace_back(tensor);
    one["init"] = to_string(tensor.init);
    one["families"] = Json::array();
    for (const Family family : tensor.families) one["families"].push_back(to_string(family));
  }
  return out;
}

std::vector<TensorSpec> inputs_from_json(const Json& in) {
  auto inputs = in.get<std::vector<TensorSpec>>();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (const auto text = in[i].find("init"); text != in[i].end()) {
      inputs[i].init = init_from_text(text->get<std::string>());
    }
    for (const Json& name : in[i].value("families", Json::array())) {
      auto families = parse_family(name.get<std::string>());
      if (!families) refuse(families.error().message, in[i]);
      inputs[i].families.insert(inputs[i].families.end(), families->begin(), families->end());
    }
  }
  return inputs;
}

}  // namespace

ACCELOPT_JSON(Definition) {
  field.required("name", it.name);
  field.optional("op_type", it.op_type, "description", it.description);
  field.required("axes", it.axes);
  field.converted("inputs", it.inputs, &inputs_to_json, &inputs_from_json);
  field.required("outputs", it.outputs);
  field.unless_empty("ties", it.ties);
  field.nested("numerics", [&it](auto& inner) {
    inner.optional("lower_precision", it.numerics.lower_precision, "normwise", it.numerics.normwise);
  });
  field.nested("cost", [&it](auto& inner) { inner.optional("flops", it.cost.flops, "bytes", it.cost.bytes); });
  if (field.kReads || it.small_floats == SmallFloats::native)
    field.optional_name("small_floats", it.small_floats, kSmallFloatsNames);
}

ACCELOPT_JSON(Workload) {
  field.required("name", it.name, "axes", it.axes);
  field.optional_name("role", it.role, Names<Role>::kTable);
  field.optional("weight", it.weight);
  std::map<std::string, std::string> inits;
  for (const auto& [name, init] : it.inits) inits.emplace(name, to_string(init));
  field.unless_empty("inputs", inits);
  if constexpr (Field::kReads) it.inits = inits_from_texts(inits);
}

ACCELOPT_JSON(Entry) {
  field.required("file", it.file, "function", it.function, "args", it.args);
  field.unless_empty("returns", it.returns, "content", it.content);
}

ACCELOPT_JSON(RepoPart) {
  field.required("file", it.file, "content", it.content, "commit", it.commit, "language", it.language, "scope",
                 it.scope);
  field.unless_empty("files", it.files);
}

ACCELOPT_JSON(Task) {
  field.required("definition", it.definition, "workloads", it.workloads, "target", it.target, "baseline", it.baseline,
                 "reference", it.reference);
  field.optional("derived_reference", it.derived_reference, "hints", it.hints);
  field.nested("cpu", [&it](auto& inner) {
    inner.optional("threads", it.cpu.threads);
    inner.optional_name("cache", it.cpu.cache, kCacheNames);
  });
  field.unless_empty("entry", it.entry, "refactor", it.repo);
}

}  // namespace accelopt::model
