// SPDX-License-Identifier: Apache-2.0
#include "evaluation/measuring.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "evaluation/race/recompute.hpp"
#include "evaluation/roofline.hpp"
#include "evaluation/verify/dtype_codec.hpp"
#include "model/stages.hpp"

namespace accelopt::evaluation {
namespace {

/// A share of the roofline from which on a low peak would matter.
constexpr double kNearPeaks = 0.9;

/// The outputs of one call, kept.
struct Kept {
  std::size_t workload = 0;
  int slot = 0;
  Poison poison = Poison::nan;
  std::vector<Bytes> outputs;
};

/// Untimed ones: nobody needs to repeat them.
CallOptions options_of(Measuring& measuring, std::size_t workload, const Slot& slot, Poison poison) {
  CallOptions options{call_limit(measuring.expected_ns({workload}).front(), measuring.hard_limit()),
                      measuring.task.cpu.cache, measuring.random()};
  options.poison = poison;
  options.right = slot.expected;
  return options;
}

/// The first element in which two calls' outputs differ by more than right ones may.
std::optional<Disagreement> disagreement_of(const Slot& slot, const std::vector<Bytes>& kept,
                                            const std::vector<std::span<const std::byte>>& again) {
  for (std::size_t i = 0; i < again.size(); ++i) {
    const Expected& expected = slot.expected[i];
    const auto place = first_disagreement(expected, slot.bounds[i], kept[i], again[i]);
    if (!place) continue;
    return Disagreement{i, static_cast<std::int64_t>(*place), decode_element(expected.dtype, kept[i], *place),
                        decode_element(expected.dtype, again[i], *place)};
  }
  return std::nullopt;
}

/// Runs a call again in a fresh process, over poison of another kind. A failure when the outputs do not agree with what
/// was kept: the kernel then depends on memory that it did not write, or on the moment.
base::Result<std::optional<Failure>> check_repeat(Measuring& measuring, Slots& slots, const model::Kernel& kernel,
                                                  const Kept& kept, const std::stop_token& stop) {
  TRY_ASSIGN(const auto live, measuring.target.start(kernel, Placement::usual, stop));
  TRY_ASSIGN(Slot * slot, slots.get(kept.workload, kept.slot));
  TRY(live->expect({&slot->invocation}));
  TRY_ASSIGN(const auto lock, measuring.target.lock_machine());
  const auto other = static_cast<std::size_t>(kept.poison) + 1 + measuring.random() % (kPoisons.size() - 1);
  CallOptions options = options_of(measuring, kept.workload, *slot, kPoisons[other % kPoisons.size()]);
  options.repeat = Repeat::compare;
  TRY_ASSIGN(const CallOutcome outcome, live->call(slot->invocation, options));
  const model::Workload& workload = measuring.task.workloads[kept.workload];
  if (auto failure = judge(measuring.task, workload, *slot, outcome)) return failure;
  const auto place =
      measuring.target.keeps_slots() ? outcome.disagreement : disagreement_of(*slot, kept.outputs, outcome.outputs);
  if (!place) return std::optional<Failure>();
  Failure failure{model::Status::incorrect_numerical, {}, model::Mismatch{}};
  model::Mismatch& where = *failure.mismatch;
  where.workload = workload.name;
  where.family = std::string(model::to_string(slot->family));
  where.output = measuring.task.definition.outputs[place->output].name;
  where.index = place->index;
  where.expected = place->kept;
  where.actual = place->again;
  failure.reason = fmt::format(
      "workload {} (family {}): output {}: two runs on the same inputs disagree: {:.9g} and {:.9g} at index {}; the "
      "kernel depends on memory that it did not write, or on the order of its threads",
      where.workload, where.family, where.output, where.expected, where.actual, where.index);
  return std::optional(std::move(failure));
}

/// Drawing a slot, with its reference runs, takes so many times as long as a call with it, or longer.
constexpr int kDrawingShare = 8;

enum class Smallest { no, yes };
/// How many slots of a workload a verification takes. The smallest workload sees every family: some wrong kernels show
/// under one of them alone.
int slots_of(const Slots& slots, const VerifyPlan& plan, Smallest smallest) {
  return plan.slots > 0 && smallest == Smallest::no ? std::min(slots.count(), plan.slots) : slots.count();
}

}  // namespace

void FairTimes::add(const CallOutcome& outcome) {
  all_.push_back(outcome.time_ns);
  const bool fair = outcome.fault == TimeFault::none && !outcome.disturbed && !outcome.early;
  if (fair) fair_.push_back(outcome.time_ns);
  if (outcome.fault == TimeFault::clocks_differ) disturbance_ = kClocksDiffer;
  if (outcome.fault == TimeFault::neighbour) disturbance_ = outcome.disturbance;
}

double FairTimes::median() const {
  return stats::median(fair_.empty() ? all_ : fair_);
}

std::string FairTimes::disturbance() const {
  return fair_.empty() ? disturbance_ : std::string();
}

std::size_t bytes_of(const model::Definition& definition, const model::Workload& workload) {
  const model::AxisValues axes = model::bind_axes(definition, workload);
  std::size_t bytes = 0;
  for (const auto* list : {&definition.inputs, &definition.outputs}) {
    for (const model::TensorSpec& tensor : *list) {
      bytes += static_cast<std::size_t>(model::element_count(tensor, axes)) * model::size_of(tensor.dtype);
    }
  }
  return bytes;
}

stats::Samples Measuring::samples() const {
  switch (target.clock()) {
    case DeviceClock::noisy:
      break;
    case DeviceClock::deterministic:
      return stats::Samples::exact;
    case DeviceClock::modelled:
      return stats::Samples::modelled;
  }
  return stats::Samples::noisy;
}

std::vector<std::size_t> Measuring::workloads(std::span<const model::Role> roles) const {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < task.workloads.size(); ++i) {
    if (std::find(roles.begin(), roles.end(), task.workloads[i].role) != roles.end()) out.push_back(i);
  }
  return out;
}

