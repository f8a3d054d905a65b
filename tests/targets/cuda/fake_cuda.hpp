// SPDX-License-Identifier: Apache-2.0
// The CUDA target without CUDA: kernels are built by g++ with fakes/cuda/shim.hpp, the driver is fakes/cuda/driver.cpp.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "evaluation/evaluator.hpp"
#include "evaluation/target.hpp"
#include "fakes/cuda/compile.hpp"
#include "targets/cuda/cuda_target.hpp"
#include "targets/cuda/description.hpp"
#include "targets/cuda/program.hpp"
#include "targets/cuda/task_header.hpp"

namespace accelopt::targets::cuda {

class FakeBuilder : public CudaBuilder {
 public:
  explicit FakeBuilder(model::Task task) : task_(std::move(task)) {
    for (const model::Axis& axis : task_.definition.axes) {
      if (axis.value) header_ += "enum { " + axis.name + " = " + std::to_string(*axis.value) + " };\n";
    }
  }

  base::Result<BuiltCudaPtr> build(const model::Kernel& kernel, std::stop_token) override {
    return built(model::main_text(kernel.solution()), "", task_.definition);
  }
  base::Result<std::string> cubin_with_lines(const model::Kernel& kernel, std::stop_token stop) override {
    TRY_ASSIGN(const BuiltCudaPtr built, build(kernel, stop));
    return built->program.cubins.at(0).bytes;
  }
  base::Result<BuiltCudaPtr> build_reference(const std::string& real, std::stop_token) override {
    const model::DType dtype = real == "float" ? model::DType::float32 : model::DType::float64;
    return built(task_.reference.text, "-Dreal=" + real, reference_definition(task_.definition, dtype));
  }
  base::Result<std::string> build_trusted(const std::string&, const std::string&, const std::vector<std::string>&,
                                          std::stop_token) override {
    return base::read_file(ACCELOPT_FAKE_CHECK_KERNELS);
  }
  const std::string& task_header() const override { return header_; }
  std::string flags_text() const override { return "-O1"; }
  std::string compiler_name() const override { return "shim"; }

 private:
  base::Result<BuiltCudaPtr> built(const std::string& text, const std::string& option,
                                   const model::Definition& definition) {
    BuiltCudaPtr& known = known_[option + "\n" + text];
    if (known) return known;
    auto out = std::make_shared<BuiltCuda>();
    if (out->report.diagnostics = bind(text, definition, *out); !out->report.diagnostics.empty()) return known = out;
    TRY_ASSIGN(std::string cubin, fakes::compile_cubin(text, header_, option));
    out->report.built = true;
    out->report.machine_code_id = base::sha256_hex(cubin);
    out->program.cubins.push_back({std::move(cubin), {}});
    return known = out;
  }

  /// Why the kernel has no plan for some workload; empty: it has all.
  [[nodiscard]] std::string bind(const std::string& text, const model::Definition& definition, BuiltCuda& out) const {
    auto directives = model::parse_device_directives(text);
    if (!directives) return directives.error().message;
    out.directives = std::move(*directives);
    for (const model::Workload& workload : task_.workloads) {
      const model::AxisValues axes = model::bind_axes(definition, workload);
      const auto plan = model::bind_launch_plan(out.directives, definition, axes, {}, description().launch_limits);
      if (!plan) return plan.error().message;
      out.program.plans[plan_name(definition, axes)] = device_plan(*plan, definition);
    }
    return {};
  }

