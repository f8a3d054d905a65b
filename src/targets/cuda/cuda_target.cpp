// SPDX-License-Identifier: Apache-2.0
#include "targets/cuda/cuda_target.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <thread>

#include "base/utc.hpp"
#include "devices/cuda/builtin_kernels.hpp"
#include "devices/cuda/host_outputs.hpp"
#include "devices/cuda/open_task.hpp"
#include "devices/cuda/peaks.hpp"
#include "devices/cuda/sass_loops.hpp"
#include "evaluation/device_lock.hpp"
#include "evaluation/invocation_axes.hpp"
#include "evaluation/roofline.hpp"
#include "evaluation/verify/known_outputs.hpp"
#include "model/target_description.hpp"
#include "stats/estimate.hpp"
#include "targets/cuda/program.hpp"
#include "targets/cuda/task_header.hpp"

namespace accelopt::targets::cuda {
namespace {

using base::ErrorCode;
using devices::cuda::DeviceClient;
using devices::cuda::DeviceFacts;
using devices::cuda::DeviceTools;
using devices::cuda::OneCall;
using devices::cuda::OpenTask;
using devices::cuda::ProgramPtr;
using devices::cuda::ServerProcess;
using devices::cuda::SlotRecipe;
using devices::cuda::ToolOptions;
using evaluation::InputDraw;
using evaluation::Invocation;

constexpr std::uint64_t kSlotsPart = 4;          ///< of the device's memory: more of it slots do not keep
constexpr std::uint64_t kUsualPart = 5;          ///< where those go first that few candidates reach
constexpr std::uint64_t kPerturbationsASet = 4;  ///< as many seeds, as on the device

/// What the host is told of a set of inputs. @error as draw_input.
base::Result<KnownInputs> known_inputs(const model::Definition& definition, std::uint64_t slot,
                                       const model::AxisValues& axes, const std::vector<InputDraw>& draws) {
  KnownInputs out{slot, axes, std::vector<evaluation::Bytes>(draws.size())};
  for (std::size_t i = 0; i < draws.size(); ++i) {
    const model::TensorSpec& input = definition.inputs.at(i);
    if (!model::is_known_on_host(input)) continue;
    out.values[i].resize(static_cast<std::size_t>(model::element_count(input, axes)) * model::size_of(input.dtype));
    TRY(evaluation::draw_input(draws[i], out.values[i]));
  }
  return out;
}

/// The program, as long as somebody holds it.
ProgramPtr program_of(const BuiltCudaPtr& built) {
  return {built, &built->program};
}

class NoHold final : public evaluation::Hold {};

class CudaTarget final : public evaluation::Target {
 public:
  explicit CudaTarget(CudaOptions options) : options_(std::move(options)) {}

  base::Result<evaluation::DeviceInfo> open(const model::Task& task, const evaluation::MeasureSettings&,
                                            std::stop_token stop) override {
    TRY(check_builder_of(task));
    if (options_.server.empty()) {
      TRY_ASSIGN(options_.server, devices::cuda::find_server());
    }
    TRY_ASSIGN(ServerProcess process, ServerProcess::create(options_.server));
    workloads_ = task.workloads;
    bench_.emplace(OpenTask{
        task.definition, DeviceClient(std::move(process), {options_.device, options_.driver, options_.management, 0}),
        [definition = task.definition](const Invocation& invocation) {
          return plan_name(definition, evaluation::axes_of(definition, invocation));
        }});
    auto facts = bench_->device.facts();
    if (!facts && facts.error().code == ErrorCode::unsupported)
      return open_for_builds(task, std::move(facts.error().message), stop);
    TRY_ASSIGN(facts_, std::move(facts));
    bench_->device.keep_at_most(facts_.memory_bytes / kSlotsPart);
    TRY_ASSIGN(auto lock, evaluation::DeviceLock::open("/tmp/accelopt-cuda-" + facts_.uuid + ".lock"));
    lock_.emplace(std::move(lock));
    tools_.emplace(ToolOptions{options_.server, options_.build.environment, options_.counting_limit,
                               options_.sanitizing_limit, [this] { return bench_->device.release_memory(); }});
    options_.build.limits = limits_of(facts_);
    TRY_ASSIGN(builder_, options_.builders.at(task.target)(task, options_.build, stop));
    std::string check_kernels;
    for (const auto text :
         {devices::cuda::elements_text, devices::cuda::input_kernels_text, devices::cuda::check_kernels_text})
      check_kernels += text();
    TRY_ASSIGN(const std::string checks,
               builder_->build_trusted("check_kernels.cu", check_kernels, {"--fmad=false"}, stop));
    bench_->device.set_check_kernels(checks);
    TRY(bench_->device.facts());
    TRY_ASSIGN(peaks_, find_peaks(stop));
    TRY(open_reference(task, stop));
    if (model::target_of(task).host_may_see_inputs) TRY(refuse_known_outputs(task));
    return evaluation::DeviceInfo{facts_.name, summary(), builder_->compiler_name(), "none", peaks_};
  }

