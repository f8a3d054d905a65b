// SPDX-License-Identifier: Apache-2.0
#include "targets/trainium/trainium_target.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "evaluation/host_target.hpp"
#include "evaluation/invocation_axes.hpp"
#include "evaluation/verify/inputs.hpp"
#include "targets/trainium/constants.hpp"
#include "targets/trainium/description.hpp"
#include "targets/trainium/execute.hpp"
#include "targets/trainium/neuron_target.hpp"
#include "targets/trainium/reference_places.hpp"
#include "targets/trainium/spot_check.hpp"
#include "targets/trainium/tracer.hpp"
#include "targets/trainium/whole_outputs.hpp"

namespace accelopt::targets::trainium {
namespace {

using base::ErrorCode;
using base::Result;
using evaluation::CallOutcome;
using evaluation::Invocation;
using model::ProfileItem;

constexpr std::array<const char*, kQueues> kQueueNames{"TensorE", "VectorE", "ScalarE", "DMA in", "DMA out"};

/// A traced kernel: what it computes, beside the time that the model gives.
class ModelledKernel final : public evaluation::LiveKernel {
 public:
  ModelledKernel(BuiltPtr built, const model::Definition& definition, std::stop_token stop)
      : built_(std::move(built)), definition_(definition), stop_(std::move(stop)) {}

  Result<CallOutcome> call(const Invocation& invocation, const evaluation::CallOptions& options) override {
    const auto plan = built_->plans.find(evaluation::axes_of(definition_, invocation));
    if (plan == built_->plans.end())
      return base::fail(ErrorCode::invalid_argument, "the kernel was not traced for these axes");
    std::vector<std::vector<float>> inputs;
    for (std::size_t i = 0; i < definition_.inputs.size(); ++i) {
      if (!definition_.inputs[i].shape) continue;
      const evaluation::Bytes& bytes = invocation.inputs.at(i);
      std::vector<float>& input = inputs.emplace_back(bytes.size() / sizeof(float));
      std::memcpy(input.data(), bytes.data(), input.size() * sizeof(float));
    }
    outputs_.clear();
    for (const std::size_t bytes : invocation.output_bytes) outputs_.emplace_back(bytes / sizeof(float));
    const std::vector<std::span<const float>> given(inputs.begin(), inputs.end());
    const std::vector<std::span<float>> taken(outputs_.begin(), outputs_.end());
    const auto poisoned = execute(plan->second.program, given, taken, stop_);
    const bool exhausted = !poisoned && poisoned.error().code == ErrorCode::exhausted;
    if (!poisoned && !exhausted) return tl::make_unexpected(poisoned.error());
    CallOutcome out;
    if (exhausted || !poisoned->empty()) {
      out.end = evaluation::CallEnd::died;
      out.reason = exhausted ? poisoned.error().message : *poisoned;
      return out;
    }
    const Modelled& time = plan->second.time;
    out.time_ns = options.assumption == 0 ? time.hoist.ns : time.literal.ns;
    for (const std::vector<float>& output : outputs_) out.outputs.push_back(std::as_bytes(std::span(output)));
    return out;
  }

