// SPDX-License-Identifier: Apache-2.0
#include "evaluation/verify/slots.hpp"

#include <algorithm>
#include <atomic>

#include "base/hash.hpp"
#include "evaluation/verify/dtype_codec.hpp"
#include "evaluation/verify/spread.hpp"
#include "evaluation/verify/ties.hpp"

namespace accelopt::evaluation {
namespace {

using base::ErrorCode;

/// Honest kernels round in few ways: a candidate's bytes are mostly those of another one before it.
constexpr std::size_t kMostAccepted = 16;

// What is drawn before it is asked for: slots of most races, as long as that is cheap and nobody waits long for the
// last of them.
constexpr int kSlotsAhead = 128;
constexpr std::chrono::seconds kMostDrawingAhead{20};
constexpr std::chrono::milliseconds kSlowSlot{300};

/// A block uses slots of two rows at once, and those of calls that were repeated.
constexpr std::size_t kRowsAtHand = 4;

/// What it takes of memory here.
std::uint64_t bytes_of(const Slot& slot) {
  std::uint64_t bytes = 0;
  for (const Bytes& input : slot.invocation.inputs) bytes += input.size();
  for (const std::size_t output : slot.invocation.output_bytes) bytes += output;
  for (const Expected& expected : slot.expected)
    bytes += (expected.values.size() + expected.integers.size()) * sizeof(double);
  for (const Bounds& bounds : slot.bounds) bytes += bounds.rows.size() * sizeof(double);
  return bytes;
}

std::vector<ReferenceTensor> perturbed(const model::Definition& definition, std::vector<ReferenceTensor> inputs,
                                       std::uint64_t seed) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    perturb(inputs[i].values, definition.inputs[i].dtype, definition.numerics,
            base::derive_seed(seed, std::to_string(i)));
  }
  return inputs;
}

/// Each input begins elsewhere, so that what is summed over it is summed in another order.
std::vector<ReferenceTensor> rotated(const model::Definition& definition, std::vector<ReferenceTensor> inputs,
                                     std::uint64_t seed, int run) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    std::vector<double>& values = inputs[i].values;  // of floating dtypes
    const auto by = static_cast<std::ptrdiff_t>(rotation(values.size(), seed, run));
    if (definition.inputs[i].shape) std::rotate(values.begin(), values.begin() + by, values.end());
  }
  return inputs;
}

base::Error located(base::Error error, const model::Workload& workload, model::Family family) {
  return base::with_context(std::move(error),
                            "workload " + workload.name + ", family " + std::string(model::to_string(family)));
}

}  // namespace

std::uint64_t next_invocation_number() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

std::string describe(const DroppedFamily& dropped) {
  return "family " + dropped.family + " is dropped on workload " + dropped.workload +
         ": the reference computed in float gives NaN or infinity where double gives none; take " +
         (dropped.family == model::to_string(model::Family::outliers) ? "scaled" : "it") +
         " out of families, or draw smaller values";
}

ReferenceTensor seen_by_reference(const model::TensorSpec& input, const Bytes& bytes) {
  if (!model::is_floating(input.dtype)) return {{}, bytes};
  return {decode(input.dtype, bytes), {}};
}

base::Result<std::vector<Bounds>> Bench::prepare_slot(const SlotPlan& plan) {
  return base::fail(ErrorCode::unsupported, "slot of workload " + plan.workload.name + ": this target keeps none");
}

base::Result<double> Bench::time_of(const model::Kernel&, const model::Workload&, int, std::stop_token) {
  return base::fail(ErrorCode::unsupported, "this target times calls alone");
}

base::Result<std::string> Bench::spot_check(const model::Kernel&, const model::Workload&, std::uint64_t,
                                            std::stop_token) {
  return base::fail(ErrorCode::unsupported, "this target verifies whole outputs alone");
}

Slots::Slots(Bench& bench, const model::Task& task, std::uint64_t seed, int count, std::uint64_t most_kept_bytes)
    : bench_(bench),
      task_(task),
      seed_(seed),
      count_(std::max({count, 2, static_cast<int>(families_of_task(task).size())})),
      most_kept_bytes_(most_kept_bytes) {}

Slots::~Slots() {
  for (const auto& [place, kept] : slots_) bench_.forget_slot(kept.slot->invocation.number);
}

int Slots::unmet(const std::string& source_id, std::size_t workload, SlotUse use) const {
  const auto known = met_.find({source_id, workload, use});
  if (known == met_.end()) return 0;
  const Met& met = known->second;
  return met.others.empty() ? met.below : *met.others.rbegin() + 1;
}

