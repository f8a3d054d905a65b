// SPDX-License-Identifier: Apache-2.0
// The CUDA target without CUDA: kernels are built by g++ with fakes/cuda/shim.hpp, the driver is fakes/cuda/driver.cpp.
#pragma once

#include <map>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "evaluation/evaluator.hpp"
#include "evaluation/target.hpp"
#include "sandbox/run.hpp"
#include "targets/cuda/cuda_target.hpp"

namespace accelopt::targets::cuda {

class FakeBuilder final : public CudaBuilder {
 public:
  explicit FakeBuilder(model::Task task) : task_(std::move(task)) {
    for (const model::Axis& axis : task_.definition.axes) {
      if (axis.value) header_ += "enum { " + axis.name + " = " + std::to_string(*axis.value) + " };\n";
    }
  }

  base::Result<BuiltCudaPtr> build(const model::Solution& solution, std::stop_token) override {
    return built(model::main_text(solution), "");
  }
  base::Result<std::string> cubin_with_lines(const model::Solution& solution, std::stop_token stop) override {
    TRY_ASSIGN(const BuiltCudaPtr built, build(solution, stop));
    return built->cubin;
  }
  base::Result<BuiltCudaPtr> build_reference(const std::string& real, std::stop_token) override {
    return built(task_.reference.text, "-Dreal=" + real);
  }
  base::Result<std::string> build_trusted(const std::string&, const std::string&, const std::vector<std::string>&,
                                          std::stop_token) override {
    return base::read_file(ACCELOPT_FAKE_CHECK_KERNELS);
  }
  const std::string& task_header() const override { return header_; }
  std::string flags_text() const override { return "-O1"; }
  std::string compiler_name() const override { return "shim"; }

 private:
  base::Result<BuiltCudaPtr> built(const std::string& text, const std::string& definition) {
    BuiltCudaPtr& known = known_[definition + "\n" + text];
    if (known) return known;
    auto out = std::make_shared<BuiltCuda>();
    auto directives = model::parse_device_directives(text);
    if (!directives) {
      out->report.diagnostics = directives.error().message;
      return known = out;
    }
    out->directives = std::move(*directives);
    TRY_ASSIGN(out->cubin, compile(text, definition));
    out->report.built = true;
    out->report.machine_code_id = base::sha256_hex(out->cubin);
    return known = out;
  }

  [[nodiscard]] base::Result<std::string> compile(const std::string& text, const std::string& definition) const {
    std::string source = "#include \"fakes/cuda/shim.hpp\"\n" + header_ + text + "\n";
    const std::regex kernel(R"re(extern "C" __global__ void (\w+)\()re");
    for (std::sregex_iterator found(text.begin(), text.end(), kernel), end; found != end; ++found) {
      source += "ACCELOPT_FAKE_KERNEL(" + (*found)[1].str() + ")\n";
    }
    // What does not change from run to run is compiled once.
    const std::filesystem::path cache = ACCELOPT_TEST_CACHE;
    std::string key = definition + "\n" + source;
    for (const char* header : {"shim.hpp", "fibers.hpp", "tensor_map.hpp"}) {
      TRY_ASSIGN(const std::string shim, base::read_file(ACCELOPT_TESTS_FOLDER "/fakes/cuda/" + std::string(header)));
      key += shim;
    }
    const auto known = cache / ("fake-cuda-" + base::sha256_hex(key).substr(0, 24) + ".so");
    if (auto compiled = base::read_file(known)) return compiled;
    TRY_ASSIGN(const auto folder, base::TemporaryFolder::create("accelopt-fake-cuda"));
    TRY(base::write_file(folder.path() / "kernel.cpp", source));
    sandbox::SpawnOptions options;
    options.program = "/usr/bin/g++";
    options.environment = {"PATH=/usr/bin:/bin"};
    options.directory = folder.path().string();
    options.own_namespaces = false;
    options.arguments = {"-std=c++20", "-O1",        "-w", "-ffp-contract=off", "-fno-gnu-unique",         "-shared",
                         "-fPIC",      "kernel.cpp", "-o", "kernel.so",         "-I" ACCELOPT_TESTS_FOLDER};
    if (!definition.empty()) options.arguments.push_back(definition);
    TRY_ASSIGN(const auto ran, sandbox::run(options, {}, nullptr, {}));
    if (!ran.state.exited || ran.state.code != 0) return base::fail(base::ErrorCode::internal, ran.output);
    TRY_ASSIGN(std::string compiled, base::read_file(folder.path() / "kernel.so"));
    TRY(base::make_folders(cache));
    TRY(base::write_file(known, compiled));
    return compiled;
  }

  model::Task task_;
  std::string header_;
  std::map<std::string, BuiltCudaPtr> known_;
};

inline CudaOptions fake_options() {
  CudaOptions options;
  options.driver = ACCELOPT_FAKE_DRIVER;
  options.card = ACCELOPT_CARD_PATH;
  // Whatever this machine has of NVIDIA's tools.
  options.build.environment = {
      {"ACCELOPT_NCU", "off"}, {"ACCELOPT_COMPUTE_SANITIZER", "off"}, {"ACCELOPT_NVDISASM", "off"}};
  options.peaks = evaluation::Peaks{1e15, 1e15, 1e15};
  options.make_builder = [](const model::Task& task, CudaBuildOptions,
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
  settings.protocol = "verify";
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