 private:
  BuiltPtr built_;
  const model::Definition& definition_;
  std::stop_token stop_;
  std::vector<std::vector<float>> outputs_;
};

/// Families of inputs in which what overflows, or divides by what has vanished, shows.
constexpr std::array kSizes{model::Family::scaled_up, model::Family::scaled_down, model::Family::heavy};

constexpr double kPeakFlops = 91.75e12;       ///< that the vendor's profiler divides by
constexpr double kPeakFlopsPerByte = 223.78;  ///< the same over its bandwidth
constexpr double kMegabyte = 1e6;

/// The sixteen figures of the vendor's profiler.
void add_profiler_figures(const Modelled& modelled, std::vector<ProfileItem>& out) {
  const Timing& time = modelled.literal;
  const Lowered& traffic = modelled.traffic;
  const Counters& counted = traffic.counters;
  const auto megabytes = [&](const char* name, std::int64_t bytes, const char* meaning) {
    out.push_back({name, static_cast<double>(bytes) / kMegabyte, "MB", meaning});
  };
  const auto percent = [&](const char* name, double busy_ns, const char* meaning) {
    out.push_back({name, 100 * busy_ns / time.ns, "%", meaning});
  };
  megabytes("hbm_read_bytes", traffic.read_bytes, "read from HBM");
  megabytes("hbm_write_bytes", traffic.written_bytes, "written to HBM");
  megabytes("psum_read_bytes", counted.psum_read, "a partition's, read by engines");
  megabytes("psum_write_bytes", counted.psum_written, "a partition's, written by engines");
  megabytes("sbuf_read_bytes", counted.sbuf_read, "a partition's, read by engines, and all that DMA reads");
  megabytes("sbuf_write_bytes", counted.sbuf_written, "a partition's, written by engines, and all that DMA writes");
  megabytes("spill_reload_bytes", traffic.reloaded_bytes, "loaded again, because it did not stay on the chip");
  megabytes("spill_save_bytes", traffic.saved_bytes, "saved to HBM, because it did not fit on the chip");
  out.push_back({"hardware_flops", counted.flops / 1e9, "GFLOP", "of TensorE; a float32 operation counts twice"});
  out.push_back({"transpose_flops", counted.transpose_flops / 1e9, "GFLOP", "of those, by transposes"});
  out.push_back({"peak_flops_bandwidth_ratio", kPeakFlopsPerByte, "FLOP/byte", "of the device, in bfloat16"});
  const auto moved = static_cast<double>(traffic.read_bytes + traffic.written_bytes);
  out.push_back({"mm_arithmetic_intensity", moved > 0 ? (counted.flops - counted.transpose_flops) / moved : 0,
                 "FLOP/byte", "of multiplications, over bytes of HBM"});
  out.push_back({"hfu_estimated_percent", 100 * counted.flops / (kPeakFlops * time.ns * 1e-9), "%",
                 "of the bfloat16 peak; float32 reaches 43 at most"});
  percent("scalar_engine_active_time_percent", time.busy_ns[static_cast<std::size_t>(Queue::scalar)],
          "ScalarE at work");
  percent("vector_engine_active_time_percent", time.busy_ns[static_cast<std::size_t>(Queue::vector)],
          "VectorE at work");
  percent("gpsimd_engine_active_time_percent", 0, "GpSimdE: nothing is given to it");
}

/// What the model says of one workload.
std::vector<ProfileItem> profile_of(const Modelled& modelled, const Generation& chip) {
  const Timing& time = modelled.literal;
  std::vector<ProfileItem> out;
  const auto busiest = std::max_element(time.busy_ns.begin(), time.busy_ns.end()) - time.busy_ns.begin();
  for (std::size_t i = 0; i < kQueues; ++i) {
    const bool most = static_cast<std::ptrdiff_t>(i) == busiest;
    out.push_back({fmt::format("{} active", kQueueNames.at(i)), 100 * time.busy_ns.at(i) / time.ns, "%",
                   most ? "modelled share of the time; the busiest of all" : "modelled share of the time"});
  }
  add_profiler_figures(modelled, out);
  out.push_back({"SBUF high-water mark", static_cast<double>(time.sbuf_bytes) / 1024, "KiB",
                 fmt::format("of a partition's {}", chip.sbuf_bytes >> 10)});
  out.push_back({"PSUM high-water mark", static_cast<double>(time.psum_bytes) / 1024, "KiB",
                 fmt::format("of a partition's {}", chip.psum_bytes >> 10)});
  out.push_back({"modelled time if nothing is repeated", modelled.hoist.ns / kNsPerUs, "us",
                 "the compiler keeps what it loaded before where it can"});
  out.push_back({"modelled time as written", time.ns / kNsPerUs, "us", "the compiler loads what the kernel loads"});
  std::vector<std::pair<double, int>> lines;
  for (const auto& [line, ns] : time.line_ns) lines.emplace_back(ns, line);
  std::sort(lines.rbegin(), lines.rend());
  lines.resize(std::min<std::size_t>(lines.size(), 5));
  for (const auto& [ns, line] : lines)
    out.push_back({fmt::format("line {}", line), ns / kNsPerUs, "us", "modelled time of engines and DMA"});
  return out;
}

/// The task as its reference meets it: of raced workloads a few places alone, so that it needs no memory for the rest.
model::Task asked_of_reference(model::Task task, model::OutputCheck outputs) {
  if (outputs == model::OutputCheck::nkibench) return task;
  for (model::Workload& workload : task.workloads) {
    if (workload.role != model::Role::race) continue;
    workload = ReferencePlaces::cut(std::move(workload), model::variable_axes(task.definition));
  }
  return task;
}

class TrainiumTarget final : public evaluation::HostTarget {
 public:
  explicit TrainiumTarget(TrainiumOptions options)
      : options_(std::move(options)), chip_(options_.device.starts_with(kTrn2.name) ? kTrn2 : kTrn1) {}