std::vector<double> Measuring::weights(const std::vector<std::size_t>& of) const {
  std::vector<double> out;
  out.reserve(of.size());
  for (const std::size_t workload : of) {
    out.push_back(task.workloads[workload].role == model::Role::race ? task.workloads[workload].weight : 0.0);
  }
  return out;
}

std::chrono::nanoseconds Measuring::hard_limit() const {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(settings.call_limit_seconds * 1e9));
}

std::vector<double> Measuring::expected_ns(const std::vector<std::size_t>& of) const {
  std::vector<double> out;
  out.reserve(of.size());
  for (const std::size_t workload : of) out.push_back(workload < baseline_ns.size() ? baseline_ns[workload] : 0.0);
  return out;
}

StageClock::StageClock(const Measuring& measuring, model::Evaluation& evaluation, model::Stage stage)
    : use_(measuring.target.use()),
      evaluation_(evaluation),
      stage_(stage),
      began_(std::chrono::steady_clock::now()),
      waited_before_(use_.waited) {}

StageClock::~StageClock() {
  const auto measured = std::chrono::steady_clock::now() - began_ - (use_.waited - waited_before_);
  evaluation_.stages.push_back({stage_, std::chrono::duration<double>(measured).count()});
}

model::Evaluation blank_evaluation(const Measuring& measuring, const model::Kernel& kernel,
                                   model::EvaluationKind kind) {
  model::Evaluation out;
  out.kind = kind;
  out.environment = measuring.target.environment();
  out.environment.seed = measuring.settings.seed;
  if (measuring.samples() == stats::Samples::exact) out.environment.clock = model::kDeterministicClock;
  if (measuring.samples() == stats::Samples::modelled) out.environment.clock = model::kModelledClock;
  out.trust = measuring.target.trust();
  out.source_id = kernel.id();
  return out;
}

void set_failure(model::Evaluation& evaluation, const Failure& failure) {
  evaluation.status = failure.status;
  evaluation.reason = failure.reason;
  evaluation.mismatch = failure.mismatch;
}

bool not_measured(const BlockRunner& runner, model::Evaluation& evaluation) {
  if (runner.unmeasured().empty()) return false;
  evaluation.status = model::Status::not_measured;
  evaluation.reason = runner.unmeasured();
  return true;
}

