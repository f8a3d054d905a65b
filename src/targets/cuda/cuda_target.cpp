// SPDX-License-Identifier: Apache-2.0
#include "targets/cuda/cuda_target.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <optional>
#include <thread>

#include "base/hash.hpp"
#include "base/utc.hpp"
#include "evaluation/device_lock.hpp"
#include "evaluation/roofline.hpp"
#include "targets/cuda/builtin_kernels.hpp"
#include "targets/cuda/card_client.hpp"
#include "targets/cuda/description.hpp"
#include "targets/cuda/device_tools.hpp"
#include "targets/cuda/host_outputs.hpp"
#include "targets/cuda/peaks.hpp"
#include "targets/cuda/placement.hpp"
#include "targets/cuda/sass_loops.hpp"
#include "targets/cuda/task_header.hpp"

namespace accelopt::targets::cuda {
namespace {

using base::ErrorCode;
using evaluation::CallEnd;
using evaluation::CallOptions;
using evaluation::CallOutcome;
using evaluation::InputDraw;
using evaluation::Invocation;
using model::InitKind;

/// A call shorter than this is repeated over so many sets of inputs that they take as long: events tick every half
/// microsecond, and the first kernel of a queue starts less evenly than the next ones.
constexpr double kLeastTimedNs = 60e3;
constexpr int kMostVariants = 16;
constexpr std::uint64_t kSlotsPart = 4;          ///< of the device's memory: more of it slots do not keep
constexpr std::uint64_t kPerturbationsASet = 4;  ///< as many seeds, as on the device

model::AxisValues axes_of(const model::Definition& definition, const Invocation& invocation) {
  model::AxisValues out;
  for (const model::Axis& axis : definition.axes) {
    if (axis.value) out[axis.name] = *axis.value;
  }
  const std::vector<std::string> variable = model::variable_axes(definition);
  for (std::size_t i = 0; i < variable.size(); ++i) out[variable[i]] = invocation.axes.at(i);
  return out;
}

base::Result<model::LaunchPlan> plan_of(const BuiltCuda& built, const model::Definition& definition,
                                        const model::AxisValues& axes) {
  auto plan =
      model::bind_launch_plan(built.directives, definition, axes, built.tuned_values, description().launch_limits);
  if (!plan) {
    return base::fail(ErrorCode::invalid_argument,
                      fmt::format("{}:{}: {}", plan.error().line, plan.error().column, plan.error().message));
  }
  return std::move(*plan);
}

/// What the measuring side of one open task shares between its live kernels.
struct OpenTask {
  model::Definition definition;
  CardClient card;
  /// Sets of inputs a call, by workload's axes: found at its first call, the same for all kernels from then on.
  std::map<std::vector<std::int64_t>, int> variants;
};

class CudaLiveKernel final : public evaluation::LiveKernel {
 public:
  CudaLiveKernel(OpenTask& bench, BuiltCudaPtr built, std::string cubin)
      : bench_(bench), built_(std::move(built)), live_(bench.card.new_live(cubin)) {}
  CudaLiveKernel(const CudaLiveKernel&) = delete;
  CudaLiveKernel& operator=(const CudaLiveKernel&) = delete;
  ~CudaLiveKernel() override { bench_.card.end_live(live_); }

  base::Result<CallOutcome> call(const Invocation& invocation, const CallOptions& options) override {
    if (dead_) return *dead_;
    CallRequest request;
    TRY_ASSIGN(request.plan, plan_of(*built_, bench_.definition, axes_of(bench_.definition, invocation)));
    request.live = live_;
    request.slot = invocation.number;
    request.limit_ns = options.limit.count();
    request.cold = options.cache == model::Cache::cold;
    request.poison_seed = options.poison_seed;
    request.repeat = options.repeat;
    request.count = options.count;
    request.poison = options.poison;
    request.alone = options.alone;
    if (!options.alone) widen(invocation);
    TRY_ASSIGN(CallReply reply, bench_.card.call(request));
    CallOutcome& outcome = reply.outcome;
    if (outcome.end != CallEnd::returned) {
      dead_ = outcome;
      return outcome;
    }
    const bool right = std::all_of(outcome.comparisons.begin(), outcome.comparisons.end(),
                                   [](const auto& one) { return one.passed(); });
    if (right && outcome.time_ns > 0 && !options.alone) {
      const double sets = std::ceil(kLeastTimedNs / outcome.time_ns);
      bench_.variants.try_emplace(invocation.axes, std::clamp(static_cast<int>(sets), 1, kMostVariants));
    }
    return outcome;
  }

