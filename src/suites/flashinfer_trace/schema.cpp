// SPDX-License-Identifier: Apache-2.0
#include "suites/flashinfer_trace/schema.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "base/text.hpp"
#include "suites/flashinfer_trace/fields.hpp"
#include "suites/flashinfer_trace/languages.hpp"
#include "suites/flashinfer_trace/python_text.hpp"

namespace accelopt::suites::flashinfer_trace {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr int kDeepest = 64;
/// Keys of one object: ordered objects are searched one key after the other.
constexpr std::size_t kMostKeys = 4096;
constexpr std::size_t kMostRank = 16;

tl::unexpected<base::Error> refuse(std::string problem) {
  return fail(ErrorCode::parse, std::move(problem));
}

std::vector<Tensor> read_tensors(Fields& fields, const char* name, const std::set<std::string>& axes,
                                 std::string& problem) {
  std::vector<Tensor> out;
  for (const auto& [key, value] : fields.object(name).items()) {
    Fields tensor(value, fields.path(std::string(name) + "." + key), problem);
    Tensor one{key, std::nullopt, tensor.text("dtype")};
    if (value.is_object() && !value.contains("shape")) tensor.refuse("shape", "is missing; null is a scalar");
    if (tensor.has("shape")) one.shape = tensor.texts("shape");
    if (one.shape && one.shape->size() > kMostRank) tensor.refuse("shape", "has more than 16 axes");
    for (const std::string& axis : one.shape.value_or(std::vector<std::string>{})) {
      if (!axes.contains(axis))
        tensor.refuse("shape", "names \"" + base::ascii_line(axis, 80) + "\", which is no axis");
    }
    out.push_back(std::move(one));
  }
  return out;
}

std::vector<Axis> read_axes(Fields& fields, std::string& problem) {
  std::vector<Axis> out;
  for (const auto& [key, value] : fields.object("axes").items()) {
    Fields axis(value, fields.path("axes." + key), problem);
    const std::string type = axis.text_or("type");
    Axis one{key, std::nullopt};
    if (type == "const" || (type.empty() && axis.has("value"))) {
      one.value = axis.count("value");
    } else if (type == "expr") {
      one.expression = axis.text("expression");
    } else if (type != "var" && !type.empty()) {
      axis.refuse("type", "must be const, var or expr");
    }
    out.push_back(std::move(one));
  }
  return out;
}

InputDescriptor read_descriptor(const OrderedJson& value, std::string path, std::string& problem) {
  Fields fields(value, std::move(path), problem);
  InputDescriptor out;
  const std::string type = fields.text_or("type");
  if (type == "scalar" || (type.empty() && fields.has("value"))) {
    out.source = InputSource::scalar;
    const auto truth = value.is_object() && value.contains("value") && value["value"].is_boolean()
                           ? fields.boolean("value")
                           : std::nullopt;
    out.value = truth ? (*truth ? 1 : 0) : fields.number("value");
    out.rounded = value.is_object() && value.contains("value") && is_rounded(value["value"]);
    if (!std::isfinite(out.value)) fields.refuse("value", "is not finite: no kernel can be judged with it");
  } else if (type == "safetensors" || (type.empty() && fields.has("path"))) {
    out.source = InputSource::safetensors;
    out.path = fields.text("path");
    out.tensor = fields.text("tensor_key");
  } else if (type == "custom") {
    out.source = InputSource::custom;
  } else if (type != "random" && !type.empty()) {
    fields.refuse("type", "must be random, scalar, safetensors or custom");
  }
  return out;
}

/// Why the path cannot be a source's: it must stay in the folder where sources are put.
std::string refuse_source_path(const std::string& text) {
  const std::filesystem::path path(text);
  const bool leaves =
      path.is_absolute() || std::any_of(path.begin(), path.end(), [](const auto& part) { return part == ".."; });
  if (leaves) return "leaves the solution's folder";
  if (text.size() > 256 || base::ascii_line(text, text.size()) != text || !path.has_filename() ||
      path.filename() == ".")
    return "is no name of a file";
  return "";
}

void read_sources(Fields& fields, Solution& out, std::string& problem) {
  std::set<std::string> paths;
  for (const OrderedJson& value : fields.array("sources")) {
    Fields source(value, fields.path("sources"), problem);
    model::SourceFile file{source.text("path"), source.text("content")};
    if (std::string why = refuse_source_path(file.name); !why.empty() && problem.empty()) source.refuse("path", why);
    if (!paths.insert(file.name).second) source.refuse("path", "is there twice: " + base::ascii_line(file.name, 80));
    out.sources.push_back(std::move(file));
  }
  for (const std::string& path : paths) {
    for (auto slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
      if (paths.contains(path.substr(0, slash)))
        fields.refuse("sources", "has a file in a file: " + base::ascii_line(path, 80));
    }
  }
  if (!paths.contains(out.entry_file)) fields.refuse("spec.entry_point", "names a file that is none of the sources");
}

}  // namespace