void Slots::meet(const std::string& source_id, std::size_t workload, int end, SlotUse use) {
  Met& met = met_[{source_id, workload, use}];
  met.below = std::max(met.below, end);
  met.others.erase(met.others.begin(), met.others.lower_bound(met.below));
}

void Slots::meet_one(const std::string& source_id, std::size_t workload, int number) {
  Met& met = met_[{source_id, workload, SlotUse::blocks}];
  if (number >= met.below) met.others.insert(number);
  while (!met.others.empty() && *met.others.begin() == met.below) {
    met.others.erase(met.others.begin());
    ++met.below;
  }
}

/// The lowest of the wanted numbers that none of these has met.
std::vector<int> Slots::lowest(const std::vector<std::string>& source_ids, const std::vector<std::size_t>& workloads,
                               int count, const std::function<bool(int)>& wanted) const {
  std::vector<const Met*> all;
  for (const std::string& source_id : source_ids) {
    for (const std::size_t workload : workloads) {
      const auto known = met_.find({source_id, workload, SlotUse::blocks});
      if (known != met_.end()) all.push_back(&known->second);
    }
  }
  std::vector<int> out;
  for (int number = 0; std::ssize(out) < count; ++number) {
    const bool met =
        std::ranges::any_of(all, [&](const Met* one) { return number < one->below || one->others.contains(number); });
    if (!met && wanted(number)) out.push_back(number);
  }
  return out;
}

std::vector<int> Slots::not_met(const std::vector<std::string>& source_ids, const std::vector<std::size_t>& workloads,
                                int count) const {
  return lowest(source_ids, workloads, count, [](int) { return true; });
}

std::vector<int> Slots::to_race(const std::vector<std::string>& source_ids,
                                const std::vector<std::size_t>& workloads) const {
  const auto as_declared = [&](int number) { return family_of_slot(task_, number) == model::Family::as_declared; };
  std::vector<int> out;
  if (bench_.clock() == DeviceClock::noisy && families_of_task(task_).size() > 1)
    out = lowest(source_ids, workloads, 1, std::not_fn(as_declared));
  const std::vector<int> timed = lowest(source_ids, workloads, count_ - static_cast<int>(out.size()), as_declared);
  out.insert(out.end(), timed.begin(), timed.end());
  return out;
}

Slot* Slots::kept(std::size_t workload, int slot) {
  const auto known = slots_.find({slot, workload});
  if (known == slots_.end()) return nullptr;
  known->second.asked_for = ++asked_;
  return known->second.slot.get();
}

const Slot* Slots::peek(std::size_t workload, int slot) const {
  const auto known = slots_.find({slot, workload});
  return known == slots_.end() ? nullptr : known->second.slot.get();
}

base::Result<Slot*> Slots::get(std::size_t workload, int slot) {
  if (Slot* const known = kept(workload, slot)) return known;
  const auto place = std::pair(slot, workload);
  const auto began = std::chrono::steady_clock::now();
  TRY_ASSIGN(auto drawn, draw_usable(workload, slot));
  drawing_ += std::chrono::steady_clock::now() - began;
  ++drawn_;
  Slot* const out = drawn.get();
  const std::uint64_t bytes = bench_.keeps_slots() ? bench_.bytes_of_slot(out->invocation.number) : bytes_of(*out);
  kept_bytes_ += bytes;
  slots_[place] = {std::move(drawn), bytes, ++asked_};
  forget_some();
  return out;
}

bool Slots::draw_ahead(const std::vector<std::size_t>& workloads) {
  const bool cheap = drawn_ > 0 && drawing_ / drawn_ < kSlowSlot && drawing_ahead_ < kMostDrawingAhead;
  if (!cheap || kept_bytes_ > most_kept_bytes_ / 2) return false;
  // All that a first verification looks at, and what races are about.
  for (int number = 0, ahead = 0; ahead < kSlotsAhead; ++number) {
    if (number >= count_ && family_of_slot(task_, number) != model::Family::as_declared) continue;
    ++ahead;
    for (const std::size_t workload : workloads) {
      if (slots_.contains({number, workload})) continue;
      const auto before = drawing_;
      const auto drawn = get(workload, number);
      drawing_ahead_ += drawing_ - before;
      return drawn.has_value();
    }
  }
  return false;
}