  Result<evaluation::DeviceInfo> open(const model::Task& task, const evaluation::MeasureSettings& settings,
                                      std::stop_token stop) override {
    if (task.target != description().name)
      return base::fail(ErrorCode::unsupported, "the task is of target \"" + task.target +
                                                    "\"; this device runs kernels of target \"" + description().name +
                                                    "\"");
    task_ = task;
    declared_ = sizes_ = {};
    places_.reset();
    separable_.reset();
    definition_ = task.definition;
    baseline_ = model::Kernel(task.baseline);
    checks_ = std::any_of(task.workloads.begin(), task.workloads.end(),
                          [](const model::Workload& workload) { return workload.role == model::Role::check; });
    if (!checks_ && settings.outputs != model::OutputCheck::nkibench)
      TRY(ReferencePlaces::check_definition(definition_));
    workload_ = model::bind_axes(task.definition, task.workloads.front());
    if (!options_.constants.empty()) {
      TRY_ASSIGN(MeasuredChip measured, with_constants(chip_, options_.constants));
      chip_ = measured.chip;
      constants_ = std::move(measured.source);
    }
    TRY_ASSIGN(tracer_, Tracer::create(task, chip_, options_.python, stop));
    TRY_ASSIGN(reference_, options_.make_host_reference(asked_of_reference(task, settings.outputs), use(), stop));
    if (settings.outputs == model::OutputCheck::nkibench) {
      TRY_ASSIGN(whole_, WholeOutputs::create(definition_, task.workloads, reference_));
    }
    return evaluation::DeviceInfo{
        name(),
        fmt::format(
            "{}, one core: 128 partitions, {} KiB of SBUF and {} KiB of PSUM each, {} GB/s of HBM, {:.1f} TFLOP/s "
            "float32; all times are modelled",
            chip_.name, chip_.sbuf_bytes >> 10, chip_.psum_bytes >> 10, chip_.hbm_bytes_per_ns,
            chip_.matrix_gflops / 1000),
        version(), "a sandboxed Python without numbers", peaks()};
  }

  model::Environment environment() const override {
    model::Environment out;
    out.device = name();
    out.compiler = version();
    if (whole_) out.flags = WholeOutputs::kRule;
    return out;
  }
  std::string trust() const override { return "modelled"; }
  evaluation::DeviceClock clock() const override { return evaluation::DeviceClock::modelled; }

  Result<model::BuildReport> build(const model::Kernel& kernel, std::stop_token stop) override {
    TRY_ASSIGN(const BuiltPtr built, tracer_->build(kernel, stop));
    return built->report;
  }

  Result<std::unique_ptr<evaluation::LiveKernel>> start(const model::Kernel& kernel, evaluation::Placement,
                                                        std::stop_token stop) override {
    TRY_ASSIGN(BuiltPtr built, tracer_->build(kernel, stop));
    if (!built->report.built) return base::fail(ErrorCode::invalid_argument, built->report.diagnostics);
    return std::make_unique<ModelledKernel>(std::move(built), definition_, std::move(stop));
  }
  Result<std::unique_ptr<evaluation::Hold>> lock_machine() override { return quiet(); }
  Result<evaluation::Peaks> probe_peaks_again(std::stop_token) override { return peaks(); }

  bool times_without_calls() const override { return true; }
  bool checks(model::OutputCheck) const override { return true; }

