// SPDX-License-Identifier: Apache-2.0
// No set of inputs holds NaN or infinity, since an operator need not be defined for them. Where flags let the compiler
// assume that there is none, a kernel may have lost what the baseline does with them; and where the baseline asks for
// them, a kernel may have left that out. Calls of both tell.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "base/hash.hpp"
#include "evaluation/measuring.hpp"
#include "evaluation/race/recompute.hpp"
#include "evaluation/verify/dtype_codec.hpp"
#include "model/special_values.hpp"
#include "model/target_description.hpp"

namespace accelopt::evaluation {
namespace {

/// One element in so many is special, where many are: with most kernels some row has several and some vector one.
constexpr std::size_t kOneOf = 16;
/// Results of both that are finite may differ by this share of the largest one: far more than any rounding, which was
/// judged before, and less than a lost branch.
constexpr double kCoarse = 1e-2;

enum class HowMany { one, many };

/// What is asked of a kernel's results, a stage includes those before.
enum class Demand {
  nothing,
  finite_of_nan,  ///< with NaN, finite where the baseline's are
  floating,       ///< with infinities, too, and not finite where the baseline's are not
  all             ///< of integers, too, with NaN in an input that the baseline asks for it
};

Demand demand_on(const model::Solution& baseline, const model::Solution& kernel) {
  if (model::is_built_with_finite_math(baseline)) return Demand::nothing;
  const model::SpecialValues asked = model::describe(baseline.language).c_tokens
                                         ? model::special_values_asked(model::main_text(baseline))
                                         : model::SpecialValues::not_asked;
  if (asked == model::SpecialValues::asked) return Demand::all;
  if (model::is_built_with_finite_math(kernel)) return Demand::floating;
  return asked == model::SpecialValues::maybe_nan ? Demand::finite_of_nan : Demand::nothing;
}

/// Special values in one input.
struct SpecialInput {
  std::size_t input = 0;
  double value = 0;
  HowMany how_many = HowMany::one;
  bool is_asked_for = false;  ///< the baseline asks for special values of this input
};

const char* name_of(double value) {
  return std::isnan(value) ? "NaN" : value > 0 ? "infinity" : "-infinity";
}

/// Those that hold values of their own: an order or a list of values is a promise.
bool may_hold_special(const model::Workload& workload, const model::TensorSpec& input) {
  return input.shape && model::is_floating(input.dtype) &&
         !model::draws_whole_rows(model::init_of(workload, input).kind);
}

std::vector<SpecialInput> special_inputs(const model::Task& task, const model::Workload& workload, Demand demand) {
  std::set<std::string> asked;
  if (demand == Demand::all) asked = model::names_asked_for_special_values(model::main_text(task.baseline));
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  std::vector<SpecialInput> out;
  for (std::size_t i = 0; i < task.definition.inputs.size(); ++i) {
    const model::TensorSpec& input = task.definition.inputs[i];
    if (!may_hold_special(workload, input)) continue;
    const bool is_asked_for = asked.contains(input.name);
    out.push_back({i, kNan, HowMany::one, is_asked_for});
    out.push_back({i, kNan, HowMany::many, is_asked_for});
    if (demand == Demand::finite_of_nan || input.dtype == model::DType::float8_e4m3fn) continue;  // has no infinity
    out.push_back({i, kInfinity, HowMany::one, is_asked_for});
    out.push_back({i, -kInfinity, HowMany::one, is_asked_for});
  }
  return out;
}

/// The slot's inputs with the special ones; the places follow from the run's seed.
Invocation with_special(const Measuring& measuring, const Slot& slot, const SpecialInput& special) {
  Invocation out = slot.invocation;
  out.number = next_invocation_number();
  const model::DType dtype = measuring.task.definition.inputs[special.input].dtype;
  Bytes& bytes = out.inputs[special.input];
  std::vector<double> values = decode(dtype, bytes);
  if (values.empty()) return out;
  std::mt19937_64 random(base::derive_seed(
      measuring.settings.seed, fmt::format("special values {} {} {}", slot.number, special.input, special.value)));
  values[random() % values.size()] = special.value;
  for (std::size_t left = special.how_many == HowMany::many ? values.size() / kOneOf : 0; left > 0; --left)
    values[random() % values.size()] = special.value;
  encode(dtype, values, bytes);
  return out;
}

struct SpecialDifference {
  std::size_t output = 0;
  std::size_t index = 0;
  double baseline = 0;
  double actual = 0;
};

/// The first element in which the kernel does something else than the baseline. An infinity says nothing where the
/// baseline's results are not all finite: it has no way with it, and which of NaN and infinity come out is rounding's.
std::optional<SpecialDifference> difference(const model::Task& task, const Slot& slot, const SpecialInput& special,
                                            Demand demand, const std::vector<Bytes>& baseline,
                                            const std::vector<std::span<const std::byte>>& actual) {
  const auto finite = [](double value) { return std::isfinite(value); };
  std::vector<std::vector<double>> wanted;
  for (std::size_t i = 0; i < baseline.size(); ++i) {
    wanted.push_back(decode(task.definition.outputs[i].dtype, baseline[i]));
    if (!std::isnan(special.value) && !std::ranges::all_of(wanted.back(), finite)) return std::nullopt;
  }
  for (std::size_t i = 0; i < std::min(wanted.size(), actual.size()); ++i) {
    const model::TensorSpec& output = task.definition.outputs[i];
    // Which of equal values is named is each kernel's own, and what NaN or infinity is as an integer each compiler's,
    // unless the baseline asks for them in that very input, and so has dealt with them before.
    const bool is_floating = model::is_floating(output.dtype);
    if (!output.ties.empty() || (!is_floating && (!special.is_asked_for || !std::isnan(special.value)))) continue;
    const std::vector<double> got = decode(output.dtype, actual[i]);
    double largest = 0;
    for (const double value : wanted[i]) largest = std::max(largest, finite(value) ? std::fabs(value) : 0);
    const Bounds& bounds = slot.bounds[i];
    for (std::size_t at = 0; at < std::min(got.size(), wanted[i].size()); ++at) {
      const double want = wanted[i][at];
      const std::size_t row = at / static_cast<std::size_t>(std::max<std::int64_t>(bounds.row_length, 1));
      const double rounding = kCoarse * largest + (row < bounds.rows.size() ? bounds.rows[row] : 0);
      const double allowed = is_floating ? rounding : 0;
      const bool any = !finite(want) && demand == Demand::finite_of_nan;
      const bool alike = finite(want) ? std::fabs(got[at] - want) <= allowed : any || !finite(got[at]);
      if (!alike) return SpecialDifference{i, at, want, got[at]};
    }
  }
  return std::nullopt;
}

constexpr const char* kOfFlags =
    "under its fast-math flags the compiler assumes that there is no NaN and no infinity: add -fno-finite-math-only "
    "behind them";
constexpr const char* kOfCode =
    "the baseline's code chooses what becomes of such values (as by isnan, a comparison, or fmax): a kernel has to do "
    "the same with them";

Failure lost(const Measuring& measuring, const model::Workload& workload, const SpecialInput& special,
             const model::Kernel& kernel, const std::string& what) {
  return {model::Status::incorrect_numerical,
          fmt::format("workload {}, with {} in input {}: {}; {}", workload.name, name_of(special.value),
                      measuring.task.definition.inputs[special.input].name, what,
                      model::is_built_with_finite_math(kernel.solution()) ? kOfFlags : kOfCode),
          std::nullopt};
}

/// The smallest raced workload and the smallest of all.
std::vector<std::size_t> looked_at(const Measuring& measuring, const std::map<std::size_t, int>& slots) {
  std::vector<std::size_t> out;
  const auto bytes = [&](std::size_t workload) {
    return evaluation::bytes_of(measuring.task.definition, measuring.task.workloads[workload]);
  };
  for (const bool raced : {false, true}) {
    std::optional<std::size_t> least;
    for (const auto& [workload, slot] : slots) {
      const model::Role role = measuring.task.workloads[workload].role;
      if (role == model::Role::held_out || (raced && role != model::Role::race)) continue;
      if (!least || bytes(workload) < bytes(*least)) least = workload;
    }
    if (least && std::ranges::find(out, *least) == out.end()) out.push_back(*least);
  }
  return out;
}

}  // namespace

base::Result<std::optional<Failure>> verify_special_values(Measuring& measuring, Slots& slots,
                                                           const model::Kernel& kernel,
                                                           const std::map<std::size_t, int>& met,
                                                           const std::stop_token& stop) {
  const Target& target = measuring.target;
  if (target.keeps_slots() || target.times_without_calls()) return std::optional<Failure>();
  const Demand demand = demand_on(measuring.baseline.solution(), kernel.solution());
  if (demand == Demand::nothing || kernel.id() == measuring.baseline.id()) return std::optional<Failure>();
  for (const std::size_t index : looked_at(measuring, met)) {
    const model::Workload& workload = measuring.task.workloads[index];
    const std::vector<SpecialInput> all = special_inputs(measuring.task, workload, demand);
    if (all.empty()) continue;
    TRY_ASSIGN(const auto own, measuring.target.start(measuring.baseline, Placement::usual, stop));
    TRY_ASSIGN(const auto live, measuring.target.start(kernel, Placement::usual, stop));
    TRY_ASSIGN(const Slot* const slot, slots.get(index, met.at(index)));
    TRY_ASSIGN(const auto lock, measuring.target.lock_machine());
    CallOptions options{call_limit(measuring.expected_ns({index}).front(), measuring.hard_limit()),
                        measuring.task.cpu.cache, measuring.settings.seed};
    options.poison = Poison::zeros;
    for (const SpecialInput& special : all) {
      if (stop.stop_requested()) return base::fail(base::ErrorCode::cancelled, "verification was stopped as asked");
      const Invocation invocation = with_special(measuring, *slot, special);
      TRY_ASSIGN(const CallOutcome baseline, own->call(invocation, options));
      if (baseline.end != CallEnd::returned) return std::optional<Failure>();  // it takes no such values
      std::vector<Bytes> wanted;
      for (const auto& output : baseline.outputs) wanted.emplace_back(output.begin(), output.end());
      TRY_ASSIGN(const CallOutcome outcome, live->call(invocation, options));
      if (outcome.end != CallEnd::returned)
        return std::optional(
            lost(measuring, workload, special, kernel, "the kernel " + outcome.reason + ", the baseline returns"));
      const auto found = difference(measuring.task, *slot, special, demand, wanted, outcome.outputs);
      if (!found) continue;
      return std::optional(lost(measuring, workload, special, kernel,
                                fmt::format("output {} is {:.9g} at index {} where the baseline has {:.9g}",
                                            measuring.task.definition.outputs[found->output].name, found->actual,
                                            found->index, found->baseline)));
    }
  }
  return std::optional<Failure>();
}

}  // namespace accelopt::evaluation