  base::Result<void> open_to_build(const model::Task& task, std::stop_token stop) override {
    TRY(check_builder_of(task));
    builds_only_ = "only built here";
    TRY_ASSIGN(builder_, options_.builders.at(task.target)(task, options_.build, stop));
    return {};
  }

  std::string builds_only() const override { return builds_only_; }

  const std::string& task_header() const override { return builder_->task_header(); }

  model::Environment environment() const override {
    model::Environment out;
    out.compiler = builder_->compiler_name();
    out.flags = builder_->flags_text();
    if (!builds_only_.empty()) return out;
    out.device = fmt::format("{}, driver for CUDA {}.{}", facts_.name, facts_.driver_version / 1000,
                             facts_.driver_version % 1000 / 10);
    out.isolation = "device code alone" + (facts_.unseen.empty() ? "" : "; " + facts_.unseen);
    return out;
  }

  std::string trust() const override { return "device-code"; }
  std::int64_t last_level_bytes() const override { return facts_.l2_bytes; }

  base::Result<model::TuningSpace> found_space(const model::Kernel& kernel, std::stop_token stop) override {
    return builder_->found_space(kernel, std::move(stop));
  }
  base::Result<model::BuildReport> build(const model::Kernel& kernel, std::stop_token stop) override {
    TRY_ASSIGN(const BuiltCudaPtr built, builder_->build(kernel, std::move(stop)));
    return built->report;
  }

  void settle_helper_thread() override {}
  int build_threads() const override { return std::max(1, static_cast<int>(std::thread::hardware_concurrency()) - 1); }

  bool keeps_slots() const override { return true; }
  std::uint64_t bytes_of_slot(std::uint64_t invocation) const override {
    return bench_ ? bench_->device.bytes_of(invocation) : 0;
  }
  std::uint64_t most_slot_bytes() const override { return facts_.memory_bytes / kUsualPart; }
  bool times_together(const model::Workload& workload) const override {
    return !bench_ || devices::cuda::times_several_sets(*bench_, workload);
  }

  base::Result<std::vector<evaluation::Bounds>> prepare_slot(const evaluation::SlotPlan& plan) override {
    const model::Definition& definition = bench_->definition;
    const model::AxisValues axes = model::bind_axes(definition, plan.workload);
    TRY_ASSIGN(SlotRecipe recipe, devices::cuda::slot_recipe(definition, plan));
    if (host_reference_) {
      recipe.host = host_of(plan.invocation, axes, plan.perturbation);
      TRY(devices::cuda::ask_host(recipe));  // before the device is anybody's: it takes its time on the processor
    } else {
      const std::string name = plan_name(definition, axes);
      recipe.request.in_double = {bench_->device.add(program_of(in_double_)), name};
      recipe.request.in_float = {bench_->device.add(program_of(in_float_)), name};
    }
    axes_[plan.invocation.number] = axes;
    TRY_ASSIGN(const auto lock, lock_machine());  // the device may be somebody's who measures
    return bench_->device.prepare(plan.invocation.number, std::move(recipe));
  }

  void forget_slot(std::uint64_t invocation) override {
    axes_.erase(invocation);
    if (bench_) bench_->device.forget(invocation);
  }

  base::Result<std::vector<evaluation::ReferenceTensor>> reference(evaluation::Precision,
                                                                   const std::vector<evaluation::ReferenceTensor>&,
                                                                   const Invocation&) override {
    return base::fail(ErrorCode::unsupported, "the slots of a CUDA task lie on the device");
  }

  base::Result<std::unique_ptr<evaluation::LiveKernel>> start(const model::Kernel& kernel,
                                                              evaluation::Placement placement,
                                                              std::stop_token stop) override {
    TRY_ASSIGN(BuiltCudaPtr built, builder_->build(kernel, stop));
    if (!built->report.built) {
      return base::fail(ErrorCode::invalid_argument,
                        "a kernel that does not build cannot be started:\n" + built->report.diagnostics);
    }
    if (placement == evaluation::Placement::shifted) {
      TRY_ASSIGN(built, builder_->build_elsewhere(kernel, stop));
    }
    if (!built->per_slot) return start_program(*bench_, program_of(built));
    return start_program(*bench_, program_of(built), [this, kernel, stop](const std::vector<std::uint64_t>& slots) {
      return slot_programs(kernel, slots, stop);
    });
  }