  Result<double> time_of(const model::Kernel& kernel, const model::Workload& workload, int assumption,
                         std::stop_token stop) override {
    TRY_ASSIGN(const BuiltPtr built, tracer_->build(kernel, stop));
    TRY_ASSIGN(const TracedPlan* const plan, plan_of(*built, workload));
    return assumption == 0 ? plan->time.hoist.ns : plan->time.literal.ns;
  }

  Result<std::string> spot_check(const model::Kernel& kernel, const model::Workload& workload, std::uint64_t seed,
                                 std::stop_token stop) override {
    if (whole_) return check_whole(kernel, workload, stop);
    TRY_ASSIGN(const std::string wrong, check_places(kernel, workload, seed, stop));
    if (!wrong.empty()) return "at random places: " + wrong;
    TRY_ASSIGN(const std::string overflows, check_sizes(kernel, workload, seed, stop));
    return overflows.empty() ? overflows : "with values of other sizes: " + overflows;
  }

  std::vector<ProfileItem> machine_code_profile(const model::Kernel& kernel, std::stop_token stop) override {
    const auto built = tracer_->build(kernel, stop);
    if (!built || !(*built)->report.built) return {};
    const auto plan = (*built)->plans.find(workload_);
    return plan == (*built)->plans.end() ? std::vector<ProfileItem>() : profile_of(plan->second.time, chip_);
  }

 private:
  Result<std::string> check_places(const model::Kernel& kernel, const model::Workload& workload, std::uint64_t seed,
                                   const std::stop_token& stop) {
    if (checks_ && kernel.id() == baseline_.id()) {
      TRY_ASSIGN(const auto wrong, check_baseline(workload, seed, stop));
      return wrong.value_or("");
    }
    TRY_ASSIGN(const BuiltPtr built, tracer_->build(kernel, stop));
    if (!checks_) return check_by_reference(*built, workload, seed, stop);
    TRY_ASSIGN(const BuiltPtr baseline, tracer_->build(baseline_, stop));
    TRY_ASSIGN(const TracedPlan* const plan, plan_of(*built, workload));
    TRY_ASSIGN(const TracedPlan* const right, plan_of(*baseline, workload));
    TRY(draw_inputs(workload, seed));
    TRY_ASSIGN(std::string differs,
               trainium::spot_check(plan->program, right->program, {declared_.inputs.begin(), declared_.inputs.end()},
                                    seed, stop));
    if (differs.empty()) return differs;
    TRY_ASSIGN(const auto wrong, check_baseline(workload, seed, stop));
    if (!wrong) return differs + "; the baseline was never compared with the reference at this size";
    if (wrong->empty()) return differs + "; at other places of this size, the baseline agrees with the reference";
    return base::fail(ErrorCode::invalid_argument,
                      "the task's baseline is wrong on workload " + workload.name + ": " + *wrong + "; mend it");
  }

  /// Why the baseline is wrong at places of a raced workload, which all others are held against; "": it is right. None:
  /// the reference does not compute such places on their own, or not at once.
  Result<std::optional<std::string>> check_baseline(const model::Workload& workload, std::uint64_t seed,
                                                    const std::stop_token& stop) {
    TRY(find_separable(seed));
    model::Task asked = task_;
    asked.workloads = {ReferencePlaces::cut(workload, *separable_)};
    if (!ReferencePlaces::cheap(definition_, asked.workloads.front())) return std::optional<std::string>();
    auto reference = options_.make_host_reference(asked, use(), stop);
    if (!reference) return std::optional<std::string>();
    TRY(draw_inputs(workload, seed));
    const std::vector<std::span<const float>> inputs(declared_.inputs.begin(), declared_.inputs.end());
    const auto places = ReferencePlaces::compute_twice(definition_, workload, inputs, *reference, *separable_, seed);
    if (!places) return std::optional<std::string>();
    TRY_ASSIGN(const BuiltPtr built, tracer_->build(baseline_, stop));
    TRY_ASSIGN(const TracedPlan* const plan, plan_of(*built, workload));
    TRY_ASSIGN(std::string wrong, places.value().check(plan->program, inputs, seed, stop));
    return std::optional(std::move(wrong));
  }

