// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/open_task.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "base/hash.hpp"

namespace accelopt::devices::cuda {
namespace {

using base::ErrorCode;
using evaluation::CallEnd;
using evaluation::CallOptions;
using evaluation::CallOutcome;
using evaluation::InputDraw;
using evaluation::Invocation;

/// A call shorter than this is repeated over so many sets of inputs that they take as long: events tick every half
/// microsecond, and the first kernel of a queue starts less evenly than the next ones.
constexpr double kLeastTimedNs = 60e3;
constexpr int kMostVariants = 16;

class LiveProgram final : public evaluation::LiveKernel {
 public:
  LiveProgram(OpenTask& task, ProgramPtr program, SlotPrograms plans)
      : task_(task), live_(task.device.new_live(task.device.add(std::move(program)))), plans_(std::move(plans)) {}
  LiveProgram(const LiveProgram&) = delete;
  LiveProgram& operator=(const LiveProgram&) = delete;
  ~LiveProgram() override { task_.device.end_live(live_); }

  base::Result<CallOutcome> call(const Invocation& invocation, const CallOptions& options) override {
    if (dead_) return *dead_;
    CallRequest request;
    ProgramPtr own;
    if (plans_) {
      TRY_ASSIGN(const SlotProgram plan, plan_of(invocation.number));
      if (!plan.problem.empty()) {
        dead_.emplace();
        dead_->end = CallEnd::died;
        dead_->reason = "could not be captured for this set of inputs: " + plan.problem;
        return *dead_;
      }
      own = plan.program;
      request.plan = plan.plan;
    } else {
      request.plan = task_.plan_name(invocation);
    }
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
    TRY_ASSIGN(CallReply reply, task_.device.call(request, own.get()));
    CallOutcome& outcome = reply.outcome;
    if (outcome.end != CallEnd::returned) {
      dead_ = outcome;
      return outcome;
    }
    const bool right = std::all_of(outcome.comparisons.begin(), outcome.comparisons.end(),
                                   [](const auto& one) { return one.passed(); });
    if (right && outcome.time_ns > 0 && !options.alone) {
      const double sets = std::ceil(kLeastTimedNs / outcome.time_ns);
      task_.variants.try_emplace(invocation.axes, std::clamp(static_cast<int>(sets), 1, kMostVariants));
    }
    return outcome;
  }

  [[nodiscard]] bool looks_ahead() const override { return plans_ != nullptr; }
  base::Result<void> expect(const std::vector<const Invocation*>& slots) override {
    if (!plans_ || dead_) return {};
    std::vector<std::uint64_t> missing;
    for (const Invocation* slot : slots) {
      if (!slot_plans_.contains(slot->number)) missing.push_back(slot->number);
    }
    if (missing.empty()) return {};
    TRY_ASSIGN(auto found, plans_(missing));
    for (std::size_t i = 0; i < missing.size(); ++i) slot_plans_[missing[i]] = std::move(found.at(i));
    return {};
  }

 private:
  base::Result<SlotProgram> plan_of(std::uint64_t slot) {
    if (auto known = slot_plans_.extract(slot)) return std::move(known.mapped());  // slots are met once
    TRY_ASSIGN(auto found, plans_({slot}));
    return std::move(found.at(0));
  }

  /// Gives the slot as many sets of inputs as its workload's calls take.
  void widen(const Invocation& invocation) {
    const auto wanted = task_.variants.find(invocation.axes);
    SlotRecipe* const recipe = task_.device.find(invocation.number);
    if (wanted == task_.variants.end() || recipe == nullptr) return;
    auto& sets = recipe->request.variants;
    while (sets.size() < static_cast<std::size_t>(wanted->second)) {
      std::vector<SlotInput> more = sets.front();
      std::vector<InputDraw> draws = recipe->draws.front();
      for (std::size_t i = 0; i < more.size(); ++i) {
        if (model::is_known_on_host(task_.definition.inputs[i])) continue;  // the same in all sets, as the plan is
        draws[i].seed = base::derive_seed(draws[i].seed, std::to_string(sets.size()));
        more[i].seed = draws[i].seed;
      }
      sets.push_back(std::move(more));
      recipe->draws.push_back(std::move(draws));
    }
  }