Result<OrderedJson> parse_bounded(std::string_view text) {
  std::vector<std::size_t> keys;
  std::string problem;
  const auto watch = [&](int depth, OrderedJson::parse_event_t event, OrderedJson&) {
    using Event = OrderedJson::parse_event_t;
    if (event == Event::object_start || event == Event::array_start) {
      if (depth >= kDeepest) throw OrderedJson::other_error::create(501, "is nested too deeply", nullptr);
      keys.push_back(0);
    }
    if (event == Event::key && ++keys.back() > kMostKeys)
      throw OrderedJson::other_error::create(501, "has an object of too many keys", nullptr);
    if (event == Event::object_end || event == Event::array_end) keys.pop_back();
    return true;
  };
  try {
    return OrderedJson::parse(text, watch);
  } catch (const nlohmann::json::exception& thrown) {
    // The text after the last "]" of the library's own prefix, "[json.exception.parse_error.101] ".
    const std::string what = thrown.what();
    const auto prefix = what.find("] ");
    return refuse("no JSON that can be read: " +
                  base::ascii_line(prefix == std::string::npos ? what : what.substr(prefix + 2), 300));
  }
}

Result<Definition> read_definition(const OrderedJson& json) {
  std::string problem;
  Fields fields(json, "", problem);
  Definition out;
  out.name = fields.text("name");
  out.op_type = fields.text_or("op_type");
  out.description = fields.text_or("description");
  out.axes = read_axes(fields, problem);
  std::set<std::string> axes;
  for (const Axis& axis : out.axes) axes.insert(axis.name);
  out.inputs = read_tensors(fields, "inputs", axes, problem);
  out.outputs = read_tensors(fields, "outputs", axes, problem);
  for (const Tensor& output : out.outputs) {
    const bool twice = std::any_of(out.inputs.begin(), out.inputs.end(),
                                   [&](const Tensor& input) { return input.name == output.name; });
    if (twice) fields.refuse("outputs." + output.name, "is an input too");
  }
  if (out.inputs.empty()) fields.refuse("inputs", "is empty");
  if (out.outputs.empty()) fields.refuse("outputs", "is empty");
  out.reference = fields.text("reference");
  if (problem.empty() && !find_function(out.reference, "run")) fields.refuse("reference", "has no function run");
  out.constraints = fields.texts("constraints");
  if (!problem.empty()) return refuse(problem);
  out.json = json;
  return out;
}

Result<Workload> read_workload(const OrderedJson& json) {
  std::string problem;
  Fields fields(json, "", problem);
  Workload out;
  out.uuid = fields.text("uuid");
  for (const auto& [key, value] : fields.object("axes").items()) {
    const auto extent = lax_count(value);
    if (!extent) fields.refuse("axes." + key, "must be a whole number, 0 or more");
    out.axes[key] = extent.value_or(0);
  }
  for (const auto& [key, value] : fields.object("inputs").items())
    out.inputs[key] = read_descriptor(value, fields.path("inputs." + key), problem);
  if (!problem.empty()) return refuse(problem);
  out.json = json;
  return out;
}

Result<Solution> read_solution(const OrderedJson& json) {
  std::string problem;
  Fields fields(json, "", problem);
  Solution out;
  out.name = fields.text("name");
  out.definition = fields.text("definition");
  out.author = fields.text_or("author");
  Fields spec(fields.object("spec"), "spec", problem);
  const std::vector<std::string> languages = spec.texts("languages");
  out.language = common_name(spec.has("language") || languages.empty() ? spec.text("language") : languages.front());
  out.binding = spec.text_or("binding");
  out.destination_passing = spec.boolean("destination_passing_style");
  const std::string entry = spec.text("entry_point");
  const auto colons = entry.find("::");
  if (colons == std::string::npos || entry.find("::", colons + 2) != std::string::npos) {
    spec.refuse("entry_point", "must be FILE::FUNCTION");
  } else {
    out.entry_file = entry.substr(0, colons);
    out.entry_symbol = entry.substr(colons + 2);
  }
  read_sources(fields, out, problem);
  if (!problem.empty()) return refuse(problem);
  out.json = json;
  return out;
}

Result<Trace> read_trace(const OrderedJson& json) {
  std::string problem;
  Fields fields(json, "", problem);
  Trace out;
  out.definition = fields.text("definition");
  out.solution = fields.text("solution");
  Fields workload(fields.object("workload"), "workload", problem);
  out.workload = workload.text("uuid");
  Fields evaluation(fields.object("evaluation"), "evaluation", problem);
  out.status = evaluation.text("status");
  if (problem.empty() && evaluation.has("performance")) {
    Fields performance(evaluation.object("performance"), "evaluation.performance", problem);
    if (performance.has("latency_ms")) out.latency_ms = performance.number("latency_ms");
  }
  if (out.status == "PASSED" && !evaluation.has("performance"))
    evaluation.refuse("performance", "is missing from an evaluation that PASSED");
  if (!problem.empty()) return refuse(problem);
  return out;
}

}  // namespace accelopt::suites::flashinfer_trace