  /// On all workloads that are computed whole.
  Result<void> find_separable(std::uint64_t seed) {
    if (separable_) return {};
    ReferencePlaces::Axes axes = model::variable_axes(definition_);
    for (const model::Workload& workload : task_.workloads) {
      if (workload.role == model::Role::race) continue;
      Drawn drawn;
      TRY(draw_declared(workload, seed, drawn));
      const ReferencePlaces::Axes here = ReferencePlaces::separable(
          definition_, workload, {drawn.inputs.begin(), drawn.inputs.end()}, reference_, seed);
      std::erase_if(axes,
                    [&](const std::string& axis) { return std::find(here.begin(), here.end(), axis) == here.end(); });
    }
    separable_ = std::move(axes);
    return {};
  }

  /// Places of raced workloads with values as the families of the task have them, which only smaller workloads met.
  Result<std::string> check_sizes(const model::Kernel& kernel, const model::Workload& workload, std::uint64_t seed,
                                  const std::stop_token& stop) {
    if (kernel.id() == baseline_.id()) return std::string();
    TRY(draw_sizes(workload, seed));
    if (sizes_.inputs.empty()) return std::string();
    TRY_ASSIGN(const BuiltPtr built, tracer_->build(kernel, stop));
    TRY_ASSIGN(const BuiltPtr baseline, tracer_->build(baseline_, stop));
    TRY_ASSIGN(const TracedPlan* const plan, plan_of(*built, workload));
    TRY_ASSIGN(const TracedPlan* const right, plan_of(*baseline, workload));
    return rough_check(plan->program, right->program, {sizes_.inputs.begin(), sizes_.inputs.end()}, seed, stop);
  }

  Result<std::string> check_whole(const model::Kernel& kernel, const model::Workload& workload,
                                  const std::stop_token& stop) {
    TRY_ASSIGN(const BuiltPtr built, tracer_->build(kernel, stop));
    TRY_ASSIGN(const TracedPlan* const plan, plan_of(*built, workload));
    return whole_->check(plan->program, workload, stop);
  }

  Result<const TracedPlan*> plan_of(const Built& built, const model::Workload& workload) const {
    if (!built.report.built) return base::fail(ErrorCode::invalid_argument, built.report.diagnostics);
    const auto plan = built.plans.find(model::bind_axes(definition_, workload));
    if (plan == built.plans.end())
      return base::fail(ErrorCode::invalid_argument, "the kernel was not traced for these axes");
    return &plan->second;
  }

  /// Where no workload is executed whole, the baseline proves nothing: it is held against the reference, too.
  Result<std::string> check_by_reference(const Built& built, const model::Workload& workload, std::uint64_t seed,
                                         const std::stop_token& stop) {
    TRY_ASSIGN(const TracedPlan* const plan, plan_of(built, workload));
    if (declared_.workload != workload.name) places_.reset();
    TRY(draw_inputs(workload, seed));
    const std::vector<std::span<const float>> inputs(declared_.inputs.begin(), declared_.inputs.end());
    if (!places_) {
      TRY_ASSIGN(places_, ReferencePlaces::compute(definition_, workload, inputs, reference_,
                                                   model::variable_axes(definition_), seed));
    }
    TRY_ASSIGN(const std::string wrong, places_->check(plan->program, inputs, seed, stop));
    return wrong.empty() ? wrong
                         : wrong +
                               "; the reference was called with a few places of each variable axis: if it goes over "
                               "one, as a sum does, write that axis as a constant or add a workload of role check";
  }

  /// Inputs of one workload, kept for the next kernel: kernels are traced without them.
  struct Drawn {
    std::string workload;
    std::vector<std::vector<float>> inputs;
  };

  Result<void> draw_inputs(const model::Workload& workload, std::uint64_t seed) {
    return draw_declared(workload, seed, declared_);
  }

  Result<void> draw_declared(const model::Workload& workload, std::uint64_t seed, Drawn& drawn) {
    return draw(workload, drawn,
                [&](const model::TensorSpec& input, evaluation::InputDraw draw, std::span<float> values) {
                  draw.seed = evaluation::input_seed(seed, workload.name, 0, input.name);
                  return evaluation::draw_input(draw, std::as_writable_bytes(values));
                });
  }