  std::vector<model::ProfileItem> machine_code_profile(const model::Kernel& kernel, std::stop_token stop) override {
    const auto built = builder_->build(kernel, stop);
    if (!built || !(*built)->report.built || !bench_) return {};
    std::vector<model::ProfileItem> out;
    for (const model::Workload& workload : workloads_) {
      if (workload.role != model::Role::race) continue;
      const devices::cuda::Program& program = (*built)->program;
      const std::string name = plan_name(bench_->definition, model::bind_axes(bench_->definition, workload));
      const auto items = describe_launches(program, program.plans.at(name), options_.build.limits);
      out.insert(out.end(), items.begin(), items.end());
      break;  // the others launch the same kernels
    }
    const auto loops = describe_loops(kernel, **built, stop);
    out.insert(out.end(), loops.begin(), loops.end());
    return out;
  }

  base::Result<evaluation::HardwareCounts> hardware_counts(const model::Kernel& kernel, const Invocation& invocation,
                                                           model::Cache cache, std::stop_token stop) override {
    TRY_ASSIGN(std::string why, tools_->why_no_counters(stop));
    if (!why.empty()) return evaluation::HardwareCounts{{}, std::move(why)};
    TRY_ASSIGN(OneCall call, one_call(kernel, invocation, stop));
    call.request.limit_seconds = static_cast<int>(options_.counting_limit.count());
    return tools_->count(call, cache, stop);
  }

  base::Result<evaluation::HostRun> host_run(const model::Kernel& kernel, const Invocation& invocation,
                                             std::stop_token stop) override {
    const SlotRecipe* const recipe = bench_->device.find(invocation.number);
    if (recipe == nullptr) return base::fail(ErrorCode::invalid_argument, "a host function needs a slot that is there");
    const model::AxisValues axes = evaluation::axes_of(bench_->definition, invocation);
    TRY_ASSIGN(const auto inputs, devices::cuda::drawn_inputs(bench_->definition, axes, recipe->draws.front()));
    TRY_ASSIGN(const auto calls, builder_->call_host_function(kernel, axes, inputs, stop));
    TRY_ASSIGN(OneCall call, one_call(kernel, invocation, stop));
    TRY_ASSIGN(const auto outputs, tools_->outputs(std::move(call), stop));
    evaluation::HostRun out{stats::median(calls.microseconds), calls.where, {}};
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const std::string words = evaluation::difference_of(bench_->definition.outputs[i], calls.outputs[i], outputs[i]);
      if (!words.empty()) out.differences.push_back(words);
    }
    return out;
  }

  bool inspects() const override { return tools_.has_value(); }

  base::Result<evaluation::Inspection> inspect(const model::Kernel& kernel, const Invocation& invocation,
                                               std::stop_token stop) override {
    TRY_ASSIGN(std::string why, tools_->why_not_inspected(stop));
    if (!why.empty()) return evaluation::Inspection{{}, {std::move(why)}};
    TRY_ASSIGN(OneCall call, one_call(kernel, invocation, stop));
    call.request.poison = false;
    call.request.limit_seconds = static_cast<int>(options_.sanitizing_limit.count());
    return tools_->inspect(call, stop);
  }

  std::unique_ptr<evaluation::Hold> quiet() override { return std::make_unique<NoHold>(); }
  base::Result<std::unique_ptr<evaluation::Hold>> lock_machine() override { return evaluation::hold(*lock_, use()); }
  std::chrono::milliseconds patience_with_neighbours() const override { return options_.patience; }

  base::Result<evaluation::Peaks> probe_peaks_again(std::stop_token stop) override {
    TRY_ASSIGN(const evaluation::Peaks again, measure(stop));
    peaks_ = devices::cuda::store_peaks(devices::cuda::peaks_file(options_.cache, facts_), facts_,
                                        evaluation::larger_peaks(peaks_, again));
    return peaks_;
  }

 private:
  /// Of a kernel whose plans hold for one set of inputs alone.
  base::Result<std::vector<devices::cuda::SlotProgram>> slot_programs(const model::Kernel& kernel,
                                                                      const std::vector<std::uint64_t>& slots,
                                                                      const std::stop_token& stop) {
    std::vector<KnownInputs> known;
    for (const std::uint64_t slot : slots) {
      const SlotRecipe* const recipe = bench_->device.find(slot);
      const auto axes = axes_.find(slot);
      if (recipe == nullptr || axes == axes_.end())
        return base::fail(ErrorCode::invalid_argument, "a plan needs a slot that was prepared");
      TRY_ASSIGN(known.emplace_back(), known_inputs(bench_->definition, slot, axes->second, recipe->draws.front()));
    }
    return builder_->build_for(kernel, known, stop);
  }