model::BlockSample sample_of(const Block& block) {
  model::BlockSample out;
  out.reference_ns = *block.times_ns.at(0);
  out.candidate_ns = *block.times_ns.at(1);
  out.slot = block.slot;
  out.disturbed = block.disturbed;
  out.reference_mhz = block.clock_mhz[0];
  out.candidate_mhz = block.clock_mhz[1];
  out.reference_lag_ns = block.lag_ns[0];
  out.candidate_lag_ns = block.lag_ns[1];
  if (block.times_ns.size() < 3) return out;
  out.shifted_ns = *block.times_ns[2];
  out.shifted_mhz = block.clock_mhz[2];
  out.shifted_lag_ns = block.lag_ns[2];
  return out;
}

bool can_run(const Measuring& measuring, model::Evaluation& evaluation) {
  std::string reason = measuring.target.builds_only();
  if (reason.empty()) return true;
  evaluation.status = model::Status::not_measured;
  evaluation.reason = "it builds; nothing was run or measured: " + reason;
  return false;
}

bool take_build(const model::BuildReport& report, model::Evaluation& evaluation) {
  evaluation.machine_code_id = report.machine_code_id;
  if (report.built) return true;
  set_failure(evaluation, {model::Status::compile_error, report.diagnostics, std::nullopt});
  return false;
}

base::Result<bool> build_stage(Measuring& measuring, const model::Kernel& kernel, model::Evaluation& evaluation,
                               const std::stop_token& stop) {
  const StageClock clock(measuring, evaluation, model::Stage::build);
  TRY_ASSIGN(const model::BuildReport report, measuring.target.build(kernel, stop));
  return take_build(report, evaluation);
}

/// Those that are drawn.
static std::vector<const Invocation*> invocations_of(const Slots& slots, std::size_t workload,
                                                     const std::vector<int>& numbers) {
  std::vector<const Invocation*> out;
  for (const int number : numbers) {
    if (const Slot* const slot = slots.peek(workload, number)) out.push_back(&slot->invocation);
  }
  return out;
}

namespace {

/// Of a target that times without calls: raced workloads by random places. The first failure, or none.
base::Result<std::optional<Failure>> verify_in_places(Measuring& measuring, const model::Kernel& kernel,
                                                      const VerifyPlan& plan, const std::stop_token& stop) {
  for (const std::size_t index : plan.workloads) {
    const model::Workload& workload = measuring.task.workloads[index];
    if (plan.median_ns != nullptr) {
      TRY_ASSIGN((*plan.median_ns)[index], measuring.target.time_of(kernel, workload, stats::kAssumptions - 1, stop));
    }
    if (workload.role != model::Role::race) continue;
    TRY_ASSIGN(const std::string wrong, measuring.target.spot_check(kernel, workload, measuring.random(), stop));
    if (!wrong.empty()) {
      return std::optional(
          Failure{model::Status::incorrect_numerical, "workload " + workload.name + ", " + wrong, std::nullopt});
    }
  }
  return std::optional<Failure>();
}

base::Result<std::optional<Failure>> verify_calls(Measuring& measuring, Slots& slots, const model::Kernel& kernel,
                                                  const VerifyPlan& plan, const std::stop_token& stop);

}  // namespace

base::Result<std::optional<Failure>> verify(Measuring& measuring, Slots& slots, const model::Kernel& kernel,
                                            const VerifyPlan& plan, const std::stop_token& stop) {
  if (!measuring.target.times_without_calls()) return verify_calls(measuring, slots, kernel, plan, stop);
  VerifyPlan called = plan;
  called.median_ns = nullptr;
  std::erase_if(called.workloads,
                [&](std::size_t index) { return measuring.task.workloads[index].role == model::Role::race; });
  if (!called.workloads.empty()) {
    TRY_ASSIGN(auto failure, verify_calls(measuring, slots, kernel, called, stop));
    if (failure) return failure;
  }
  return verify_in_places(measuring, kernel, plan, stop);
}