  /// Each input in parts along its first axis, a part for each of kSizes that the input permits; with fewer places, one
  /// of them for all. None where no input permits any.
  Result<void> draw_sizes(const model::Workload& workload, std::uint64_t seed) {
    if (sizes_.workload == workload.name) return {};
    bool any = false;
    const auto in_parts = [&](const model::TensorSpec& input, evaluation::InputDraw draw,
                              std::span<float> values) -> Result<void> {
      std::vector<model::Family> families;
      for (const model::Family size : kSizes) {
        const model::Family taken = evaluation::family_of_input(input, size);
        if (taken != model::Family::as_declared) families.push_back(taken);
      }
      any = any || !families.empty();
      if (families.empty()) families = {model::Family::as_declared};
      const std::int64_t places = draw.shape.empty() ? 1 : draw.shape.front();
      const auto parts = static_cast<std::int64_t>(families.size());
      const std::size_t each = values.size() / static_cast<std::size_t>(std::max<std::int64_t>(places, 1));
      for (std::int64_t part = 0; part < (places < parts ? 1 : parts); ++part) {
        const std::int64_t begin = places < parts ? 0 : places * part / parts;
        const std::int64_t end = places < parts ? places : places * (part + 1) / parts;
        draw.seed = evaluation::input_seed(seed, workload.name, static_cast<int>(part) + 1, input.name);
        draw.family = families[places < parts ? draw.seed % families.size() : static_cast<std::size_t>(part)];
        if (!draw.shape.empty()) draw.shape.front() = end - begin;
        TRY(evaluation::draw_input(
            draw, std::as_writable_bytes(values.subspan(static_cast<std::size_t>(begin) * each,
                                                        static_cast<std::size_t>(end - begin) * each))));
      }
      return {};
    };
    TRY(draw(workload, sizes_, in_parts));
    if (!any) sizes_.inputs.clear();
    return {};
  }

  /// `fill` is called for each tensor, with its generator.
  template <class Fill>
  Result<void> draw(const model::Workload& workload, Drawn& drawn, const Fill& fill) {
    if (drawn.workload == workload.name) return {};
    const model::AxisValues axes = model::bind_axes(definition_, workload);
    drawn = {};
    for (const model::TensorSpec& input : definition_.inputs) {
      if (!input.shape) continue;
      TRY_ASSIGN(model::InitSpec init, model::bound(model::init_of(workload, input), axes));
      std::vector<float>& values =
          drawn.inputs.emplace_back(static_cast<std::size_t>(model::element_count(input, axes)));
      TRY(fill(
          input,
          evaluation::InputDraw{.init = std::move(init), .dtype = input.dtype, .shape = model::shape_of(input, axes)},
          std::span(values)));
    }
    drawn.workload = workload.name;
    return {};
  }

  /// Says what it is wherever it stands.
  [[nodiscard]] std::string name() const {
    const char* const how = !constants_.empty() ? ", by measured constants" : chip_.calibrated ? "" : ", uncalibrated";
    return fmt::format("{} (modelled{})", chip_.name, how);
  }
  [[nodiscard]] std::string version() const {
    return constants_.empty() ? tracer_->version() : tracer_->version() + ", constants of " + constants_;
  }
  [[nodiscard]] evaluation::Peaks peaks() const { return documented_peaks(chip_); }

  TrainiumOptions options_;
  Generation chip_;
  std::string constants_;  ///< where they are from; empty: they are chip.hpp's
  model::Task task_;
  model::Kernel baseline_;
  Drawn declared_;                                  ///< of the workload that was looked at last
  Drawn sizes_;                                     ///< of it as well
  std::optional<ReferencePlaces> places_;           ///< of the same workload
  std::optional<ReferencePlaces::Axes> separable_;  ///< axes that the reference can be cut on
  std::optional<WholeOutputs> whole_;               ///< where outputs are checked as the public benchmark does
  bool checks_ = false;                             ///< whether the task has a workload that is executed whole
  model::AxisValues workload_;                      ///< that a profile tells of
  std::unique_ptr<Tracer> tracer_;
};

}  // namespace

std::unique_ptr<evaluation::Target> make_trainium_target(TrainiumOptions options) {
  return std::make_unique<TrainiumTarget>(std::move(options));
}

}  // namespace accelopt::targets::trainium