  /// A task of which an output is no secret is refused. Only the reference can tell.
  base::Result<void> refuse_known_outputs(const model::Task& task) {
    if (host_reference_)
      return evaluation::refuse_known_outputs(task, evaluation::equal_outputs(task.definition, host_reference_));
    if (!bench_) return {};
    return evaluation::refuse_known_outputs(
        task, [&](const model::Workload& workload, std::vector<std::vector<InputDraw>> sets) {
          return equal_on_device(workload, std::move(sets));
        });
  }

  base::Result<std::vector<std::size_t>> equal_on_device(const model::Workload& workload,
                                                         std::vector<std::vector<InputDraw>> sets) {
    constexpr std::uint64_t kNobodys = ~std::uint64_t{0};  // no invocation's number
    const evaluation::Invocation invocation{kNobodys, {}, {}, {}};
    SlotRecipe recipe;
    for (std::vector<InputDraw>& draws : sets) {
      TRY_ASSIGN(SlotRecipe one, devices::cuda::slot_recipe(bench_->definition, {workload, invocation, draws, 0}));
      if (recipe.draws.empty()) {
        recipe = std::move(one);
        continue;
      }
      recipe.request.variants.push_back(std::move(one.request.variants.front()));
      recipe.draws.push_back(std::move(draws));
    }
    const std::string name = plan_name(bench_->definition, model::bind_axes(bench_->definition, workload));
    recipe.request.in_double = {bench_->device.add(program_of(in_double_)), name};
    recipe.request.in_float = {bench_->device.add(program_of(in_float_)), name};
    TRY_ASSIGN(const auto lock, lock_machine());
    return bench_->device.equal_outputs(kNobodys, std::move(recipe));
  }

  base::Result<evaluation::Peaks> measure(const std::stop_token& stop) {
    TRY_ASSIGN(const std::string cubin,
               builder_->build_trusted("peak_kernels.cu", std::string(devices::cuda::peak_kernels_text()), {}, stop));
    TRY_ASSIGN(const auto lock, lock_machine());
    TRY_ASSIGN(evaluation::Peaks peaks, bench_->device.measure_peaks(cubin));
    peaks.measured = base::utc("%Y-%m-%d");
    return peaks;
  }

  /// Empty where there is no disassembler: what it would tell is no more than a help.
  std::vector<model::ProfileItem> describe_loops(const model::Kernel& kernel, const BuiltCuda& built,
                                                 const std::stop_token& stop) {
    const auto missing = tools_->why_no_disassembly(stop);
    if (!missing || !missing->empty()) return {};
    const auto cubin = builder_->cubin_with_lines(kernel, stop);
    if (!cubin) return {};
    const auto text = tools_->disassembly(*cubin, stop);
    if (!text) return {};
    return devices::cuda::describe_sass_loops(*text, launched_kernels(built.program));
  }

  /// A call of the solution on a slot's first set of inputs, for a process of its own.
  base::Result<OneCall> one_call(const model::Kernel& kernel, const Invocation& invocation,
                                 const std::stop_token& stop) {
    TRY_ASSIGN(const BuiltCudaPtr built, builder_->build(kernel, stop));
    if (!built->report.built) return base::fail(ErrorCode::invalid_argument, "a call needs a kernel that builds");
    if (!built->per_slot)
      return devices::cuda::one_call(*bench_, built->program, bench_->plan_name(invocation), invocation);
    TRY_ASSIGN(const auto own, slot_programs(kernel, {invocation.number}, stop));
    if (!own.at(0).problem.empty()) return base::fail(ErrorCode::invalid_argument, own[0].problem);
    return devices::cuda::one_call(*bench_, *own[0].program, own[0].plan, invocation);
  }

  base::Result<evaluation::Peaks> find_peaks(const std::stop_token& stop) {
    if (options_.peaks) return *options_.peaks;
    const std::filesystem::path file = devices::cuda::peaks_file(options_.cache, facts_);
    if (const auto known = devices::cuda::stored_peaks(file)) return *known;
    TRY_ASSIGN(const evaluation::Peaks peaks, measure(stop));
    return devices::cuda::store_peaks(file, facts_, peaks);
  }