 private:
  /// Gives the slot as many sets of inputs as its workload's calls take.
  void widen(const Invocation& invocation) {
    const auto wanted = bench_.variants.find(invocation.axes);
    SlotRecipe* const recipe = bench_.card.find(invocation.number);
    if (wanted == bench_.variants.end() || recipe == nullptr) return;
    auto& sets = recipe->request.variants;
    while (sets.size() < static_cast<std::size_t>(wanted->second)) {
      std::vector<SlotInput> more = sets.front();
      std::vector<InputDraw> draws = recipe->draws.front();
      for (std::size_t i = 0; i < more.size(); ++i) {
        if (more[i].scalar) continue;  // they are the same in all sets
        draws[i].seed = base::derive_seed(draws[i].seed, std::to_string(sets.size()));
        more[i].seed = draws[i].seed;
      }
      sets.push_back(std::move(more));
      recipe->draws.push_back(std::move(draws));
    }
  }

  OpenTask& bench_;
  BuiltCudaPtr built_;
  std::uint64_t live_;
  std::optional<CallOutcome> dead_;
};

class NoHold final : public evaluation::Hold {};

DeviceLimits limits_of(const DeviceFacts& facts) {
  DeviceLimits out;
  out.architecture =
      fmt::format("sm_{}{}{}", facts.compute_major, facts.compute_minor, facts.compute_major >= 9 ? "a" : "");
  out.registers_per_block = facts.registers_per_block;
  out.shared_bytes_per_block = facts.shared_bytes_per_block;
  out.threads_per_block = facts.threads_per_block;
  out.multiprocessors = facts.multiprocessors;
  out.threads_per_multiprocessor = facts.threads_per_multiprocessor;
  out.registers_per_multiprocessor = facts.registers_per_multiprocessor;
  out.shared_bytes_per_multiprocessor = facts.shared_bytes_per_multiprocessor;
  return out;
}

/// An input as the device is told to draw it; scalars, and what needs a sort, are drawn here.
base::Result<SlotInput> slot_input(const InputDraw& draw, bool scalar, const model::Numerics& numerics) {
  SlotInput out;
  out.dtype = draw.dtype;
  out.scalar = scalar;
  for (const std::int64_t axis : draw.shape) out.count *= static_cast<std::uint64_t>(std::max<std::int64_t>(axis, 0));
  out.row_length = draw.shape.empty() ? 1 : static_cast<std::uint64_t>(std::max<std::int64_t>(draw.shape.back(), 1));
  TRY(evaluation::check_draw(draw, out.count * model::size_of(draw.dtype)));
  if (scalar) {
    TRY(evaluation::draw_input(
        draw, std::as_writable_bytes(std::span(&out.scalar_bits, 1)).first(model::size_of(draw.dtype))));
  }
  out.bulk = !scalar && (draw.init.kind == InitKind::permutation || draw.init.kind == InitKind::indptr ||
                         draw.init.kind == InitKind::sorted);
  out.kind = static_cast<int>(draw.init.kind);
  out.first = draw.init.first;
  out.second = draw.init.second;
  out.family = static_cast<int>(evaluation::drawn_family(draw));
  out.seed = draw.seed;
  out.perturbation_step = model::is_floating(draw.dtype) ? evaluation::perturbation_step(draw.dtype, numerics) : 0;
  return out;
}

/// What each launch takes of a multiprocessor.
std::vector<model::ProfileItem> describe_launches(const BuiltCuda& built, const model::LaunchPlan& plan,
                                                  const DeviceLimits& limits) {
  std::vector<model::ProfileItem> out;
  for (std::size_t i = 0; i < plan.launches.size() && i < built.resources.size(); ++i) {
    const model::KernelLaunch& launch = plan.launches[i];
    const KernelResources& takes = built.resources[i];
    const auto add = [&](const char* name, double value, const char* unit, const char* meaning) {
      out.push_back({launch.kernel + ": " + name, value, unit, meaning});
    };
    const double threads = static_cast<double>(launch.block[0]) * launch.block[1] * launch.block[2];
    const double blocks = static_cast<double>(launch.grid[0]) * launch.grid[1] * launch.grid[2];
    const double resident = occupancy(takes, launch, limits) * limits.threads_per_multiprocessor / threads;
    add("registers", takes.registers, "", "a thread");
    if (takes.spill_bytes > 0) add("spills", takes.spill_bytes, "bytes", "of registers to memory, a thread");
    const double shared = takes.static_shared_bytes + static_cast<double>(launch.shared_bytes);
    if (shared > 0) add("shared memory", shared, "bytes", "a block");
    add("occupancy", 100 * occupancy(takes, launch, limits), "%", "threads on a multiprocessor at once / most");
    add("blocks", blocks, "", "of the grid");
    if (resident > 0) {
      add("waves", blocks / (resident * limits.multiprocessors), "",
          "blocks / those that the device holds at once; a little over a whole number leaves it idle at the end");
    }
  }
  return out;
}

class CudaTarget final : public evaluation::Target {
 public:
  explicit CudaTarget(CudaOptions options) : options_(std::move(options)) {}