/// Every candidate begins with the lowest numbers, so the highest go first; those of the block in hand stay.
void Slots::forget_some() {
  const std::size_t at_hand = kRowsAtHand * task_.workloads.size();
  const std::size_t least = static_cast<std::size_t>(count_) * task_.workloads.size() + at_hand;
  for (auto last = slots_.end(); kept_bytes_ > most_kept_bytes_ && slots_.size() > least && last != slots_.begin();) {
    --last;
    if (last->second.asked_for + at_hand > asked_) continue;
    bench_.forget_slot(last->second.slot->invocation.number);
    kept_bytes_ -= last->second.bytes;
    last = slots_.erase(last);
  }
}

base::Result<std::unique_ptr<Slot>> Slots::draw_usable(std::size_t workload, int slot) {
  const model::Family family = family_of_slot(task_, slot);
  TRY_ASSIGN(auto drawn, draw(workload, slot, family));
  // A family on which the float reference is not finite says nothing; the slot is drawn as declared instead.
  if (!drawn && family != model::Family::as_declared) {
    const DroppedFamily one{task_.workloads[workload].name, std::string(model::to_string(family))};
    const auto known = std::find_if(dropped_.begin(), dropped_.end(), [&](const DroppedFamily& other) {
      return other.workload == one.workload && other.family == one.family;
    });
    if (known == dropped_.end()) dropped_.push_back(one);
    TRY_ASSIGN(drawn, draw(workload, slot, model::Family::as_declared));
  }
  if (drawn) return drawn;
  return tl::make_unexpected(
      located({ErrorCode::invalid_argument,
               "the reference computed in float gives NaN or infinity where double gives none; change the "
               "init of the inputs"},
              task_.workloads[workload], model::Family::as_declared));
}

/// The slot, or none when its family is not one that float can compute.
base::Result<std::unique_ptr<Slot>> Slots::draw(std::size_t workload_index, int number, model::Family family) {
  const model::Workload& workload = task_.workloads[workload_index];
  const model::AxisValues axes = model::bind_axes(task_.definition, workload);
  auto slot = std::make_unique<Slot>();
  slot->number = number;
  slot->family = family;
  slot->invocation.number = next_invocation_number();
  for (const std::string& axis : model::variable_axes(task_.definition)) slot->invocation.axes.push_back(axes.at(axis));
  for (const model::TensorSpec& output : task_.definition.outputs) {
    slot->invocation.output_bytes.push_back(static_cast<std::size_t>(model::element_count(output, axes)) *
                                            model::size_of(output.dtype));
  }
  SlotPlan plan{workload, slot->invocation, {}, input_seed(seed_, workload.name, number, "\nperturbation")};
  plan.every_run = number < count_;
  for (const model::TensorSpec& input : task_.definition.inputs) {
    auto init = model::bound(model::init_of(workload, input), axes);
    if (!init)
      return tl::make_unexpected(located(base::with_context(init.error(), "input " + input.name), workload, family));
    plan.inputs.push_back({std::move(*init), input.dtype,
                           input.shape ? model::shape_of(input, axes) : std::vector<std::int64_t>{},
                           family_of_input(input, family), input_seed(seed_, workload.name, number, input.name)});
  }
  TRY_ASSIGN(const bool usable,
             bench_.keeps_slots() ? prepare_there(*slot, plan) : draw_here(*slot, workload_index, plan));
  if (!usable) {
    slot.reset();
  } else if (family == model::Family::as_declared && number < count_) {
    look_at_bounds(*slot, workload_index);
  }
  return slot;
}

void Slots::look_at_bounds(const Slot& slot, std::size_t workload) {
  for (std::size_t i = 0; i < task_.definition.outputs.size(); ++i) {
    const Bounds& bounds = slot.bounds[i];
    const model::TensorSpec& output = task_.definition.outputs[i];
    const BoundWorth worth = worth_of(bounds, task_.definition, output);
    Looseness& known = loose_[{workload, i}];
    known.looked_at.insert(slot.number);
    if (worth == BoundWorth::useless) known.useless.insert(slot.number);
    if (worth == BoundWorth::tells || bounds.normwise <= known.largest) continue;
    known.largest = bounds.normwise;
    known.text = explain_loose(bounds, task_.workloads[workload].name, output.name);
  }
}

std::vector<std::string> Slots::loose() const {
  std::vector<std::string> out;
  for (const auto& [place, known] : loose_) {
    if (!known.text.empty()) out.push_back(known.text);
  }
  return out;
}

