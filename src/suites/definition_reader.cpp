// SPDX-License-Identifier: Apache-2.0
#include "suites/definition_reader.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/expression.hpp"
#include "base/text.hpp"
#include "suites/c_names.hpp"
#include "suites/init_check.hpp"

namespace accelopt::suites {

using base::in_quotes;
using base::join_names;
using base::Problem;
using base::TableReader;
using base::TomlEntry;
using base::TomlKind;
using base::TomlNode;
using base::unknown_name;
using model::DType;
using model::TensorSpec;

namespace {

constexpr std::size_t kMostAxes = 64;
constexpr std::size_t kMostTensors = 64;  ///< inputs, and outputs
constexpr std::size_t kMostRank = 16;
constexpr std::size_t kLongestShownName = 200;  ///< bytes

/// Names that share the kernel's scope, each with what it names.
class Scope {
 public:
  /// Why the name cannot be used for `what`; empty when it can, and it is taken from now on.
  std::string take(const std::string& name, const std::string& what) {
    if (std::string reason = refuse_c_name(name); !reason.empty()) return reason;
    const auto [place, added] = taken_.emplace(name, what);
    return added ? "" : in_quotes(name) + " is already the name of " + place->second + "; choose another name";
  }

 private:
  std::map<std::string, std::string> taken_;
};

std::vector<std::string> dtype_names() {
  std::vector<std::string> names;
  for (const DType dtype : {DType::float64, DType::float32, DType::float16, DType::bfloat16, DType::float8_e4m3fn,
                            DType::float8_e5m2, DType::int64, DType::int32, DType::int16, DType::int8, DType::uint64,
                            DType::uint32, DType::uint16, DType::uint8, DType::boolean}) {
    names.emplace_back(to_string(dtype));
  }
  return names;
}

void read_axes(TableReader& root, model::Definition& definition, Scope& scope, std::vector<Problem>& problems) {
  const TomlNode* axes = root.table("axes", "[axes] with one line an axis: M = \"var\" or K = 1024");
  if (!axes) return;
  if (axes->entries.size() > kMostAxes) {
    return root.refuse("axes", std::to_string(axes->entries.size()) + " are too many; a task has at most " +
                                   std::to_string(kMostAxes));
  }
  for (const TomlEntry& entry : axes->entries) {
    const auto refuse = [&](std::string message) {
      problems.push_back({entry.line, root.path("axes") + "." + entry.key, std::move(message), ""});
    };
    if (std::string reason = scope.take(entry.key, "an axis"); !reason.empty()) refuse(std::move(reason));
    const TomlNode& value = entry.value;
    const bool variable = value.kind == TomlKind::string && value.text == "var";
    const bool constant = value.kind == TomlKind::integer && value.integer >= 1;
    if (value.kind == TomlKind::string && value.text == "?") {
      refuse("left open (\"?\"); write \"var\" (bound by each workload) or the axis's extent, a positive integer");
    } else if (!variable && !constant) {
      refuse("must be \"var\" (bound by each workload) or the axis's extent, a positive integer");
    }
    // A refused axis stays known, so that what uses it is not refused as well.
    definition.axes.push_back({entry.key, variable ? std::nullopt : std::optional(constant ? value.integer : 1)});
  }
}

void read_shape(TableReader& table, TensorSpec& tensor, const model::Definition& definition) {
  const std::vector<std::string> known = axis_names(definition);
  tensor.shape = table.strings(
      "shape", "the axis names, outermost first, like [\"M\", \"K\"]; known axes are " + join_names(known));
  if (!tensor.shape) return;
  if (tensor.shape->size() > kMostRank) {
    table.refuse("shape", "has " + std::to_string(tensor.shape->size()) + " axes; a tensor has at most " +
                              std::to_string(kMostRank));
    tensor.shape->resize(kMostRank);
  }
  for (const std::string& axis : *tensor.shape) {
    if (std::find(known.begin(), known.end(), axis) == known.end()) {
      table.refuse("shape", unknown_axis(axis, definition));
    }
  }
}

/// Whether the dtype could be read.
bool read_dtype(TableReader& table, TensorSpec& tensor) {
  static const std::vector<std::string> kNames = dtype_names();
  const std::string known = "one of " + join_names(kNames);
  const auto name = table.string("dtype", known);
  if (!name && !table.has("dtype")) table.require("dtype", known);
  if (!name) return false;
  const auto dtype = model::parse_dtype(*name);
  if (dtype) {
    tensor.dtype = *dtype;
    return true;
  }
  table.refuse("dtype", unknown_name("dtype", *name, kNames));
  return false;
}

void read_init(TableReader& table, TensorSpec& tensor, const model::Definition& definition, bool dtype_is_known) {
  const auto text = table.string("init", "how elements are drawn, like normal(0, 1) or integers(0, 10)");
  if (!text && !table.has("init")) {
    table.require("init", "how elements are drawn, like normal(0, 1) or integers(0, 10)");
  }
  if (!text) return;
  const auto init = model::parse_init(*text);
  if (!init) return table.refuse("init", init.error().message);
  tensor.init = *init;
  const std::vector<std::string> known = axis_names(definition);
  for (const std::string& name : names_in(*init)) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      table.refuse("init", unknown_axis(name, definition));
  }
  if (!dtype_is_known) return;
  if (std::string reason = refuse_init(tensor, *init); !reason.empty()) table.refuse("init", std::move(reason));
}

void read_families(TableReader& table, TensorSpec& tensor) {
  const auto names = table.strings("families", "some of " + std::string(model::kFamilyNames));
  if (!names) return;
  for (const std::string& name : *names) {
    const auto families = model::parse_family(name);
    if (!families) {
      table.refuse("families", families.error().message);
      continue;
    }
    for (const model::Family family : *families) {
      const bool there = std::find(tensor.families.begin(), tensor.families.end(), family) != tensor.families.end();
      if (!there) tensor.families.push_back(family);
    }
  }
  const auto is_extremes = [](model::Family family) { return family == model::Family::extremes; };
  if (!is_floating(tensor.dtype) && !std::ranges::all_of(tensor.families, is_extremes))
    table.refuse("families", "only floating inputs can be transformed; of integers(low, high) name \"extremes\" alone");
  if (is_floating(tensor.dtype) && std::ranges::any_of(tensor.families, is_extremes))
    table.refuse("families", "extremes is for integer inputs");
}

void read_visible(TableReader& table, TensorSpec& tensor) {
  tensor.visible = table.boolean("visible").value_or(false);
  if (tensor.visible && !tensor.shape)
    table.refuse("visible", "a scalar is passed by value, so that its value is known; leave the key out");
}

enum class Side { input, inout, output, ties };

struct SideNames {
  std::string key;
  std::string what;
};

SideNames names_of(Side side) {
  switch (side) {
    case Side::input:
      return {"inputs", "an input"};
    case Side::inout:
      return {"inout", "an inout tensor"};
    case Side::output:
      return {"outputs", "an output"};
    case Side::ties:
      return {"ties", "a ties tensor"};
  }
  return {};
}

/// The output that an inout tensor is.
TensorSpec output_of(const TensorSpec& inout) {
  TensorSpec output = inout;
  output.init = {};
  output.families.clear();
  return output;
}

TensorSpec read_tensor(TableReader& table, Side side, const model::Definition& definition, Scope& scope) {
  TensorSpec tensor;
  const std::string what = names_of(side).what;
  if (const auto name = table.string("name", "the parameter's name")) {
    tensor.name = *name;
    if (std::string reason = scope.take(*name, what); !reason.empty()) table.refuse("name", std::move(reason));
  } else if (!table.has("name")) {
    table.require("name", "the parameter's name");
  }
  read_shape(table, tensor, definition);
  if (side != Side::input && !table.has("shape")) {
    table.require("shape",
                  "the axis names, outermost first; [] is a 0-d tensor; " + what + " cannot be passed by value");
  }
  const bool dtype_is_known = read_dtype(table, tensor);
  tensor.inout = side == Side::inout;
  if (side == Side::output) tensor.ties = table.string("ties", "the tensor whose values its indices name").value_or("");
  if (side == Side::input || side == Side::inout) {
    read_init(table, tensor, definition, dtype_is_known);
    read_families(table, tensor);
  }
  if (side == Side::input) read_visible(table, tensor);
  table.finish();
  return tensor;
}

/// Reads the tensors of one kind, after those of the kinds before it.
void read_tensors(TableReader& root, Side side, model::Definition& definition, Scope& scope,
                  std::vector<Problem>& problems) {
  const std::string key = names_of(side).key;
  auto& tensors = side == Side::output ? definition.outputs : side == Side::ties ? definition.ties : definition.inputs;
  const std::string form = "[[" + key + "]] with name, shape and dtype";
  const auto tables = root.tables(key, form);
  if (tables.size() > kMostTensors) {
    return root.refuse(
        key, std::to_string(tables.size()) + " are too many; a task has at most " + std::to_string(kMostTensors));
  }
  for (std::size_t i = 0; i < tables.size(); ++i) {
    TableReader table(*tables[i], root.path(key) + "[" + std::to_string(i) + "]", problems);
    tensors.push_back(read_tensor(table, side, definition, scope));
    if (side == Side::inout) definition.outputs.push_back(output_of(tensors.back()));
  }
}

/// A task without inputs or without outputs is none; inout tensors are both.
void require_tensors(TableReader& root) {
  for (const std::string key : {"inputs", "outputs"}) {
    const auto lacks = [&](const std::string& name) {
      const TomlKind* const kind = root.kind(name);
      return !kind || (*kind == TomlKind::array && root.tables(name, "").empty());
    };
    if (lacks(key) && lacks("inout")) root.require(key, "at least one [[" + key + "]] with name, shape and dtype");
  }
}

/// Why the indices of the output cannot name elements of the tensor's last axis; empty when they can.
std::string refuse_ties_between(const TensorSpec& output, const model::Definition& definition) {
  const TensorSpec* values = nullptr;
  std::string known;
  for (const auto* tensors : {&definition.ties, &definition.outputs}) {
    for (const TensorSpec& one : *tensors) {
      if (one.name == output.ties) values = &one;
      if (is_floating(one.dtype)) known += (known.empty() ? "" : ", ") + one.name;
    }
  }
  if (is_floating(output.dtype) || output.dtype == DType::boolean) return "belongs to outputs that are indices";
  if (values == nullptr) {
    return in_quotes(output.ties) + " is no [[ties]] tensor and no output; known are " +
           (known.empty() ? "none" : known);
  }
  if (!is_floating(values->dtype)) return in_quotes(output.ties) + " must have a floating dtype";
  if (values->inout) return in_quotes(output.ties) + " is an inout tensor; name a [[ties]] tensor";
  std::vector<std::string> rows = values->shape.value_or(std::vector<std::string>{});
  std::vector<std::string> own = output.shape.value_or(std::vector<std::string>{});
  const std::string needed = in_quotes(output.ties) +
                             " must have the output's rows and one more axis, the last, which the indices name: "
                             "indices [\"Q\", \"k\"] or [\"Q\"] of values [\"Q\", \"N\"]";
  if (rows.empty()) return needed;
  rows.pop_back();
  if (own == rows) return "";
  if (!own.empty()) own.pop_back();
  return own == rows && output.shape->size() == rows.size() + 1 ? "" : needed;
}

void check_ties(TableReader& root, const model::Definition& definition, std::vector<Problem>& problems) {
  std::size_t place = 0;
  for (const TensorSpec& output : definition.outputs) {
    if (output.inout) continue;
    const std::string key = root.path("outputs") + "[" + std::to_string(place++) + "].ties";
    if (output.ties.empty()) continue;
    if (std::string reason = refuse_ties_between(output, definition); !reason.empty()) {
      problems.push_back({root.line("outputs"), key, std::move(reason), ""});
    }
  }
  for (std::size_t i = 0; i < definition.ties.size(); ++i) {
    const TensorSpec& values = definition.ties[i];
    const bool used = std::any_of(definition.outputs.begin(), definition.outputs.end(),
                                  [&](const TensorSpec& output) { return output.ties == values.name; });
    const std::string key = root.path("ties") + "[" + std::to_string(i) + "].name";
    if (!used) problems.push_back({root.line("ties"), key, "no output says ties = " + in_quotes(values.name), ""});
  }
}

/// A kernel may take any of several equal values: no index is wrong then, and no two need agree.
void refuse_ties(const TableReader& root, const model::Definition& definition, std::vector<Problem>& problems) {
  if (!model::has_exact_output(definition)) return;
  for (std::size_t i = 0; i < definition.inputs.size(); ++i) {
    const auto& families = definition.inputs[i].families;
    if (std::find(families.begin(), families.end(), model::Family::near_ties) == families.end()) continue;
    problems.push_back({root.line("inputs"), root.path("inputs") + "[" + std::to_string(i) + "].families",
                        "near_ties needs outputs of floating types, or with ties: which of two nearly equal values an "
                        "index names is for each kernel to say; leave it out",
                        ""});
  }
}

void read_numerics(TableReader& root, model::Numerics& numerics, std::vector<Problem>& problems) {
  const TomlNode* node = root.table("numerics", "[numerics]");
  if (!node) return;
  TableReader table(*node, root.path("numerics"), problems);
  numerics.lower_precision = table.boolean("lower_precision").value_or(false);
  numerics.normwise = table.real("normwise", "a relative error bound such as 2e-5");
  if (numerics.normwise && !(*numerics.normwise > 0 && *numerics.normwise < 1)) {
    table.refuse("normwise", "must be over 0 and under 1, such as 2e-5");
  }
  table.finish();
}

void read_cost_item(TableReader& table, std::string_view key, std::string& expression,
                    const model::Definition& definition) {
  const auto text = table.string(key, "an expression over the axes, like \"2*M*N*K\"");
  if (!text) return;
  expression = *text;
  const auto names = base::expression_names(*text);
  if (!names) return table.refuse(key, names.error().message);
  const std::vector<std::string> known = axis_names(definition);
  for (const std::string& name : *names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) table.refuse(key, unknown_axis(name, definition));
  }
}