namespace {

/// What a verification chooses from. Where it looks at all of a generation, each family is among them.
std::vector<int> order_of(const Slots& slots, const std::string& source_id, std::size_t workload, int wanted) {
  if (wanted < slots.count()) return slots.not_met({source_id}, {workload}, slots.count());
  std::vector<int> out(static_cast<std::size_t>(slots.count()));
  std::iota(out.begin(), out.end(), slots.unmet(source_id, workload));
  return out;
}

/// Whether a target that keeps so many bytes of slots keeps one more of them.
bool keeps_one_more(const Bench& bench, std::uint64_t bytes, std::uint64_t one) {
  const std::uint64_t most = bench.most_slot_bytes();
  return !bench.keeps_slots() || most == 0 || bytes + one <= most;
}

base::Result<std::optional<Failure>> verify_calls(Measuring& measuring, Slots& slots, const model::Kernel& kernel,
                                                  const VerifyPlan& plan, const std::stop_token& stop) {
  std::vector<std::size_t> workloads = plan.workloads;
  const model::Definition& definition = measuring.task.definition;
  std::sort(workloads.begin(), workloads.end(), [&](std::size_t a, std::size_t b) {
    return bytes_of(definition, measuring.task.workloads[a]) < bytes_of(definition, measuring.task.workloads[b]);
  });
  TRY_ASSIGN(auto live, measuring.target.start(kernel, Placement::usual, stop));
  const std::string& source_id = kernel.id();
  std::size_t poisons = measuring.random() % kPoisons.size();
  std::optional<Kept> kept;
  std::map<std::size_t, int> met;  // a slot by workload
  std::string right;               // calls before the one that fails
  model::StepShare share{model::StepShare::Part::verifying, 0, 0};
  const auto slots_for = [&](std::size_t workload) {
    return slots_of(slots, plan, workload == workloads.front() ? Smallest::yes : Smallest::no);
  };
  const auto mebibytes = [&](std::size_t workload) {
    return 1 + static_cast<int>(bytes_of(definition, measuring.task.workloads[workload]) >> 20);
  };
  for (const std::size_t workload : workloads)
    share.of += (kDrawingShare + 1) * slots_for(workload) * mebibytes(workload);
  const auto advance = [&](std::size_t workload, int parts) {
    share.done += parts * mebibytes(workload);
    measuring.target.use().progress(share);
  };
  // As many as the target keeps together, at least one; how many. What it dropped would be drawn again for its call.
  const auto draw_some = [&](std::size_t workload, std::span<const int> numbers) -> base::Result<std::size_t> {
    std::uint64_t bytes = 0;
    std::size_t drawn = 0;
    while (drawn < numbers.size() && (drawn == 0 || keeps_one_more(measuring.target, bytes, bytes / drawn))) {
      slots.meet_one(source_id, workload, numbers[drawn]);
      TRY_ASSIGN(const Slot* const slot, slots.get(workload, numbers[drawn++]));
      advance(workload, kDrawingShare);
      bytes += measuring.target.bytes_of_slot(slot->invocation.number);
    }
    return drawn;
  };
  for (const std::size_t workload : workloads) {
    int right_here = 0;
    std::vector<int> order = order_of(slots, source_id, workload, slots_for(workload));
    std::shuffle(order.begin(), order.end(), measuring.random);
    order.resize(static_cast<std::size_t>(slots_for(workload)));
    met[workload] = order.front();
    FairTimes times;
    for (std::span<const int> coming = order; !coming.empty();) {
      TRY_ASSIGN(const std::size_t drawn, draw_some(workload, coming));
      const std::vector<int> at_once(coming.begin(), coming.begin() + static_cast<std::ptrdiff_t>(drawn));
      coming = coming.subspan(drawn);
      TRY(live->expect(invocations_of(slots, workload, at_once)));
      TRY_ASSIGN(const auto lock, measuring.target.lock_machine());
      for (const int number : at_once) {
        if (stop.stop_requested()) return base::fail(base::ErrorCode::cancelled, "verification was stopped as asked");
        TRY_ASSIGN(Slot * slot, slots.get(workload, number));
        const Poison poison = kPoisons[poisons++ % kPoisons.size()];
        CallOptions options = options_of(measuring, workload, *slot, poison);
        // The user's tensors are aligned for their elements: a kernel that needs more must not pass.
        if (right_here % 2 == 1 && !measuring.target.keeps_slots()) options.alignment = Alignment::element;
        options.repeat = kept ? Repeat::no : Repeat::keep;
        TRY_ASSIGN(const CallOutcome outcome, live->call(slot->invocation, options));
        if (auto failure = judge(measuring.task, measuring.task.workloads[workload], *slot, outcome, plan.margin)) {
          if (failure->mismatch)
            failure->reason += fmt::format("; calls that were right before it: {}{} of {} on workload {}", right,
                                           right_here, order.size(), measuring.task.workloads[workload].name);
          return failure;
        }
        ++right_here;
        advance(workload, 1);
        if (options.alignment == Alignment::cache_line) times.add(outcome);
        if (kept) continue;
        kept.emplace(Kept{workload, number, poison, {}});
        for (const auto& output : outcome.outputs) kept->outputs.emplace_back(output.begin(), output.end());
      }
    }
    right += fmt::format("{} on workload {}, ", right_here, measuring.task.workloads[workload].name);
    if (plan.median_ns != nullptr) (*plan.median_ns)[workload] = times.median();
    if (plan.disturbance != nullptr && plan.disturbance->empty()) *plan.disturbance = times.disturbance();
  }
  if (!kept) return std::optional<Failure>();
  live.reset();
  TRY_ASSIGN(auto differs, check_repeat(measuring, slots, kernel, *kept, stop));
  if (differs) return differs;
  return verify_special_values(measuring, slots, kernel, met, stop);
}

}  // namespace