std::string Slots::useless() const {
  for (const auto& [place, known] : loose_) {
    if (2 * known.useless.size() > known.looked_at.size()) return known.text;
  }
  return "";
}

base::Result<bool> Slots::draw_here(Slot& slot, std::size_t workload, const SlotPlan& plan) {
  const model::AxisValues axes = model::bind_axes(task_.definition, plan.workload);
  std::vector<ReferenceTensor> inputs;
  for (std::size_t i = 0; i < plan.inputs.size(); ++i) {
    const model::TensorSpec& input = task_.definition.inputs[i];
    Bytes bytes(static_cast<std::size_t>(model::element_count(input, axes)) * model::size_of(input.dtype));
    if (auto drawn = draw_input(plan.inputs[i], bytes); !drawn) {
      return tl::make_unexpected(
          located(base::with_context(drawn.error(), "input " + input.name), plan.workload, slot.family));
    }
    inputs.push_back(seen_by_reference(input, bytes));
    slot.invocation.inputs.push_back(std::move(bytes));
  }
  return calibrate_outputs(slot, inputs, workload, plan.perturbation);
}

base::Result<bool> Slots::prepare_there(Slot& slot, const SlotPlan& plan) {
  const model::AxisValues axes = model::bind_axes(task_.definition, plan.workload);
  auto bounds = bench_.prepare_slot(plan);
  if (!bounds) return tl::make_unexpected(located(bounds.error(), plan.workload, slot.family));
  slot.bounds = std::move(*bounds);
  for (const model::TensorSpec& output : task_.definition.outputs) {
    Expected expected;
    expected.dtype = output.dtype;
    if (output.shape) expected.shape = model::shape_of(output, axes);
    slot.expected.push_back(std::move(expected));
  }
  const bool usable =
      std::all_of(slot.bounds.begin(), slot.bounds.end(), [](const Bounds& one) { return one.float_is_finite; });
  if (!usable) bench_.forget_slot(slot.invocation.number);
  return usable;
}

base::Result<HostCalibration> calibrate_on_host(const model::Definition& definition, const model::AxisValues& axes,
                                                const HostReference& reference,
                                                const std::vector<ReferenceTensor>& inputs, const Invocation& kernel,
                                                std::uint64_t seed, const FloatFactors& known) {
  HostCalibration out;
  const model::Definition whole = model::reference_definition(definition);
  Invocation invocation{kernel.number, {}, {}, kernel.axes};
  for (const model::TensorSpec& output : whole.outputs) {
    invocation.output_bytes.push_back(static_cast<std::size_t>(model::element_count(output, axes)) *
                                      model::size_of(output.dtype));
  }
  TRY_ASSIGN(out.exact, reference(Precision::float64, inputs, invocation));
  TRY_ASSIGN(auto narrow, reference(Precision::float32, inputs, invocation));
  std::vector<ReferenceTensor> first(narrow.size());
  std::vector<ReferenceTensor> second(narrow.size());
  std::vector<ReferenceTensor> both(narrow.size());
  if (known.empty()) {
    TRY_ASSIGN(first, reference(Precision::float64, perturbed(definition, inputs, seed), invocation));
    TRY_ASSIGN(second, reference(Precision::float64, perturbed(definition, inputs, seed + 1), invocation));
    TRY_ASSIGN(both, reference(Precision::float32, perturbed(definition, inputs, seed + 2), invocation));
  }
  bool enough = true;  // the float run would do
  bool more_needed = false;
  std::vector<Expected> expected(whole.outputs.size());
  std::vector<HonestErrors> errors;
  for (std::size_t i = 0; i < whole.outputs.size(); ++i) {
    const model::TensorSpec& output = whole.outputs[i];
    expected[i].dtype = output.dtype;
    if (output.shape) expected[i].shape = model::shape_of(output, axes);
    if (model::is_floating(output.dtype)) {
      expected[i].values = std::move(out.exact[i].values);
    } else {
      expected[i].integers = decode_integers(output.dtype, out.exact[i].bytes);
    }
    HonestRuns runs{narrow[i].values, first[i].values, second[i].values, both[i].values};
    if (!known.empty()) runs.float_factor = known[i];
    errors.push_back(honest_errors(expected[i], runs, definition.numerics));
    more_needed = more_needed || needs_more_runs(output.dtype, expected[i].shape, errors.back(), definition.numerics);
    // Zero stands for none: GCC 12 takes the value of an empty optional for uninitialized here.
    const double factor = known.empty() ? float_factor(expected[i], runs, definition.numerics).value_or(0) : 0;
    enough = enough && factor > 0;
    out.factors.push_back(factor);
  }
  for (auto* const measured : {&narrow, &first, &second, &both}) measured->clear();  // outputs may be large
  const auto is_sum = [](const Expected& output) { return !output.values.empty() && has_few_elements(output.shape); };
  for (int run = 0; run < kMoreRuns && std::ranges::any_of(expected, is_sum); ++run) {
    const auto elsewhere = rotated(definition, inputs, seed, run);
    auto exact = reference(Precision::float64, elsewhere, invocation);
    const auto in_float = reference(Precision::float32, elsewhere, invocation);
    if (!exact || !in_float) break;  // it may rely on the order of its inputs
    for (std::size_t i = 0; i < errors.size(); ++i) {
      if (!is_sum(expected[i])) continue;
      const Expected moved{expected[i].dtype, expected[i].shape, std::move((*exact)[i].values), {}};
      if (!is_alike(expected[i], moved)) continue;
      add_honest_run(moved, (*in_float)[i].values, share_of_float_error(moved.dtype, definition.numerics), errors[i]);
    }
  }
  if (more_needed) {
    const auto in_float = [&](const model::TensorSpec& tensor) {
      return share_of_float_error(tensor.dtype, definition.numerics) == 1;
    };
    const bool all = std::ranges::all_of(whole.inputs, in_float) && std::ranges::all_of(whole.outputs, in_float);
    for (int run = 0; run < kMoreRuns; ++run) {
      const auto more_inputs = perturbed(definition, inputs, seed_of_more(seed, run));
      TRY_ASSIGN(const auto more, reference(all ? Precision::float32 : Precision::float64, more_inputs, invocation));
      for (std::size_t i = 0; i < errors.size(); ++i) add_honest_run(expected[i], more[i].values, 1, errors[i]);
    }
  }
  for (std::size_t i = 0; i < errors.size(); ++i) {
    out.bounds.push_back(bounds_of(expected[i].dtype, expected[i].shape, errors[i], definition.numerics));
    out.exact[i].values = std::move(expected[i].values);
  }
  if (!enough) out.factors.clear();
  return out;
}

