// SPDX-License-Identifier: Apache-2.0
#include "targets/trainium/neuron_target.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "base/once_map.hpp"
#include "evaluation/device_lock.hpp"
#include "evaluation/host_target.hpp"
#include "evaluation/invocation_axes.hpp"
#include "targets/trainium/chip.hpp"
#include "targets/trainium/description.hpp"
#include "targets/trainium/task_check.hpp"

namespace accelopt::targets::trainium {
namespace {

using base::ErrorCode;
using base::Result;
using evaluation::CallEnd;
using evaluation::CallOutcome;
using evaluation::Invocation;

struct CompiledKernel {
  model::BuildReport report;
  std::map<std::string, double> figures;  ///< of the vendor's profiler, for the first workload
};
using CompiledPtr = std::shared_ptr<const CompiledKernel>;

/// A figure of the vendor's summary, and how it is shown.
struct Figure {
  const char* name;
  double scale;
  const char* unit;
  const char* meaning;
};
constexpr std::array<Figure, 16> kFigures{{
    {"hbm_read_bytes", 1e-6, "MB", "read from HBM"},
    {"hbm_write_bytes", 1e-6, "MB", "written to HBM"},
    {"psum_read_bytes", 1e-6, "MB", "read from PSUM"},
    {"psum_write_bytes", 1e-6, "MB", "written to PSUM"},
    {"sbuf_read_bytes", 1e-6, "MB", "read from SBUF"},
    {"sbuf_write_bytes", 1e-6, "MB", "written to SBUF"},
    {"spill_reload_bytes", 1e-6, "MB", "loaded again, because it did not stay on the chip"},
    {"spill_save_bytes", 1e-6, "MB", "saved to HBM, because it did not fit on the chip"},
    {"hardware_flops", 1e-9, "GFLOP", "of TensorE; a float32 operation counts twice"},
    {"transpose_flops", 1e-9, "GFLOP", "of those, by transposes"},
    {"peak_flops_bandwidth_ratio", 1, "FLOP/byte", "of the device, in bfloat16"},
    {"mm_arithmetic_intensity", 1, "FLOP/byte", "of multiplications, over bytes of HBM"},
    {"hfu_estimated_percent", 100, "%", "of the bfloat16 peak"},
    {"scalar_engine_active_time_percent", 100, "%", "ScalarE at work"},
    {"vector_engine_active_time_percent", 100, "%", "VectorE at work"},
    {"gpsimd_engine_active_time_percent", 100, "%", "GpSimdE at work"},
}};

/// Every call compiles, runs and profiles anew: the vendor's package keeps nothing between two of them.
class NeuronKernel final : public evaluation::LiveKernel {
 public:
  NeuronKernel(NeuronDevice& device, const model::Definition& definition, model::Kernel kernel, std::stop_token stop)
      : device_(device), definition_(definition), kernel_(std::move(kernel)), stop_(std::move(stop)) {}

  Result<CallOutcome> call(const Invocation& invocation, const evaluation::CallOptions& options) override {
    TRY_ASSIGN(NeuronRun run, device_.run(kernel_, definition_, evaluation::axes_of(definition_, invocation),
                                          invocation.inputs, options.limit, stop_));
    CallOutcome out;
    if (run.end != RunEnd::done) {
      out.end = run.end == RunEnd::timed_out ? CallEnd::timed_out : CallEnd::died;
      out.reason = std::move(run.reason);
      return out;
    }
    out.time_ns = run.time_ns;
    outputs_ = std::move(run.outputs);
    for (const std::string& output : outputs_) out.outputs.push_back(std::as_bytes(std::span(output)));
    return out;
  }

 private:
  NeuronDevice& device_;
  const model::Definition& definition_;
  model::Kernel kernel_;
  std::stop_token stop_;
  std::vector<std::string> outputs_;
};

/// By the type of the instance; none: its peaks are not in any document that we have.
const Generation* generation_of(const std::string& machine) {
  if (machine.starts_with("trn1") || machine.starts_with("inf2")) return &kTrn1;
  if (machine.starts_with("trn2")) return &kTrn2;
  return nullptr;
}

class NeuronTarget final : public evaluation::HostTarget {
 public:
  NeuronTarget(TrainiumOptions options, NeuronOptions device)
      : options_(std::move(options)), device_options_(std::move(device)) {}

  Result<evaluation::DeviceInfo> open(const model::Task& task, const evaluation::MeasureSettings&,
                                      std::stop_token stop) override {
    if (task.target != description().name)
      return base::fail(ErrorCode::unsupported, "the task is of target \"" + task.target +
                                                    "\"; this device runs kernels of target \"" + description().name +
                                                    "\"");
    TRY(check_task(task));
    definition_ = task.definition;
    for (const model::Workload& workload : task.workloads) {
      model::AxisValues axes = model::bind_axes(task.definition, workload);
      if (std::find(axes_.begin(), axes_.end(), axes) == axes_.end()) axes_.push_back(std::move(axes));
    }
    TRY_ASSIGN(auto lock,
               evaluation::DeviceLock::open("/tmp/accelopt-neuron-" + std::to_string(device_options_.core) + ".lock"));
    lock_.emplace(std::move(lock));
    TRY_ASSIGN(device_, NeuronDevice::open(device_options_, stop));
    TRY_ASSIGN(reference_, options_.make_host_reference(task, use(), stop));
    return evaluation::DeviceInfo{name(), name() + ", by the vendor's compiler and profiler", device_->version(),
                                  "the vendor's package in a sandboxed Python", peaks()};
  }

