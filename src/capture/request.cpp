// SPDX-License-Identifier: Apache-2.0
#include "capture/request.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/base64.hpp"

namespace accelopt::capture {
namespace {

using base::Json;

/// What the first file is called where its own name is no module's.
constexpr const char* kPlainName = "kernel.py";

/// The name of the first file, as the capturing process takes it.
std::string main_name(const model::Solution& solution) {
  const std::string& own = solution.sources.front().name;
  const bool plain = own.size() <= 100 && own.ends_with(".py") && own.front() != '.' &&
                     std::all_of(own.begin(), own.end(), [](unsigned char c) {
                       return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
                     });
  return plain ? own : kPlainName;
}

Json form_of(const Tensor& tensor) {
  Json out = {{"name", tensor.name}, {"dtype", model::to_string(tensor.dtype)}};
  if (!tensor.value.is_null()) {
    out["value"] = tensor.value;
    return out;
  }
  out["shape"] = tensor.shape;
  if (tensor.inout) out["inout"] = true;
  if (tensor.visible) out["visible"] = base::to_base64(*tensor.visible);
  return out;
}

Json form_of(const Request& request, const char* operation) {
  Json files = Json::array();
  const std::string main = main_name(request.solution);
  for (const model::SourceFile& file : request.solution.sources)
    files.push_back({{"name", files.empty() ? main : file.name}, {"content", file.text}});
  Json workloads = Json::array();
  for (const Shapes& shapes : request.workloads) {
    Json inputs = Json::array();
    for (const Tensor& tensor : shapes.inputs) inputs.push_back(form_of(tensor));
    Json outputs = Json::array();
    for (const Tensor& tensor : shapes.outputs) outputs.push_back(form_of(tensor));
    workloads.push_back({{"name", shapes.name}, {"inputs", std::move(inputs)}, {"outputs", std::move(outputs)}});
  }
  return {{"op", operation},
          {"arch", request.architecture},
          {"files", std::move(files)},
          {"entry", main + "::" + request.function},
          {"convention", "auto"},
          {"configurations", request.configurations},
          {"workloads", std::move(workloads)}};
}

}  // namespace

Shapes shapes_of(const model::Definition& definition, const model::AxisValues& axes, std::string name) {
  Shapes out{std::move(name), {}, {}};
  for (const model::TensorSpec& input : definition.inputs) {
    auto shape = input.shape ? model::shape_of(input, axes) : std::vector<std::int64_t>();
    out.inputs.push_back({input.name, input.dtype, std::move(shape), input.inout});
  }
  for (const model::TensorSpec& output : definition.outputs) {
    if (!output.inout) out.outputs.push_back({output.name, output.dtype, model::shape_of(output, axes), false});
  }
  return out;
}

Json capture_request(const Request& request) {
  return form_of(request, "capture");
}

Json trace_request(const Request& request) {
  Json out = form_of(request, "trace");
  out.erase("arch");
  out["limits"] = {{"processes", 1}, {"host_s", 40}};  // a kernel needs no other; large ones issue 150,000 instructions
  return out;
}

Json interpret_request(const Request& request, const std::filesystem::path& folder) {
  Json out = form_of(request, "interpret");
  out["folder"] = folder.string();
  return out;
}

std::string tensor_file(const Shapes& workload, const Tensor& tensor) {
  return workload.name + "." + tensor.name + ".bin";
}

std::string output_file(const Shapes& workload, const Tensor& tensor) {
  return workload.name + "." + tensor.name + (tensor.inout ? ".out.bin" : ".bin");
}

}  // namespace accelopt::capture