/// None in the first generation.
FloatFactors Slots::factors_for(const Slot& slot, std::size_t workload) const {
  const auto known = factors_.find({workload, slot.family});
  return slot.number < count_ || known == factors_.end() ? FloatFactors() : known->second;
}

/// One slot without factors is enough to have none.
void Slots::learn(const Slot& slot, std::size_t workload, const FloatFactors& factors) {
  if (slot.number >= count_) return;
  const auto [known, first] = factors_.try_emplace({workload, slot.family}, factors);
  if (first || known->second.empty()) return;
  if (factors.empty()) known->second.clear();
  for (std::size_t i = 0; i < factors.size(); ++i) known->second[i] = std::max(known->second[i], factors[i]);
}

base::Result<bool> Slots::calibrate_outputs(Slot& slot, const std::vector<ReferenceTensor>& inputs, std::size_t index,
                                            std::uint64_t seed) {
  const model::Workload& workload = task_.workloads[index];
  const model::AxisValues axes = model::bind_axes(task_.definition, workload);
  const HostReference reference = [this](Precision precision, const std::vector<ReferenceTensor>& tensors,
                                         const Invocation& invocation) {
    return bench_.reference(precision, tensors, invocation);
  };
  auto calibrated =
      calibrate_on_host(task_.definition, axes, reference, inputs, slot.invocation, seed, factors_for(slot, index));
  if (!calibrated) return tl::make_unexpected(located(calibrated.error(), workload, slot.family));
  learn(slot, index, calibrated->factors);
  if (slot.family != model::Family::as_declared) {
    for (Bounds& bounds : calibrated->bounds) bounds.bands = unlimited_bands();
  }
  const model::Definition whole = model::reference_definition(task_.definition);
  for (std::size_t i = 0; i < whole.outputs.size(); ++i) {
    const model::TensorSpec& output = whole.outputs[i];
    Expected expected;
    expected.dtype = output.dtype;
    if (output.shape) expected.shape = model::shape_of(output, axes);
    if (model::is_floating(output.dtype)) {
      expected.values = std::move(calibrated->exact[i].values);
    } else {
      expected.integers = decode_integers(output.dtype, calibrated->exact[i].bytes);
    }
    slot.expected.push_back(std::move(expected));
  }
  slot.bounds = std::move(calibrated->bounds);
  for (std::size_t i = 0; i < task_.definition.outputs.size(); ++i) {
    const auto values = model::ties_of(task_.definition, task_.definition.outputs[i]);
    if (!values) continue;
    if (std::string reason = refuse_choices(slot.expected[i], slot.expected[*values]); !reason.empty()) {
      reason.insert(0, "the reference's output " + task_.definition.outputs[i].name + ": ");
      return tl::make_unexpected(located({ErrorCode::invalid_argument, std::move(reason)}, workload, slot.family));
    }
  }
  return std::all_of(slot.bounds.begin(), slot.bounds.end(), [](const Bounds& one) { return one.float_is_finite; });
}

