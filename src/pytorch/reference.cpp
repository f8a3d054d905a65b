// SPDX-License-Identifier: Apache-2.0
#include "pytorch/reference.hpp"

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "evaluation/invocation_axes.hpp"
#include "pytorch/tensor_form.hpp"

namespace accelopt::pytorch {
namespace {

using base::Json;
using evaluation::Invocation;
using evaluation::Precision;
using evaluation::ReferenceTensor;

std::string bytes_of(const ReferenceTensor& tensor, model::DType dtype) {
  if (!model::is_floating(dtype)) return {reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size()};
  return {reinterpret_cast<const char*>(tensor.values.data()), tensor.values.size() * sizeof(double)};
}

class PythonReference {
 public:
  PythonReference(const model::Definition& definition, std::unique_ptr<Worker> worker)
      : definition_(model::reference_definition(definition)), worker_(std::move(worker)) {}

  base::Result<std::vector<ReferenceTensor>> run(Precision precision, const std::vector<ReferenceTensor>& inputs,
                                                 const Invocation& shape) {
    const model::AxisValues axes = evaluation::axes_of(definition_, shape);
    Json request = {{"op", "reference"},
                    {"precision", precision == Precision::float64 ? "float64" : "float32"},
                    {"inputs", Json::array()},
                    {"outputs", Json::array()}};
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const model::TensorSpec& input = definition_.inputs[i];
      if (!input.shape) {
        const std::string bytes = bytes_of(inputs[i], input.dtype);
        const auto stored = model::is_floating(input.dtype) ? model::DType::float64 : input.dtype;
        request["inputs"].push_back(scalar_form(input, stored, std::as_bytes(std::span(bytes))));
        continue;
      }
      Json form = tensor_form(input, axes, "in" + std::to_string(i));
      TRY(base::write_file(worker_->folder() / form["file"].get<std::string>(), bytes_of(inputs[i], input.dtype)));
      request["inputs"].push_back(std::move(form));
    }
    for (std::size_t i = 0; i < definition_.outputs.size(); ++i)
      request["outputs"].push_back(tensor_form(definition_.outputs[i], axes, "out" + std::to_string(i)));
    if (const auto done = worker_->ask(request, {}); !done)
      return base::fail(base::ErrorCode::invalid_argument, "the task's reference: " + done.error().message);
    std::vector<ReferenceTensor> out;
    for (std::size_t i = 0; i < definition_.outputs.size(); ++i) {
      TRY_ASSIGN(ReferenceTensor one, read(definition_.outputs[i], axes, "out" + std::to_string(i)));
      out.push_back(std::move(one));
    }
    return out;
  }

 private:
  base::Result<ReferenceTensor> read(const model::TensorSpec& output, const model::AxisValues& axes,
                                     const std::string& file) const {
    TRY_ASSIGN(const std::string raw, base::read_file(worker_->folder() / file));
    const bool floating = model::is_floating(output.dtype);
    const auto count = static_cast<std::size_t>(model::element_count(output, axes));
    if (raw.size() != count * (floating ? sizeof(double) : model::size_of(output.dtype)))
      return base::fail(base::ErrorCode::invalid_argument,
                        "the task's reference left " + std::to_string(raw.size()) + " bytes of output " + output.name);
    ReferenceTensor out;
    if (floating) {
      out.values.resize(count);
      std::memcpy(out.values.data(), raw.data(), raw.size());
    } else {
      const auto bytes = std::as_bytes(std::span(raw));
      out.bytes.assign(bytes.begin(), bytes.end());
    }
    return out;
  }

  model::Definition definition_;
  std::unique_ptr<Worker> worker_;
};

}  // namespace

base::Result<evaluation::HostReference> make_reference(const model::Task& task, WorkerOptions options,
                                                       const std::stop_token& stop) {
  TRY_ASSIGN(auto worker, Worker::start(std::move(options), stop));
  const auto loaded =
      worker->ask({{"op", "load_reference"}, {"text", task.reference.text}, {"name", task.reference.name}}, stop);
  if (!loaded) return tl::make_unexpected(base::with_context(loaded.error(), task.reference.name));
  auto reference = std::make_shared<PythonReference>(task.definition, std::move(worker));
  return evaluation::HostReference(
      [reference](Precision precision, const std::vector<ReferenceTensor>& inputs, const Invocation& invocation) {
        return reference->run(precision, inputs, invocation);
      });
}

}  // namespace accelopt::pytorch