  base::Result<void> check_builder_of(const model::Task& task) const {
    if (options_.builders.contains(task.target)) return {};
    std::string known;
    for (const auto& [target, make] : options_.builders) known += (known.empty() ? "\"" : " or \"") + target + "\"";
    return base::fail(ErrorCode::unsupported, "the task is of target \"" + task.target +
                                                  "\"; on a CUDA device kernels of target " + known + " are measured");
  }

  /// Without a driver or a device: everything up to the cubin, for the device that the limits name by default.
  base::Result<evaluation::DeviceInfo> open_for_builds(const model::Task& task, std::string reason,
                                                       const std::stop_token& stop) {
    bench_.reset();
    builds_only_ = std::move(reason);
    TRY_ASSIGN(builder_, options_.builders.at(task.target)(task, options_.build, stop));
    TRY(open_reference(task, stop));
    if (model::target_of(task).host_may_see_inputs) TRY(refuse_known_outputs(task));
    return evaluation::DeviceInfo{
        "no CUDA device",
        "no device: kernels are built for " + options_.build.limits.architecture + " and not run",
        builder_->compiler_name(),
        "none",
        {}};
  }

  base::Result<void> open_reference(const model::Task& task, const std::stop_token& stop) {
    if (task.reference.name.ends_with(".cu")) {
      TRY_ASSIGN(in_double_, builder_->build_reference("double", stop));
      TRY_ASSIGN(in_float_, builder_->build_reference("float", stop));
      return {};
    }
    if (!options_.make_host_reference) {
      return base::fail(ErrorCode::unsupported,
                        task.reference.name + ": here the reference of a CUDA task runs on the device alone");
    }
    TRY_ASSIGN(host_reference_, options_.make_host_reference(task, use(), stop));
    return {};
  }

  /// Runs the reference on the host, on a slot's inputs.
  decltype(SlotRecipe::host) host_of(const Invocation& slot, const model::AxisValues& axes,
                                     std::uint64_t perturbation) const {
    Invocation shape;
    shape.output_bytes = slot.output_bytes;
    shape.axes = slot.axes;
    return [this, shape, axes, perturbation](std::size_t variant, const std::vector<InputDraw>& draws) {
      return devices::cuda::host_outputs(bench_->definition, axes, host_reference_, shape, draws,
                                         perturbation + kPerturbationsASet * variant);
    };
  }

  [[nodiscard]] std::string summary() const {
    const std::string text = fmt::format(
        "{}, compute capability {}.{}, {} multiprocessors, {} KiB of shared memory a block ({} KiB a multiprocessor), "
        "{} registers a multiprocessor, L2 cache {} MiB, {:.0f} GiB of memory",
        facts_.name, facts_.compute_major, facts_.compute_minor, facts_.multiprocessors,
        facts_.shared_bytes_per_block >> 10, facts_.shared_bytes_per_multiprocessor >> 10,
        facts_.registers_per_multiprocessor, facts_.l2_bytes >> 20,
        static_cast<double>(facts_.memory_bytes) / (1 << 30));
    if (peaks_.bytes_per_second <= 0) return text;
    return text + fmt::format(
                      "; measured {}: {:.2f} TB/s of memory, {:.2f} TB/s of L2 cache, {:.1f} TFLOP/s float32, "
                      "{:.1f} TFLOP/s float64, at least {:.0f} TFLOP/s bfloat16 and {:.0f} TFLOP/s tf32 in matrix "
                      "units",
                      peaks_.measured, peaks_.bytes_per_second / 1e12, peaks_.last_level_bytes_per_second / 1e12,
                      peaks_.flops_per_second / 1e12, peaks_.flops_per_second_float64 / 1e12,
                      peaks_.tensor_flops_per_second / 1e12, peaks_.tensor_tf32_flops_per_second / 1e12);
  }

  CudaOptions options_;
  DeviceFacts facts_;
  evaluation::Peaks peaks_;
  std::unique_ptr<CudaBuilder> builder_;
  std::optional<OpenTask> bench_;
  std::optional<evaluation::DeviceLock> lock_;
  std::optional<DeviceTools> tools_;
  std::vector<model::Workload> workloads_;
  std::map<std::uint64_t, model::AxisValues> axes_;  ///< of slots that were prepared
  std::string builds_only_;                          ///< why there is no device; empty: there is one
  BuiltCudaPtr in_double_;
  BuiltCudaPtr in_float_;
  evaluation::HostReference host_reference_;  ///< empty: the reference runs on the device
};

}  // namespace

std::unique_ptr<evaluation::Target> make_cuda_target(CudaOptions options) {
  return std::make_unique<CudaTarget>(std::move(options));
}

}  // namespace accelopt::targets::cuda