void read_cost(TableReader& root, model::Definition& definition, std::vector<Problem>& problems) {
  const TomlNode* node = root.table("cost", "[cost] with flops and bytes");
  if (!node) return;
  TableReader table(*node, root.path("cost"), problems);
  read_cost_item(table, "flops", definition.cost.flops, definition);
  read_cost_item(table, "bytes", definition.cost.bytes, definition);
  table.finish();
}

}  // namespace

std::string refuse_shown_name(std::string_view name) {
  if (name.size() > kLongestShownName)
    return fmt::format("has {} bytes; choose a name of at most {}", name.size(), kLongestShownName);
  while (!name.empty()) {
    const base::Character c = base::first_character(name);
    if (!c.valid) return "is not UTF-8; choose another name";
    if (c.code < ' ' || base::is_control(c.code) || base::changes_direction(c.code) || base::is_invisible(c.code))
      return fmt::format("holds the character U+{:04X}, which cannot be shown; leave it out",
                         static_cast<std::uint32_t>(c.code));
    name.remove_prefix(c.bytes);
  }
  return {};
}

std::vector<std::string> axis_names(const model::Definition& definition) {
  std::vector<std::string> names;
  for (const model::Axis& axis : definition.axes) names.push_back(axis.name);
  return names;
}

std::string unknown_axis(std::string_view name, const model::Definition& definition) {
  return "unknown axis " + in_quotes(name) + "; known axes are " + join_names(axis_names(definition));
}

