// SPDX-License-Identifier: Apache-2.0
#include "pytorch/solution.hpp"

#include <span>
#include <utility>

#include "base/files.hpp"
#include "pytorch/tensor_form.hpp"

namespace accelopt::pytorch {
namespace {

using base::Json;

constexpr int kCalls = 30;
constexpr const char* kFunction = "run";

}  // namespace

base::Result<Worker*> SolutionRunner::worker_of(const model::Kernel& kernel, const Json& configurations,
                                                const std::stop_token& stop) {
  if (worker_ && loaded_ == kernel.id()) return worker_.get();
  worker_.reset();
  TRY_ASSIGN(worker_, Worker::start(options_, stop));
  Json files = Json::array();
  for (const model::SourceFile& file : kernel.solution().sources)
    files.push_back({{"name", file.name}, {"content", file.text}});
  TRY(worker_->ask({{"op", "load_solution"},
                    {"files", std::move(files)},
                    {"function", kFunction},
                    {"configurations", configurations}},
                   stop));
  loaded_ = kernel.id();
  return worker_.get();
}

base::Result<evaluation::HostCalls> SolutionRunner::run(const model::Kernel& kernel, const Json& configurations,
                                                        const model::AxisValues& axes,
                                                        const std::vector<evaluation::Bytes>& inputs,
                                                        const std::stop_token& stop) {
  TRY_ASSIGN(Worker* const worker, worker_of(kernel, configurations, stop));
  Json request = {{"op", "call"}, {"calls", kCalls}, {"inputs", Json::array()}, {"outputs", Json::array()}};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const model::TensorSpec& input = definition_.inputs[i];
    if (!input.shape) {
      request["inputs"].push_back(scalar_form(input, input.dtype, inputs[i]));
      continue;
    }
    const std::string file = "in" + std::to_string(i);
    TRY(base::write_file(worker->folder() / file,
                         std::string(reinterpret_cast<const char*>(inputs[i].data()), inputs[i].size())));
    request["inputs"].push_back(tensor_form(input, axes, file));
  }
  for (std::size_t i = 0; i < definition_.outputs.size(); ++i)
    request["outputs"].push_back(tensor_form(definition_.outputs[i], axes, "out" + std::to_string(i)));
  TRY_ASSIGN(const Json answer, worker->ask(request, stop));
  evaluation::HostCalls out;
  out.where = worker->version();
  TRY_ASSIGN(out.microseconds, base::decode<std::vector<double>>(answer.value("microseconds", Json()), "microseconds"));
  for (std::size_t i = 0; i < definition_.outputs.size(); ++i) {
    TRY_ASSIGN(std::string bytes, base::read_file(worker->folder() / ("out" + std::to_string(i))));
    out.outputs.push_back(std::move(bytes));
  }
  return out;
}

}  // namespace accelopt::pytorch