model::Interval to_model(const stats::Interval& interval) {
  return {interval.estimate, interval.low, interval.high};
}

model::WorkloadTiming workload_timing(const Measuring& measuring, std::size_t workload,
                                      const std::vector<double>& reference_ns,
                                      const std::vector<double>& candidate_ns) {
  const model::Workload& facts = measuring.task.workloads[workload];
  model::WorkloadTiming out = timing_of(facts, reference_ns, candidate_ns, measuring.samples());
  out.roofline = roofline(measuring.task, facts, measuring.peaks, out.time_ns);
  return out;
}

base::Result<std::string> find_incredible(Measuring& measuring, model::Evaluation& evaluation,
                                          const std::stop_token& stop) {
  const auto workload_of = [&](const model::WorkloadTiming& timing) -> const model::Workload& {
    return *std::find_if(measuring.task.workloads.begin(), measuring.task.workloads.end(),
                         [&](const model::Workload& workload) { return workload.name == timing.name; });
  };
  const auto offender = [&]() -> const model::WorkloadTiming* {
    for (const model::WorkloadTiming& timing : evaluation.workloads) {
      const double least =
          least_credible_ns(measuring.task, workload_of(timing), measuring.peaks, measuring.target.last_level_bytes());
      if (timing.time_ns < least) return &timing;
    }
    return nullptr;
  };
  const bool near =
      !measuring.near_peaks &&
      std::any_of(evaluation.workloads.begin(), evaluation.workloads.end(), [](const model::WorkloadTiming& timing) {
        return timing.roofline && timing.roofline->fraction >= kNearPeaks;
      });
  if (!near && offender() == nullptr) return "";
  // The stored peaks may come from a slow moment of the machine.
  TRY_ASSIGN(const Peaks again, measuring.target.probe_peaks_again(stop));
  measuring.peaks = larger_peaks(again, measuring.peaks);
  measuring.near_peaks = true;
  for (model::WorkloadTiming& timing : evaluation.workloads) {
    timing.roofline = roofline(measuring.task, workload_of(timing), measuring.peaks, timing.time_ns);
  }
  const model::WorkloadTiming* const found = offender();
  if (found == nullptr) return "";
  return "workload " + found->name + ": faster than the machine can move or compute what the task says (" +
         std::to_string(static_cast<std::int64_t>(found->time_ns)) + " ns)";
}

base::Result<void> reject_incredible(Measuring& measuring, model::Evaluation& evaluation, const std::stop_token& stop) {
  TRY_ASSIGN(const std::string found, find_incredible(measuring, evaluation, stop));
  if (found.empty()) return {};
  evaluation.status = model::Status::reward_hack;
  evaluation.verdict = model::Verdict::none;
  evaluation.reason = found + "; if the kernel is honest, the task's [cost] states more work than is needed";
  return {};
}

}  // namespace accelopt::evaluation