void read_definition(TableReader& root, model::Definition& definition, std::vector<Problem>& problems) {
  Scope scope;
  if (const auto name = root.string("name", "the task's name")) {
    definition.name = *name;
    if (name->empty()) root.refuse("name", "must not be empty; write the task's name");
    if (std::string reason = refuse_shown_name(*name); !reason.empty()) root.refuse("name", std::move(reason));
  } else if (!root.has("name")) {
    root.require("name", "the task's name");
  }
  definition.op_type = root.string("op_type", "the kind of operator, like \"matmul\"").value_or("");
  if (std::string reason = refuse_shown_name(definition.op_type); !reason.empty())
    root.refuse("op_type", std::move(reason));
  definition.description = root.string("description", "one line: what is computed").value_or("");
  read_axes(root, definition, scope, problems);
  read_tensors(root, Side::input, definition, scope, problems);
  read_tensors(root, Side::inout, definition, scope, problems);
  read_tensors(root, Side::output, definition, scope, problems);
  read_tensors(root, Side::ties, definition, scope, problems);
  require_tensors(root);
  check_ties(root, definition, problems);
  refuse_ties(root, definition, problems);
  if (const auto form = root.string("small_floats", "\"bits\" or \"native\"")) {
    if (*form != "bits" && *form != "native") root.refuse("small_floats", "must be \"bits\" or \"native\"");
    definition.small_floats = *form == "native" ? model::SmallFloats::native : model::SmallFloats::bits;
  }
  read_numerics(root, definition.numerics, problems);
  read_cost(root, definition, problems);
}

}  // namespace accelopt::suites