  model::Task task_;
  std::string header_;
  std::map<std::string, BuiltCudaPtr> known_;
};

inline CudaOptions fake_options() {
  CudaOptions options;
  options.driver = ACCELOPT_FAKE_DRIVER;
  options.server = ACCELOPT_DEVICE_PATH;
  // Whatever this machine has of NVIDIA's tools.
  options.build.environment = {
      {"ACCELOPT_NCU", "off"}, {"ACCELOPT_COMPUTE_SANITIZER", "off"}, {"ACCELOPT_NVDISASM", "off"}};
  options.peaks = evaluation::Peaks{1e15, 1e15, 1e15};
  options.builders["cuda"] = [](const model::Task& task, CudaBuildOptions,
                                std::stop_token) -> base::Result<std::unique_ptr<CudaBuilder>> {
    return std::make_unique<FakeBuilder>(task);
  };
  return options;
}

inline constexpr const char* kSquares = R"(//@ launch squares grid=(cdiv(M, 64)) block=(64) args=(x, g, s, y, n, M)
extern "C" __global__ void squares(const float* x, const float* g, float s, float* y, int* n, int64_t M) {
  const int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= M) return;
  float sum = 0;
  int negative = 0;
  for (int k = 0; k < K; ++k) {
    sum += x[i * K + k] * x[i * K + k] * g[k];
    negative += x[i * K + k] < 0;
  }
  y[i] = sum + s;
  n[i] = negative;
}
)";
inline constexpr const char* kSquaresReference =
    R"(//@ launch squares grid=(cdiv(M, 64)) block=(64) args=(x, g, s, y, n, M)
extern "C" __global__ void squares(const real* x, const real* g, real s, real* y, int* n, int64_t M) {
  const int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= M) return;
  real sum = 0;
  int negative = 0;
  for (int k = 0; k < K; ++k) {
    sum += x[i * K + k] * x[i * K + k] * g[k];
    negative += x[i * K + k] < 0;
  }
  y[i] = sum + s;
  n[i] = negative;
}
)";

inline evaluation::MeasureSettings quick_settings() {
  evaluation::MeasureSettings settings;
  settings.seed = 20261121;
  settings.slots = 3;
  settings.protocol = model::Protocol::verify;
  settings.call_limit_seconds = 0.5;
  return settings;
}

/// The squares kernel with something else in it.
inline std::string with(const std::string& what, const std::string& instead) {
  std::string text = kSquares;
  const auto at = text.find(what);
  ACCELOPT_ASSERT(at != std::string::npos, "the kernel has what is replaced");
  return text.replace(at, what.size(), instead);
}

inline model::Solution cuda_solution(const std::string& text) {
  model::Solution out;
  out.language = model::Language("cuda");
  out.sources.push_back({"kernel.cu", text});
  return out;
}

inline model::TensorSpec spec_of(std::string name, std::optional<std::vector<std::string>> shape,
                                 model::DType dtype = model::DType::float32) {
  model::TensorSpec out;
  out.name = std::move(name);
  out.shape = std::move(shape);
  out.dtype = dtype;
  return out;
}

/// y[i] = sum over k of x[i][k]^2 g[k] + s, and how many x[i][k] are negative.
inline model::Task squares_task() {
  model::Task task;
  model::Definition& definition = task.definition;
  definition.name = "squares";
  definition.op_type = definition.name;
  definition.axes = {{"M", std::nullopt}, {"K", 32}};
  definition.inputs = {spec_of("x", std::vector<std::string>{"M", "K"}), spec_of("g", std::vector<std::string>{"K"}),
                       spec_of("s", std::nullopt)};
  definition.inputs[0].families = {model::Family::positive, model::Family::sparse};
  definition.outputs = {spec_of("y", std::vector<std::string>{"M"}),
                        spec_of("n", std::vector<std::string>{"M"}, model::DType::int32)};
  definition.cost = {"3*M*K", "4*(M*K + K + 2*M)"};
  // Calls of about a tenth of a millisecond: one set of inputs a call is enough.
  task.workloads = {{"rows_3000", {{"M", 3000}}, model::Role::race, 1.0},
                    {"rows_2333", {{"M", 2333}}, model::Role::check, 1.0},
                    {"rows_2001", {{"M", 2001}}, model::Role::held_out, 1.0}};
  task.target = "cuda";
  task.baseline = cuda_solution(kSquares);
  task.reference = {"reference.cu", kSquaresReference};
  return task;
}

}  // namespace accelopt::targets::cuda