  base::Result<evaluation::DeviceInfo> open(const model::Task& task, const evaluation::MeasureSettings&,
                                            std::stop_token stop) override {
    if (task.target != "cuda") {
      return base::fail(ErrorCode::unsupported, "the task is of target \"" + task.target +
                                                    "\"; on a CUDA device kernels of target \"cuda\" are measured");
    }
    if (options_.card.empty()) {
      TRY_ASSIGN(options_.card, find_helper("accelopt-card"));
    }
    TRY_ASSIGN(CardProcess process, CardProcess::create(options_.card));
    workloads_ = task.workloads;
    bench_.emplace(OpenTask{task.definition,
                            CardClient(std::move(process), {options_.device, options_.driver, options_.management, 0}),
                            {}});
    auto facts = bench_->card.facts();
    if (!facts && facts.error().code == ErrorCode::unsupported)
      return open_for_builds(task, std::move(facts.error().message), stop);
    TRY_ASSIGN(facts_, std::move(facts));
    bench_->card.keep_at_most(facts_.memory_bytes / kSlotsPart);
    TRY_ASSIGN(auto lock, evaluation::DeviceLock::open("/tmp/accelopt-cuda-" + facts_.uuid + ".lock"));
    lock_.emplace(std::move(lock));
    tools_.emplace(ToolOptions{options_.card, options_.build.environment, options_.counting_limit,
                               options_.sanitizing_limit, [this] { return bench_->card.give_way(); }});
    options_.build.limits = limits_of(facts_);
    TRY_ASSIGN(builder_, options_.make_builder ? options_.make_builder(task, options_.build, stop)
                                               : make_cuda_builder(task, options_.build, stop));
    TRY_ASSIGN(const std::string checks,
               builder_->build_trusted("check_kernels.cu", std::string(check_kernels_text()), {"--fmad=false"}, stop));
    bench_->card.set_check_kernels(checks);
    TRY(bench_->card.facts());
    TRY_ASSIGN(peaks_, find_peaks(stop));
    TRY(open_reference(task, stop));
    for (const BuiltCudaPtr& built : {in_double_, in_float_}) {
      if (built) bench_->card.add_cubin(base::sha256_hex(built->cubin), built->cubin);
    }
    return evaluation::DeviceInfo{facts_.name, summary(), builder_->compiler_name(), "none", peaks_};
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

  base::Result<model::BuildReport> build(const model::Solution& solution, std::stop_token stop) override {
    TRY_ASSIGN(const BuiltCudaPtr built, builder_->build(solution, std::move(stop)));
    return built->report;
  }

  void settle_helper_thread() override {}
  int build_threads() const override { return std::max(1, static_cast<int>(std::thread::hardware_concurrency()) - 1); }

  bool keeps_slots() const override { return true; }
  bool times_together() const override { return true; }

  base::Result<std::vector<evaluation::Bounds>> prepare_slot(const evaluation::SlotPlan& plan) override {
    const model::Definition& definition = bench_->definition;
    const model::AxisValues axes = axes_of(definition, plan.invocation);
    SlotRecipe recipe;
    SlotRequest& request = recipe.request;
    request.number = plan.invocation.number;
    request.numerics = definition.numerics;
    request.perturbation = plan.perturbation;
    std::vector<SlotInput> inputs;
    for (std::size_t i = 0; i < plan.inputs.size(); ++i) {
      auto input = slot_input(plan.inputs[i], !definition.inputs[i].shape, definition.numerics);
      if (!input) return tl::make_unexpected(base::with_context(input.error(), "input " + definition.inputs[i].name));
      inputs.push_back(*input);
    }
    request.variants.push_back(std::move(inputs));
    recipe.draws.push_back(plan.inputs);
    for (const model::TensorSpec& output : definition.outputs) {
      request.outputs.push_back({output.dtype,
                                 output.shape ? model::shape_of(output, axes) : std::vector<std::int64_t>{},
                                 static_cast<std::uint64_t>(model::element_count(output, axes))});
    }
    if (host_reference_) {
      recipe.host = host_of(plan.invocation, axes, plan.perturbation);
      TRY(ask_host(recipe));  // before the device is anybody's: it takes its time on the processor
    } else {
      request.in_double.cubin = base::sha256_hex(in_double_->cubin);
      request.in_float.cubin = base::sha256_hex(in_float_->cubin);
      TRY_ASSIGN(request.in_double.plan, reference_plan(*in_double_, model::DType::float64, axes));
      TRY_ASSIGN(request.in_float.plan, reference_plan(*in_float_, model::DType::float32, axes));
    }
    TRY_ASSIGN(const auto lock, lock_machine());  // the device may be somebody's who measures
    return bench_->card.prepare(plan.invocation.number, std::move(recipe));
  }

  void forget_slot(std::uint64_t invocation) override {
    if (bench_) bench_->card.forget(invocation);
  }

  base::Result<std::vector<evaluation::ReferenceTensor>> reference(evaluation::Precision,
                                                                   const std::vector<evaluation::ReferenceTensor>&,
                                                                   const Invocation&) override {
    return base::fail(ErrorCode::unsupported, "the slots of a CUDA task lie on the device");
  }

  base::Result<std::unique_ptr<evaluation::LiveKernel>> start(const model::Solution& solution,
                                                              evaluation::Placement placement,
                                                              std::stop_token stop) override {
    TRY_ASSIGN(BuiltCudaPtr built, builder_->build(solution, stop));
    if (!built->report.built) {
      return base::fail(ErrorCode::invalid_argument,
                        "a solution that does not build cannot be started:\n" + built->report.diagnostics);
    }
    if (placement == evaluation::Placement::shifted) {
      TRY_ASSIGN(BuiltCudaPtr copy, builder_->build(with_padding(solution), std::move(stop)));
      TRY_ASSIGN(const bool elsewhere, lies_elsewhere(*built, *copy));
      if (elsewhere) built = std::move(copy);
    }
    const std::string id = base::sha256_hex(built->cubin);
    bench_->card.add_cubin(id, built->cubin);
    return std::make_unique<CudaLiveKernel>(*bench_, built, id);
  }

  std::vector<model::ProfileItem> machine_code_profile(const model::Solution& solution, std::stop_token stop) override {
    const auto built = builder_->build(solution, stop);
    if (!built || !(*built)->report.built || !bench_) return {};
    std::vector<model::ProfileItem> out;
    for (const model::Workload& workload : workloads_) {
      const auto plan = plan_of(**built, bench_->definition, model::bind_axes(bench_->definition, workload));
      if (!plan || workload.role != model::Role::race) continue;
      const auto items = describe_launches(**built, *plan, options_.build.limits);
      out.insert(out.end(), items.begin(), items.end());
      break;  // the others launch the same kernels
    }
    const auto loops = describe_loops(solution, **built, stop);
    out.insert(out.end(), loops.begin(), loops.end());
    return out;
  }

  base::Result<evaluation::HardwareCounts> hardware_counts(const model::Solution& solution,
                                                           const Invocation& invocation, model::Cache cache,
                                                           std::stop_token stop) override {
    TRY_ASSIGN(std::string why, tools_->why_no_counters(stop));
    if (!why.empty()) return evaluation::HardwareCounts{{}, std::move(why)};
    TRY_ASSIGN(OneCall call, one_call(solution, invocation, stop));
    call.request.limit_seconds = static_cast<int>(options_.counting_limit.count());
    return tools_->count(call, cache, stop);
  }

  /// Nsight Compute takes three to five seconds.

  bool inspects() const override { return tools_.has_value(); }

  base::Result<evaluation::Inspection> inspect(const model::Solution& solution, const Invocation& invocation,
                                               std::stop_token stop) override {
    TRY_ASSIGN(std::string why, tools_->why_not_inspected(stop));
    if (!why.empty()) return evaluation::Inspection{{}, {std::move(why)}};
    TRY_ASSIGN(OneCall call, one_call(solution, invocation, stop));
    call.request.poison = false;
    call.request.limit_seconds = static_cast<int>(options_.sanitizing_limit.count());
    return tools_->inspect(call, stop);
  }

  std::unique_ptr<evaluation::Hold> quiet() override { return std::make_unique<NoHold>(); }
  base::Result<std::unique_ptr<evaluation::Hold>> lock_machine() override { return evaluation::hold(*lock_, use()); }
  std::chrono::milliseconds patience_with_neighbours() const override { return options_.patience; }

  base::Result<evaluation::Peaks> probe_peaks_again(std::stop_token stop) override {
    TRY_ASSIGN(const evaluation::Peaks again, measure(stop));
    peaks_ = store_peaks(peaks_file(options_.cache, facts_), facts_, evaluation::larger_peaks(peaks_, again));
    return peaks_;
  }

 private:
  base::Result<evaluation::Peaks> measure(const std::stop_token& stop) {
    TRY_ASSIGN(const std::string cubin,
               builder_->build_trusted("peak_kernels.cu", std::string(peak_kernels_text()), {}, stop));
    TRY_ASSIGN(const auto lock, lock_machine());
    TRY_ASSIGN(evaluation::Peaks peaks, bench_->card.measure_peaks(cubin));
    peaks.measured = base::utc("%Y-%m-%d");
    return peaks;
  }

  /// Empty where there is no disassembler: what it would tell is no more than a help.
  std::vector<model::ProfileItem> describe_loops(const model::Solution& solution, const BuiltCuda& built,
                                                 const std::stop_token& stop) {
    const auto missing = tools_->why_no_disassembly(stop);
    if (!missing || !missing->empty()) return {};
    const auto cubin = builder_->cubin_with_lines(solution, stop);
    if (!cubin) return {};
    const auto text = tools_->disassembly(*cubin, stop);
    if (!text) return {};
    std::vector<std::string> kernels;
    for (const model::LaunchDirective& launch : built.directives.launches) kernels.push_back(launch.kernel);
    return describe_sass_loops(*text, kernels);
  }

  /// A call of the solution on a slot's first set of inputs, for a process of its own.
  base::Result<OneCall> one_call(const model::Solution& solution, const Invocation& invocation,
                                 const std::stop_token& stop) {
    TRY_ASSIGN(const BuiltCudaPtr built, builder_->build(solution, stop));
    const SlotRecipe* const recipe = bench_->card.find(invocation.number);
    if (!built->report.built || recipe == nullptr)
      return base::fail(ErrorCode::invalid_argument, "a call needs a kernel that builds and a slot that is there");
    OneCall out;
    OneCallRequest& request = out.request;
    TRY_ASSIGN(request.plan, plan_of(*built, bench_->definition, axes_of(bench_->definition, invocation)));
    request.open = bench_->card.open_request();
    request.open.check_bytes = bench_->card.check_kernels().size();
    request.cubin_bytes = built->cubin.size();
    request.inputs = recipe->request.variants.front();
    request.outputs = recipe->request.outputs;
    out.bulk = {bench_->card.check_kernels(), built->cubin};
    TRY_ASSIGN(auto drawn, drawn_here(request.inputs, recipe->draws.front()));
    std::move(drawn.begin(), drawn.end(), std::back_inserter(out.bulk));
    return out;
  }

  base::Result<evaluation::Peaks> find_peaks(const std::stop_token& stop) {
    if (options_.peaks) return *options_.peaks;
    const std::filesystem::path file = peaks_file(options_.cache, facts_);
    if (const auto known = stored_peaks(file)) return *known;
    TRY_ASSIGN(const evaluation::Peaks peaks, measure(stop));
    return store_peaks(file, facts_, peaks);
  }

  /// Without a driver or a device: everything up to the cubin, for the device that the limits name by default.
  base::Result<evaluation::DeviceInfo> open_for_builds(const model::Task& task, std::string reason,
                                                       const std::stop_token& stop) {
    bench_.reset();
    builds_only_ = std::move(reason);
    TRY_ASSIGN(builder_, options_.make_builder ? options_.make_builder(task, options_.build, stop)
                                               : make_cuda_builder(task, options_.build, stop));
    TRY(open_reference(task, stop));
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
      return host_outputs(bench_->definition, axes, host_reference_, shape, draws,
                          perturbation + kPerturbationsASet * variant);
    };
  }

  [[nodiscard]] base::Result<model::LaunchPlan> reference_plan(const BuiltCuda& built, model::DType real,
                                                               const model::AxisValues& axes) const {
    auto plan = plan_of(built, reference_definition(bench_->definition, real), axes);
    if (!plan) return tl::make_unexpected(base::with_context(plan.error(), "the task's reference"));
    return plan;
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
  std::string builds_only_;  ///< why there is no device; empty: there is one
  BuiltCudaPtr in_double_;
  BuiltCudaPtr in_float_;
  evaluation::HostReference host_reference_;  ///< empty: the reference runs on the device
};

}  // namespace

std::unique_ptr<evaluation::Target> make_cuda_target(CudaOptions options) {
  return std::make_unique<CudaTarget>(std::move(options));
}

}  // namespace accelopt::targets::cuda