namespace {

/// What the comparisons of all outputs say; `margin` is widened by those that are right.
std::optional<Failure> judge_comparisons(const model::Task& task, const model::Workload& workload, const Slot& slot,
                                         std::vector<Comparison> comparisons, const std::string& where,
                                         Margin* margin) {
  for (std::size_t i = 0; i < comparisons.size(); ++i) {
    Comparison& comparison = comparisons[i];
    comparison.mismatch.workload = workload.name;
    comparison.mismatch.family = std::string(model::to_string(slot.family));
    comparison.mismatch.output = task.definition.outputs[i].name;
    if (comparison.passed()) {
      const double bound = slot.bounds[i].normwise;
      const double share = bound > 0 ? comparison.normwise_error / bound : 0;
      if (margin != nullptr && share > margin->share) *margin = {share, comparison.mismatch};
      continue;
    }
    return Failure{model::Status::incorrect_numerical,
                   where + "output " + comparison.mismatch.output + ": " + explain(slot.expected[i], comparison) +
                       (comparison.spread.empty() ? "" : "; " + comparison.spread),
                   comparison.mismatch};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Failure> judge(const model::Task& task, const model::Workload& workload, Slot& slot,
                             const CallOutcome& outcome, Margin* margin) {
  const std::string where =
      "workload " + workload.name + " (family " + std::string(model::to_string(slot.family)) + "): ";
  if (outcome.end == CallEnd::timed_out)
    return Failure{model::Status::timeout, where + "the kernel " + outcome.reason, std::nullopt};
  if (outcome.end == CallEnd::died)
    return Failure{model::Status::runtime_error, where + "the kernel " + outcome.reason, std::nullopt};
  if (outcome.end == CallEnd::refused)
    return Failure{model::Status::compile_error, where + "the kernel " + outcome.reason, std::nullopt};
  if (!outcome.caught.empty())
    return Failure{model::Status::reward_hack, where + "the kernel " + outcome.caught, std::nullopt};
  if (outcome.wrote_outside) {
    return Failure{model::Status::runtime_error,
                   where + "the kernel wrote outside an output (bytes before or behind it changed)", std::nullopt};
  }
  if (!outcome.comparisons.empty()) {
    return judge_comparisons(task, workload, slot, outcome.comparisons, where, margin);
  }
  const Fingerprint seen = fingerprint(outcome.outputs);
  const bool known = std::find(slot.accepted.begin(), slot.accepted.end(), seen) != slot.accepted.end();
  if (known && margin == nullptr) return std::nullopt;
  std::vector<Comparison> comparisons;
  for (std::size_t i = 0; i < outcome.outputs.size(); ++i) {
    const auto ties = model::ties_of(task.definition, task.definition.outputs[i]);
    Comparison& comparison = comparisons.emplace_back(
        ties ? compare_choices(slot.expected[i], {slot.expected[*ties], slot.bounds[*ties]}, outcome.outputs[i])
             : compare(slot.expected[i], slot.bounds[i], outcome.outputs[i]));
    if (comparison.passed()) continue;
    // An index may name another value than the expected one, and be right.
    if (!ties && comparison.violated != NumericalRule::size)
      comparison.spread = spread_text(slot.expected[i], slot.bounds[i], outcome.outputs[i]);
    break;
  }
  auto failure = judge_comparisons(task, workload, slot, std::move(comparisons), where, margin);
  if (failure) return failure;
  if (known) return std::nullopt;
  if (slot.accepted.size() >= kMostAccepted) slot.accepted.erase(slot.accepted.begin());
  slot.accepted.push_back(seen);
  return std::nullopt;
}

}  // namespace accelopt::evaluation
