// SPDX-License-Identifier: Apache-2.0
#include "targets/triton/builder.hpp"

#include <mutex>
#include <utility>

#include "capture/host_ops.hpp"
#include "pytorch/solution.hpp"

namespace accelopt::targets::triton {
namespace {

using base::Result;
using cuda::BuiltCudaPtr;

class TritonBuilder final : public cuda::CudaBuilder {
 public:
  explicit TritonBuilder(MakeTrusted make_trusted) : make_trusted_(std::move(make_trusted)) {}

  Result<void> begin(const model::Task& task, CaptureOptions options, const std::stop_token& stop) {
    pytorch::WorkerOptions torch;
    torch.python = options.python;
    torch.place = pytorch::Place::device;
    host_functions_ = std::make_unique<pytorch::SolutionRunner>(task.definition, torch);
    options.host_ops = [this](std::stop_token own) { return host_ops(std::move(own)); };
    TRY_ASSIGN(capturer_, Capturer::create(task, std::move(options), stop));
    return {};
  }

  Result<BuiltCudaPtr> build(const model::Kernel& kernel, std::stop_token stop) override {
    TRY_ASSIGN(const BuiltPtr built, capturer_->build(kernel, stop));
    return std::make_shared<cuda::BuiltCuda>(cuda::BuiltCuda{built->report, built->program, {}, built->per_slot});
  }

  Result<std::vector<devices::cuda::SlotProgram>> build_for(const model::Kernel& kernel,
                                                            const std::vector<cuda::KnownInputs>& slots,
                                                            std::stop_token stop) override {
    return capturer_->build_for(kernel, slots, stop);
  }

  Result<model::TuningSpace> found_space(const model::Kernel& kernel, std::stop_token stop) override {
    return capturer_->space(kernel, stop);
  }

  /// A captured kernel lies where Triton's ptxas put it.
  Result<BuiltCudaPtr> build_elsewhere(const model::Kernel& kernel, std::stop_token stop) override {
    return build(kernel, std::move(stop));
  }

  Result<std::string> cubin_with_lines(const model::Kernel& kernel, std::stop_token stop) override {
    TRY_ASSIGN(const BuiltPtr built, capturer_->build(kernel, stop));
    if (!built->report.built || built->program.cubins.empty())
      return base::fail(base::ErrorCode::invalid_argument, "a kernel that does not build has no machine code");
    return built->program.cubins.front().bytes;  // Triton keeps lines in all of its machine code
  }

  Result<evaluation::HostCalls> call_host_function(const model::Kernel& kernel, const model::AxisValues& axes,
                                                   const std::vector<evaluation::Bytes>& inputs,
                                                   std::stop_token stop) override {
    TRY_ASSIGN(const base::Json configurations, capturer_->configurations(kernel, stop));
    return host_functions_->run(kernel, configurations, axes, inputs, stop);
  }

  Result<BuiltCudaPtr> build_reference(const std::string& real, std::stop_token stop) override {
    TRY_ASSIGN(cuda::CudaBuilder* const own, trusted());
    return own->build_reference(real, std::move(stop));
  }
  Result<std::string> build_trusted(const std::string& name, const std::string& text,
                                    const std::vector<std::string>& definitions, std::stop_token stop) override {
    TRY_ASSIGN(cuda::CudaBuilder* const own, trusted());
    return own->build_trusted(name, text, definitions, std::move(stop));
  }
  const std::string& task_header() const override { return header_; }
  std::string flags_text() const override { return {}; }
  std::string compiler_name() const override { return capturer_->version(); }

 private:
  Result<cuda::CudaBuilder*> trusted() {
    const std::scoped_lock lock(mutex_);
    if (!trusted_) {
      TRY_ASSIGN(trusted_, make_trusted_());
    }
    return trusted_.get();
  }

  /// Compiled for the first solution that needs it.
  Result<std::string> host_ops(std::stop_token stop) {
    const std::scoped_lock lock(host_ops_mutex_);
    if (host_ops_.empty()) {
      TRY_ASSIGN(host_ops_, build_trusted("host_ops.cu", capture::host_ops_text(), {"--fmad=false"}, std::move(stop)));
    }
    return host_ops_;
  }

  std::unique_ptr<pytorch::SolutionRunner> host_functions_;  ///< of the measuring thread
  std::mutex host_ops_mutex_;
  std::string host_ops_;
  std::unique_ptr<Capturer> capturer_;
  MakeTrusted make_trusted_;
  std::mutex mutex_;
  std::unique_ptr<cuda::CudaBuilder> trusted_;
  std::string header_;  ///< a Python file includes none
};

}  // namespace

Result<std::unique_ptr<cuda::CudaBuilder>> make_triton_builder(const model::Task& task, CaptureOptions options,
                                                               MakeTrusted trusted, const std::stop_token& stop) {
  auto out = std::make_unique<TritonBuilder>(std::move(trusted));
  TRY(out->begin(task, std::move(options), stop));
  return out;
}

}  // namespace accelopt::targets::triton