  model::Environment environment() const override {
    model::Environment out;
    out.device = name();
    out.compiler = device_->version();
    return out;
  }
  std::string trust() const override { return "inspected-python"; }

  Result<model::BuildReport> build(const model::Kernel& kernel, std::stop_token stop) override {
    TRY_ASSIGN(const CompiledPtr compiled, compile(kernel, stop));
    return compiled->report;
  }

  Result<std::unique_ptr<evaluation::LiveKernel>> start(const model::Kernel& kernel, evaluation::Placement,
                                                        std::stop_token stop) override {
    TRY_ASSIGN(const CompiledPtr compiled, compile(kernel, stop));
    if (!compiled->report.built) return base::fail(ErrorCode::invalid_argument, compiled->report.diagnostics);
    return std::make_unique<NeuronKernel>(*device_, definition_, kernel, std::move(stop));
  }
  Result<std::unique_ptr<evaluation::Hold>> lock_machine() override { return evaluation::hold(*lock_, use()); }
  Result<evaluation::Peaks> probe_peaks_again(std::stop_token) override { return peaks(); }

  std::vector<model::ProfileItem> machine_code_profile(const model::Kernel& kernel, std::stop_token stop) override {
    const auto compiled = compile(kernel, stop);
    std::vector<model::ProfileItem> out;
    if (!compiled) return out;
    for (const Figure& figure : kFigures) {
      const auto found = (*compiled)->figures.find(figure.name);
      if (found != (*compiled)->figures.end())
        out.push_back({figure.name, figure.scale * found->second, figure.unit, figure.meaning});
    }
    return out;
  }

 private:
  Result<CompiledPtr> compile(const model::Kernel& kernel, const std::stop_token& stop) {
    if (kernel.solution().sources.empty())
      return base::fail(ErrorCode::invalid_argument, "a kernel without a source file");
    auto refused = std::make_shared<CompiledKernel>();
    if (kernel.solution().language != description().languages.front().language)
      refused->report.diagnostics = "error: kernels of this task are written in Python with NKI, in a .py file";
    else if (kernel.solution().sources.size() > 1)
      refused->report.diagnostics = "error: on a Neuron device a kernel is one file";
    if (!refused->report.diagnostics.empty()) return CompiledPtr(std::move(refused));
    const std::string key = kernel.id() + base::sha256_hex(kernel.solution().sources.front().name);
    return compiled_.get(key, [&] { return compile_now(kernel, stop); });
  }

  /// Calls it once on zeros of every shape: the vendor's package has no way to compile alone.
  Result<CompiledPtr> compile_now(const model::Kernel& kernel, const std::stop_token& stop) {
    auto out = std::make_shared<CompiledKernel>();
    std::string identity;
    for (const model::AxisValues& axes : axes_) {
      TRY_ASSIGN(const NeuronRun run, device_->run(kernel, definition_, axes, {}, device_options_.run_limit, stop));
      out->report.seconds += run.seconds;
      if (run.end == RunEnd::refused) {
        out->report.diagnostics = run.reason;
        return CompiledPtr(std::move(out));
      }
      if (run.end != RunEnd::done) out->report.remarks.push_back(run.reason);
      if (out->figures.empty()) out->figures = run.figures;
      out->report.code_bytes += run.program_bytes;
      identity += run.program_id + '\n';
      if (run.end != RunEnd::done) break;  // every call will tell the same; it need not be waited for here
    }
    out->report.machine_code_id = base::sha256_hex(identity);
    out->report.build_id = base::sha256_hex(device_->version() + '\n' + name() + '\n' + identity);
    out->report.built = true;
    return CompiledPtr(std::move(out));
  }

  [[nodiscard]] std::string name() const {
    const std::string core = "neuron:" + std::to_string(device_options_.core);
    const Generation* const chip = generation_of(device_->machine());
    return chip == nullptr ? core : fmt::format("{} ({})", core, device_->machine());
  }
  [[nodiscard]] evaluation::Peaks peaks() const {
    const Generation* const chip = generation_of(device_->machine());
    return chip == nullptr ? evaluation::Peaks{} : documented_peaks(*chip);
  }

  TrainiumOptions options_;
  NeuronOptions device_options_;
  std::vector<model::AxisValues> axes_;  ///< those of the workloads, each once
  std::optional<evaluation::DeviceLock> lock_;
  std::unique_ptr<NeuronDevice> device_;
  base::OnceMap<CompiledKernel> compiled_;
};

}  // namespace

std::unique_ptr<evaluation::Target> make_neuron_target(TrainiumOptions options, NeuronOptions device) {
  return std::make_unique<NeuronTarget>(std::move(options), std::move(device));
}

evaluation::Peaks documented_peaks(const Generation& chip) {
  evaluation::Peaks out;
  out.flops_per_second = std::max(chip.vector_gflops, chip.matrix_gflops) * 1e9;
  out.bytes_per_second = chip.hbm_bytes_per_ns * 1e9;
  return out;
}

}  // namespace accelopt::targets::trainium