  OpenTask& task_;
  std::uint64_t live_;
  SlotPrograms plans_;
  std::map<std::uint64_t, SlotProgram> slot_plans_;  ///< of slots that are expected
  std::optional<CallOutcome> dead_;
};

/// An input as the device is told to draw it; what the host may see, what needs a sort, and wide integers are
/// drawn here.
base::Result<SlotInput> slot_input(const InputDraw& draw, const model::TensorSpec& input,
                                   const model::Numerics& numerics) {
  SlotInput out;
  const bool scalar = !input.shape;
  out.dtype = draw.dtype;
  out.scalar = scalar;
  for (const std::int64_t axis : draw.shape) out.count *= static_cast<std::uint64_t>(std::max<std::int64_t>(axis, 0));
  out.row_length = draw.shape.empty() ? 1 : static_cast<std::uint64_t>(std::max<std::int64_t>(draw.shape.back(), 1));
  TRY(evaluation::check_draw(draw, out.count * model::size_of(draw.dtype)));
  if (scalar) {
    TRY(evaluation::draw_input(
        draw, std::as_writable_bytes(std::span(&out.scalar_bits, 1)).first(model::size_of(draw.dtype))));
  }
  out.bulk =
      !scalar && (input.visible || model::draws_whole_rows(draw.init.kind) || evaluation::draws_wide_integers(draw));
  out.kind = static_cast<int>(draw.init.kind);
  out.first = draw.init.first;
  out.second = draw.init.second;
  out.family = static_cast<int>(evaluation::drawn_family(draw));
  out.seed = draw.seed;
  out.perturbation_step = model::is_floating(draw.dtype) ? evaluation::perturbation_step(draw.dtype, numerics) : 0;
  return out;
}

}  // namespace

bool times_several_sets(const OpenTask& task, const model::Workload& workload) {
  const model::AxisValues axes = model::bind_axes(task.definition, workload);
  std::vector<std::int64_t> values;
  for (const std::string& axis : model::variable_axes(task.definition)) values.push_back(axes.at(axis));
  const auto known = task.variants.find(values);
  return known == task.variants.end() || known->second > 1;
}

std::unique_ptr<evaluation::LiveKernel> start_program(OpenTask& task, ProgramPtr program, SlotPrograms plans) {
  return std::make_unique<LiveProgram>(task, std::move(program), std::move(plans));
}

base::Result<SlotRecipe> slot_recipe(const model::Definition& definition, const evaluation::SlotPlan& plan) {
  const model::AxisValues axes = model::bind_axes(definition, plan.workload);
  SlotRecipe recipe;
  SlotRequest& request = recipe.request;
  request.number = plan.invocation.number;
  request.numerics = definition.numerics;
  request.perturbation = plan.perturbation;
  request.every_run = plan.every_run;
  std::vector<SlotInput> inputs;
  for (std::size_t i = 0; i < plan.inputs.size(); ++i) {
    auto input = slot_input(plan.inputs[i], definition.inputs[i], definition.numerics);
    if (!input) return tl::make_unexpected(base::with_context(input.error(), "input " + definition.inputs[i].name));
    input->name = definition.inputs[i].name;
    inputs.push_back(*input);
  }
  request.variants.push_back(std::move(inputs));
  recipe.draws.push_back(plan.inputs);
  for (const model::TensorSpec& output : definition.outputs) {
    request.outputs.push_back({output.name, output.dtype,
                               output.shape ? model::shape_of(output, axes) : std::vector<std::int64_t>{},
                               static_cast<std::uint64_t>(model::element_count(output, axes))});
  }
  return recipe;
}

base::Result<OneCall> one_call(OpenTask& task, const Program& program, const std::string& plan_name,
                               const Invocation& invocation) {
  const SlotRecipe* const recipe = task.device.find(invocation.number);
  const auto plan = program.plans.find(plan_name);
  if (recipe == nullptr || plan == program.plans.end())
    return base::fail(ErrorCode::invalid_argument, "a call needs a slot that is there and a plan for it");
  OneCall out;
  OneCallRequest& request = out.request;
  request.plan = plan->second;
  request.open = task.device.open_request();
  request.open.check_bytes = task.device.check_kernels().size();
  request.inputs = recipe->request.variants.front();
  request.outputs = recipe->request.outputs;
  out.bulk = {task.device.check_kernels()};
  for (const ProgramCubin& cubin : program.cubins) {
    request.cubin_bytes.push_back(cubin.bytes.size());
    out.bulk.push_back(cubin.bytes);
  }
  TRY_ASSIGN(auto drawn, drawn_here(request.inputs, recipe->draws.front()));
  std::move(drawn.begin(), drawn.end(), std::back_inserter(out.bulk));
  return out;
}

}  // namespace accelopt::devices::cuda
