// SPDX-License-Identifier: Apache-2.0
#include "targets/triton/interpreter_target.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/files.hpp"
#include "evaluation/host_target.hpp"
#include "evaluation/invocation_axes.hpp"
#include "evaluation/verify/known_outputs.hpp"
#include "targets/triton/description.hpp"

namespace accelopt::targets::triton {
namespace {

using base::ErrorCode;
using base::Result;
using evaluation::CallOutcome;
using evaluation::Invocation;

/// A kernel that the interpreter runs anew at each call, in a process of its own.
class InterpretedKernel final : public evaluation::LiveKernel {
 public:
  InterpretedKernel(Capturer& capturer, const model::Definition& definition, model::Kernel kernel, std::stop_token stop)
      : capturer_(capturer), definition_(definition), kernel_(std::move(kernel)), stop_(std::move(stop)) {}

  Result<CallOutcome> call(const Invocation& invocation, const evaluation::CallOptions&) override {
    TRY_ASSIGN(auto outputs, capturer_.interpret(kernel_, known(invocation), invocation.inputs, stop_));
    CallOutcome out;
    if (!outputs) {
      out.end = outputs.error().end;
      out.reason = outputs.error().reason;
      return out;
    }
    outputs_ = std::move(*outputs);
    for (const std::string& output : outputs_) out.outputs.push_back(std::as_bytes(std::span(output)));
    return out;
  }

  [[nodiscard]] bool looks_ahead() const override { return true; }
  /// Captures them together, as where a device replays them.
  Result<void> expect(const std::vector<const Invocation*>& slots) override {
    TRY_ASSIGN(const BuiltPtr built, capturer_.build(kernel_, stop_));
    if (!built->per_slot) return {};
    std::vector<cuda::KnownInputs> all;
    for (const Invocation* slot : slots) all.push_back(known(*slot));
    TRY(capturer_.build_for(kernel_, all, stop_));
    return {};
  }

 private:
  [[nodiscard]] cuda::KnownInputs known(const Invocation& invocation) const {
    return {invocation.number, evaluation::axes_of(definition_, invocation), invocation.inputs};
  }

  Capturer& capturer_;
  const model::Definition& definition_;
  model::Kernel kernel_;
  std::stop_token stop_;
  std::vector<std::string> outputs_;
};

class InterpreterTarget final : public evaluation::HostTarget {
 public:
  explicit InterpreterTarget(InterpreterOptions options) : options_(std::move(options)) {}

  Result<evaluation::DeviceInfo> open(const model::Task& task, const evaluation::MeasureSettings& settings,
                                      std::stop_token stop) override {
    if (task.target != description().name)
      return base::fail(ErrorCode::unsupported, "the task is of target \"" + task.target +
                                                    "\"; the interpreter runs kernels of target \"" +
                                                    description().name + "\"");
    if (settings.protocol != model::Protocol::verify)
      return base::fail(ErrorCode::unsupported,
                        "the interpreter times nothing: measure on a CUDA device (--device cuda:0), or verify with "
                        "accelopt eval --interpret");
    if (task.reference.name.ends_with(".cu"))
      return base::fail(ErrorCode::unsupported, task.reference.name +
                                                    ": beside the interpreter a reference runs on the processor; write "
                                                    "reference.cpp");
    TRY_ASSIGN(folder_, base::TemporaryFolder::create("accelopt-interpreted"));
    definition_ = task.definition;
    options_.capture.folder = folder_->path();
    TRY_ASSIGN(capturer_, Capturer::create(task, options_.capture, stop));
    TRY_ASSIGN(reference_, options_.make_host_reference(task, use(), stop));
    TRY(evaluation::refuse_known_outputs(task, evaluation::equal_outputs(task.definition, reference_)));
    return evaluation::DeviceInfo{
        "Triton's interpreter",
        "no device: kernels are compiled for " + options_.capture.limits.architecture + " and interpreted",
        capturer_->version(),
        "a sandboxed Python",
        {}};
  }

  model::Environment environment() const override {
    model::Environment out;
    out.device = "Triton's interpreter";
    out.compiler = capturer_->version();
    return out;
  }
  std::string trust() const override { return "interpreted-python"; }

  Result<model::BuildReport> build(const model::Kernel& kernel, std::stop_token stop) override {
    TRY_ASSIGN(const BuiltPtr built, capturer_->build(kernel, stop));
    return built->report;
  }

  Result<std::unique_ptr<evaluation::LiveKernel>> start(const model::Kernel& kernel, evaluation::Placement,
                                                        std::stop_token stop) override {
    return std::make_unique<InterpretedKernel>(*capturer_, definition_, kernel, std::move(stop));
  }
  Result<std::unique_ptr<evaluation::Hold>> lock_machine() override { return quiet(); }
  Result<evaluation::Peaks> probe_peaks_again(std::stop_token) override { return evaluation::Peaks{}; }

 private:
  InterpreterOptions options_;
  std::optional<base::TemporaryFolder> folder_;
  std::unique_ptr<Capturer> capturer_;
};

}  // namespace

std::unique_ptr<evaluation::Target> make_interpreter_target(InterpreterOptions options) {
  return std::make_unique<InterpreterTarget>(std::move(options));
}

}  // namespace accelopt::targets::triton
