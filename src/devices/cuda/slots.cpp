// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/slots.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/hash.hpp"
#include "evaluation/verify/dtype_codec.hpp"
#include "evaluation/verify/inputs.hpp"

namespace accelopt::devices::cuda {
namespace {

using base::ErrorCode;
using model::DType;

constexpr std::chrono::seconds kReferenceLimit{120};

DType real_of(bool in_float) {
  return in_float ? DType::float32 : DType::float64;
}
DType as_real(DType dtype, bool in_float) {
  return model::is_floating(dtype) ? real_of(in_float) : dtype;
}

std::uint64_t rows_of(const SlotOutput& output) {
  return output.count / static_cast<std::uint64_t>(evaluation::row_length_of(output.shape));
}

std::uint64_t scratch_bytes(const LaunchPlan& plan) {
  std::uint64_t bytes = 0;
  for (const ScratchBuffer& one : plan.scratch) bytes += Workspace::padded(one.bytes);
  return bytes;
}

/// A scalar as the reference is given it.
PlanBinding::Scalar real_scalar(const SlotInput& input, const model::Numerics& numerics, bool in_float, bool perturbed,
                                std::uint64_t seed) {
  if (!model::is_floating(input.dtype)) return {input.dtype, input.scalar_bits};
  double value = evaluation::decode_element(input.dtype, std::as_bytes(std::span(&input.scalar_bits, 1)), 0);
  if (perturbed) evaluation::perturb(std::span(&value, 1), input.dtype, numerics, seed);
  PlanBinding::Scalar out{real_of(in_float), 0};
  const auto narrow = static_cast<float>(value);
  std::memcpy(&out.bits, in_float ? static_cast<const void*>(&narrow) : &value, model::size_of(out.dtype));
  return out;
}

/// Sets of inputs whose honest errors are alike.
std::string kind_of(const SlotRequest& request, std::size_t index) {
  std::string out = request.in_double.program + " " + request.in_double.plan;
  for (const SlotInput& input : request.variants[index]) out += " " + std::to_string(input.family);
  return out;
}

/// What perturbed inputs make of the bands of one output, by the shares that they had in others; infinity where no
/// element was seen.
evaluation::BandSums perturbed_squares(const evaluation::BandSums& shares, const evaluation::BandErrors& bands) {
  evaluation::BandSums out{};
  for (std::size_t band = 0; band < out.size(); ++band)
    out[band] = shares[band] < 0 ? std::numeric_limits<double>::infinity() : shares[band] * bands.norms[band];
  return out;
}

/// What one perturbed run made of the bands, where others never had a larger share.
evaluation::BandSums lesser(evaluation::BandSums own, const evaluation::BandSums& shares,
                            const evaluation::BandErrors& bands) {
  const evaluation::BandSums others = perturbed_squares(shares, bands);
  for (std::size_t band = 0; band < own.size(); ++band) own[band] = std::min(own[band], others[band]);
  return own;
}

}  // namespace

/// What one set of inputs needs while it is made.
struct DeviceSlots::Work {
  std::vector<Mapping> mapped;       ///< inputs' own memory
  std::vector<DevicePointer> raw;    ///< inputs as candidates see them; 0: a scalar
  std::vector<DevicePointer> real;   ///< inputs as the reference sees them
  std::vector<DevicePointer> exact;  ///< outputs of the run in double
  std::vector<DevicePointer> other;  ///< outputs of the other runs
  DevicePointer scratch = 0;
  Workspace* kept = nullptr;  ///< the slot's
};

std::uint64_t bytes_of(const DeviceSlot& slot) {
  std::uint64_t bytes = 0;
  for (const Workspace& kept : slot.kept) bytes += kept.bytes();
  for (const Variant& variant : slot.variants) {
    for (const Variant::Input& input : variant.inputs) bytes += input.memory.bytes();
  }
  return bytes;
}

DeviceSlot* DeviceSlots::find(std::uint64_t number) {
  const auto found = slots_.find(number);
  return found == slots_.end() ? nullptr : &found->second;
}

void DeviceSlots::forget_all_but(std::uint64_t number) {
  std::erase_if(slots_, [&](const auto& slot) { return slot.first != number; });
}

base::Result<Modules> load_program(Device& device, const Store& store, const std::string& id) {
  const auto program = store.programs.find(id);
  if (program == store.programs.end()) return base::fail(ErrorCode::not_found, "the program is not here");
  Modules out;
  for (const std::string& cubin : program->second.cubins) {
    TRY_ASSIGN(DeviceModule module, device.load(store.cubins.at(cubin)));
    out.push_back(std::move(module));
  }
  return out;
}

base::Result<const LaunchPlan*> find_plan(const Store& store, const std::string& id, const std::string& plan) {
  const auto program = store.programs.find(id);
  if (program == store.programs.end()) return base::fail(ErrorCode::not_found, "the program is not here");
  const auto found = program->second.plans.find(plan);
  if (found == program->second.plans.end())
    return base::fail(ErrorCode::not_found, "the program has no plan \"" + plan + "\"");
  return &found->second;
}

base::Result<const Modules*> DeviceSlots::modules_of(const std::string& program) {
  if (const auto known = references_.find(program); known != references_.end()) return &known->second;
  TRY_ASSIGN(Modules modules, load_program(device_, store_, program));
  return &references_.emplace(program, std::move(modules)).first->second;
}

base::Result<std::vector<evaluation::Bounds>> DeviceSlots::prepare(const SlotRequest& request, const Bulk& bulk) {
  DeviceSlot& slot = slots_[request.number];
  if (slot.key == 0) slot.key = base::random_seed();
  slot.inputs.clear();
  slot.outputs.clear();
  for (const SlotInput& input : request.variants.at(0)) slot.inputs.push_back(input.name);
  for (const SlotOutput& output : request.outputs) slot.outputs.push_back(output.name);
  auto added = slot.variants.size() < request.variants.size() ? add(request, bulk, slot) : base::Result<void>();
  for (Workspace& kept : slot.kept) kept.close();
  space_.close();
  if (!added) {
    if (slot.variants.empty()) slots_.erase(request.number);
    return tl::make_unexpected(added.error());
  }
  std::vector<evaluation::Bounds> bounds;
  for (const KeptOutput& output : slot.variants.at(0).outputs) {
    bounds.push_back(output.bounds);
    for (std::size_t i = 1; i < slot.variants.size(); ++i) {
      const KeptOutput& other = slot.variants[i].outputs[bounds.size() - 1];
      bounds.back().float_is_finite = bounds.back().float_is_finite && other.bounds.float_is_finite;
    }
  }
  return bounds;
}

base::Result<std::vector<std::size_t>> DeviceSlots::equal_outputs(DeviceSlot& slot) {
  constexpr std::uint64_t kWord = 8;  // what is less is not looked at
  std::vector<std::vector<std::uint64_t>> sums;
  for (const Variant& variant : slot.variants) {
    Workspace& kept = slot.kept.at(variant.kept);
    TRY(kept.open());
    std::vector<Checks::Region> regions;
    for (const KeptOutput& output : variant.outputs)
      regions.push_back(
          {kept.address() + output.expected, output.count * model::size_of(as_real(output.dtype, false))});
    auto own = checks_.fingerprints(regions, slot.key);
    kept.close();
    if (!own) return tl::make_unexpected(own.error());
    sums.push_back(std::move(*own));
  }
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < slot.outputs.size(); ++i) {
    const KeptOutput& output = slot.variants.at(0).outputs[i];
    const bool told = output.count * model::size_of(as_real(output.dtype, false)) >= kWord;
    if (told && std::ranges::all_of(sums, [&](const auto& own) { return own[i] == sums.front()[i]; })) out.push_back(i);
  }
  return out;
}

/// Makes the variants that are not there yet; what is expected of them lies together.
base::Result<void> DeviceSlots::add(const SlotRequest& request, const Bulk& bulk, DeviceSlot& slot) {
  std::uint64_t bytes = 0;
  for (const SlotOutput& output : request.outputs) {
    bytes += Workspace::padded(output.count * model::size_of(as_real(output.dtype, false)));
    if (model::is_floating(output.dtype)) bytes += Workspace::padded(rows_of(output) * sizeof(double));
  }
  TRY(slot.kept.emplace_back(device_.space()).reserve(bytes * (request.variants.size() - slot.variants.size())));
  for (std::size_t i = slot.variants.size(); i < request.variants.size(); ++i) {
    TRY_ASSIGN(Variant variant, make(request, i, bulk, slot));
    slot.variants.push_back(std::move(variant));
  }
  return {};
}

base::Result<Variant> DeviceSlots::make(const SlotRequest& request, std::size_t index, const Bulk& bulk,
                                        DeviceSlot& slot) {
  Variant variant;
  variant.kept = slot.kept.size() - 1;
  Work work;
  work.kept = &slot.kept.back();
  const std::vector<SlotInput>& inputs = request.variants[index];
  std::uint64_t bytes = 0;
  if (request.given.empty()) {
    for (const ReferenceProgram* reference : {&request.in_double, &request.in_float}) {
      TRY_ASSIGN(const LaunchPlan* const plan, find_plan(store_, reference->program, reference->plan));
      bytes = std::max(bytes, scratch_bytes(*plan));
    }
  }
  for (const SlotInput& input : inputs) {
    if (!input.scalar) bytes += Workspace::padded(input.count * model::size_of(as_real(input.dtype, false)));
  }
  for (const SlotOutput& output : request.outputs)
    bytes += Workspace::padded(output.count * model::size_of(as_real(output.dtype, false)));
  TRY(space_.reserve(bytes));
  for (const SlotInput& input : inputs) {
    const std::uint64_t real = input.count * model::size_of(as_real(input.dtype, false));
    work.real.push_back(input.scalar ? 0 : space_.take(real));
  }
  for (const SlotOutput& output : request.outputs) {
    const std::uint64_t real = output.count * model::size_of(as_real(output.dtype, false));
    work.exact.push_back(work.kept->take(real));
    work.other.push_back(space_.take(real));
  }
  work.scratch = space_.address() + space_.used();
  TRY(draw(request, index, bulk, work, variant));
  if (request.given.empty()) {
    TRY(calibrate(request, index, work, variant));
  } else {
    TRY(take(request, request.given.at(index), bulk, work, variant));
  }
  TRY(seal(slot, work, variant));
  return variant;
}

/// What lies in the inputs' memory is to stay as it is from here on.
base::Result<void> DeviceSlots::seal(const DeviceSlot& slot, Work& work, Variant& variant) {
  std::vector<Checks::Region> regions;
  for (std::size_t i = 0, tensor = 0; i < variant.inputs.size(); ++i) {
    if (!variant.inputs[i].scalar)
      regions.push_back({work.mapped[tensor++].address(), variant.inputs[i].memory.bytes()});
  }
  TRY_ASSIGN(const auto sums, checks_.fingerprints(regions, slot.key));
  for (std::size_t i = 0, tensor = 0; i < variant.inputs.size(); ++i) {
    if (!variant.inputs[i].scalar) variant.inputs[i].fingerprint = sums[tensor++];
  }
  return {};
}

base::Result<void> DeviceSlots::draw(const SlotRequest& request, std::size_t index, const Bulk& bulk, Work& work,
                                     Variant& variant) {
  const std::vector<SlotInput>& inputs = request.variants[index];
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const SlotInput& input = inputs[i];
    Variant::Input& out = variant.inputs.emplace_back();
    out.scalar = input.scalar;
    if (input.scalar) {
      out.dtype = input.dtype;
      out.bits = input.scalar_bits;
      work.raw.push_back(0);
      continue;
    }
    const std::uint64_t bytes = input.count * model::size_of(input.dtype);
    TRY_ASSIGN(out.memory, device_.space().create(bytes));
    out.placement = draw_placement(bytes, out.memory.bytes());
    TRY_ASSIGN(Mapping mapped, device_.space().map(out.memory, Access::write));
    const DevicePointer begin = mapped.address();
    work.mapped.push_back(std::move(mapped));
    work.raw.push_back(begin + out.placement.offset);
    const std::uint64_t noise = base::random_seed();
    TRY(checks_.write_canaries(begin, 0, out.placement.offset, noise));
    TRY(checks_.write_canaries(begin, out.placement.offset + bytes, out.memory.bytes(), noise));
    if (input.bulk) {
      TRY_ASSIGN(const std::string drawn, bulk(bytes));
      TRY(device_.copy_in(work.raw[i], std::as_bytes(std::span(drawn))));
    } else {
      TRY(checks_.draw(work.raw[i], input));
    }
  }
  return {};
}

base::Result<void> DeviceSlots::make_real(const SlotInput& input, DevicePointer raw, DevicePointer real,
                                          const Honest& honest, std::uint64_t seed) {
  const DType dtype = real_of(honest.in_float);
  const std::uint64_t behind = honest.rotated ? evaluation::rotation(input.count, honest.seed, *honest.rotated) : 0;
  const std::uint64_t rest = input.count - behind;
  const double step = honest.perturbed ? input.perturbation_step : 0;
  TRY(checks_.to_real(real, dtype, raw + behind * model::size_of(input.dtype), input.dtype, rest, step, seed));
  return checks_.to_real(real + rest * model::size_of(dtype), dtype, raw, input.dtype, behind, step, seed);
}

base::Result<void> DeviceSlots::run(const SlotRequest& request, std::size_t index, const Honest& honest,
                                    const std::vector<DevicePointer>& outputs, Work& work) {
  const bool in_float = honest.in_float;
  const ReferenceProgram& program = in_float ? request.in_float : request.in_double;
  const std::vector<SlotInput>& inputs = request.variants[index];
  TRY_ASSIGN(const LaunchPlan* const launches, find_plan(store_, program.program, program.plan));
  TRY_ASSIGN(const Modules* const modules, modules_of(program.program));
  PlanBinding binding;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const SlotInput& input = inputs[i];
    const std::uint64_t own_seed = base::derive_seed(honest.seed, std::to_string(i));
    if (input.scalar) {
      binding.scalars[input.name] = real_scalar(input, request.numerics, in_float, honest.perturbed, own_seed);
      continue;
    }
    const bool floating = model::is_floating(input.dtype);
    if (floating) TRY(make_real(input, work.raw[i], work.real[i], honest, own_seed));
    binding.tensors[input.name] = {floating ? work.real[i] : work.raw[i],
                                   input.count * model::size_of(as_real(input.dtype, in_float))};
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const DType dtype = as_real(request.outputs[i].dtype, in_float);
    const std::uint64_t bytes = request.outputs[i].count * model::size_of(dtype);
    TRY(checks_.poison(outputs[i], bytes, dtype, honest.seed + i));
    binding.tensors[request.outputs[i].name] = {outputs[i], bytes};
  }
  DevicePointer scratch = work.scratch;
  for (const ScratchBuffer& one : launches->scratch) {
    binding.tensors[one.name] = {scratch, one.bytes};
    scratch += Workspace::padded(one.bytes);
  }
  const auto blamed = [](base::Error error) {
    return tl::make_unexpected(base::Error{ErrorCode::invalid_argument, "the task's reference: " + error.message});
  };
  auto plan = PreparedPlan::prepare(device_, {*modules, *launches}, binding);
  if (!plan) return blamed(plan.error());
  if (auto launched = plan->launch(device_, checks_); !launched) return blamed(launched.error());
  if (auto ended = device_.finish(kReferenceLimit); !ended) return blamed(ended.error());
  return {};
}

/// Keeps what the reference on the host said.
base::Result<void> DeviceSlots::take(const SlotRequest& request, const HostOutputs& given, const Bulk& bulk, Work& work,
                                     Variant& variant) {
  if (given.bounds.size() != request.outputs.size() || given.rows.size() != request.outputs.size())
    return base::fail(ErrorCode::invalid_argument, "the reference has not as many outputs as the task");
  for (std::size_t i = 0; i < request.outputs.size(); ++i) {
    KeptOutput& output = variant.outputs.emplace_back();
    output.dtype = request.outputs[i].dtype;
    output.count = request.outputs[i].count;
    output.shape = request.outputs[i].shape;
    output.bounds = given.bounds[i];
    output.expected = work.exact[i] - work.kept->address();
    const std::uint64_t bytes = output.count * model::size_of(as_real(output.dtype, false));
    TRY_ASSIGN(const std::string exact, bulk(bytes));
    TRY(device_.copy_in(work.exact[i], std::as_bytes(std::span(exact))));
    if (!model::is_floating(output.dtype) || output.count == 0) continue;
    if (given.rows[i] != rows_of(request.outputs[i]))
      return base::fail(ErrorCode::invalid_argument, "an output has other rows than its shape tells");
    TRY_ASSIGN(const std::string rows, bulk(given.rows[i] * sizeof(double)));
    TRY(keep_rows(std::as_bytes(std::span(rows)), work, output));
  }
  return {};
}

base::Result<void> DeviceSlots::keep_rows(std::span<const std::byte> rows, Work& work, KeptOutput& output) {
  const DevicePointer to = work.kept->take(rows.size());
  output.rows = to - work.kept->address();
  return device_.copy_in(to, rows);
}

/// One set of inputs of which fewer runs say nothing of the others is enough to make all of them from then on.
DeviceSlots::Runs DeviceSlots::runs_needed(const std::vector<KnownErrors>& outputs) {
  if (std::ranges::all_of(outputs, [](const KnownErrors& one) { return one.factor.has_value(); }))
    return Runs::in_float;
  const bool both = std::ranges::all_of(outputs, [](const KnownErrors& one) { return one.float_runs_tell; });
  return both ? Runs::both_in_float : Runs::all;
}

void DeviceSlots::learn(const SlotRequest& request, std::size_t index, const Learned& errors) {
  const auto [place, first] = known_errors_.try_emplace(kind_of(request, index));
  std::vector<KnownErrors>& known = place->second;
  if (first) {
    KnownErrors nothing{1.0, true, {}};
    nothing.perturbed.fill(-1);
    known.assign(errors.all.size(), nothing);
  }
  for (std::size_t i = 0; i < errors.all.size(); ++i) {
    const SlotOutput& output = request.outputs[i];
    if (!model::is_floating(output.dtype) || output.count == 0) continue;
    std::optional<double> factor;
    bool both_tell = false;
    if (evaluation::share_of_float_error(output.dtype, request.numerics) == 1) {
      const auto bounds = [&](const std::vector<evaluation::HonestErrors>& of) {
        return evaluation::bounds_of(output.dtype, output.shape, of[i], request.numerics);
      };
      const evaluation::Bounds all = bounds(errors.all);
      factor = evaluation::factor_over_float(all, bounds(errors.in_float));
      both_tell = evaluation::float_runs_tell(all, bounds(errors.both_in_float));
    }
    if (evaluation::has_few_elements(output.shape)) factor = 1;  // rotated inputs tell, whatever the slot
    known[i].factor = known[i].factor && factor ? std::optional(std::max(*known[i].factor, *factor)) : std::nullopt;
    known[i].float_runs_tell = known[i].float_runs_tell && both_tell;
    const evaluation::BandErrors& bands = errors.all[i].bands;
    for (std::size_t band = 0; band < known[i].perturbed.size(); ++band) {
      if (bands.norms[band] > 0)
        known[i].perturbed[band] = std::max(known[i].perturbed[band], bands.perturbed[band] / bands.norms[band]);
    }
  }
}

/// For outputs of few elements, which are compared here.
base::Result<void> DeviceSlots::run_rotated(const SlotRequest& request, std::size_t index,
                                            std::vector<evaluation::HonestErrors>& errors, Work& work) {
  const auto is_sum = [](const SlotOutput& output) {
    return model::is_floating(output.dtype) && output.count > 0 && evaluation::has_few_elements(output.shape);
  };
  if (std::ranges::none_of(request.outputs, is_sum)) return {};
  const auto values_of = [&](std::size_t output, DType dtype, DevicePointer at) -> base::Result<std::vector<double>> {
    std::vector<std::byte> bytes(request.outputs[output].count * model::size_of(dtype));
    TRY(device_.copy_out(bytes, at));
    return evaluation::decode(dtype, bytes);
  };
  std::vector<evaluation::Expected> first(request.outputs.size());
  for (std::size_t i = 0; i < request.outputs.size(); ++i) {
    if (!is_sum(request.outputs[i])) continue;
    TRY_ASSIGN(first[i].values, values_of(i, DType::float64, work.exact[i]));
  }
  for (int run_number = 0; run_number < evaluation::kMoreRuns; ++run_number) {
    std::vector<evaluation::Expected> exact(request.outputs.size());
    for (const bool in_float : {false, true}) {
      const std::uint64_t seed = request.perturbation + 4 * index;
      TRY(run(request, index, {.in_float = in_float, .seed = seed, .rotated = run_number}, work.other, work));
      for (std::size_t i = 0; i < request.outputs.size(); ++i) {
        const SlotOutput& output = request.outputs[i];
        if (!is_sum(output)) continue;
        TRY_ASSIGN(auto values, values_of(i, real_of(in_float), work.other[i]));
        if (!in_float) {
          exact[i] = {output.dtype, output.shape, std::move(values), {}};
        } else if (evaluation::is_alike(first[i], exact[i])) {
          evaluation::add_honest_run(exact[i], values, evaluation::share_of_float_error(output.dtype, request.numerics),
                                     errors[i]);
        }
      }
    }
  }
  return {};
}

/// Where rows differ so much that few runs do not tell what an honest kernel may be off by.
base::Result<void> DeviceSlots::run_more(const SlotRequest& request, std::size_t index,
                                         std::vector<evaluation::HonestErrors>& errors, Work& work,
                                         const Variant& variant) {
  bool needed = false;
  for (std::size_t i = 0; i < errors.size(); ++i)
    needed = needed || evaluation::needs_more_runs(request.outputs[i].dtype, request.outputs[i].shape, errors[i],
                                                   request.numerics);
  if (!needed) return {};
  const auto in_float = [&](const auto& tensor) {
    return evaluation::share_of_float_error(tensor.dtype, request.numerics) == 1;
  };
  const bool all =
      std::ranges::all_of(request.variants[index], in_float) && std::ranges::all_of(request.outputs, in_float);
  for (int more = 0; more < evaluation::kMoreRuns; ++more) {
    const std::uint64_t seed = evaluation::seed_of_more(request.perturbation + 4 * index, more);
    TRY(run(request, index, {.in_float = all, .perturbed = true, .seed = seed}, work.other, work));
    for (std::size_t i = 0; i < request.outputs.size(); ++i) {
      const KeptOutput& output = variant.outputs[i];
      if (!model::is_floating(output.dtype)) continue;
      const bool finite = errors[i].float_is_finite;
      TRY(checks_.add_run(work.exact[i], output, request.outputs[i].shape,
                          {work.other[i], all, 1, Checks::HonestKind::perturbed_in_float}, errors[i]));
      errors[i].float_is_finite = finite;
    }
  }
  return {};
}

base::Result<void> DeviceSlots::calibrate(const SlotRequest& request, std::size_t index, Work& work, Variant& variant) {
  TRY(run(request, index, {}, work.exact, work));
  std::vector<evaluation::HonestErrors> errors(request.outputs.size());
  for (std::size_t i = 0; i < request.outputs.size(); ++i) {
    KeptOutput& output = variant.outputs.emplace_back();
    output.dtype = request.outputs[i].dtype;
    output.count = request.outputs[i].count;
    output.shape = request.outputs[i].shape;
    if (!model::is_floating(output.dtype)) continue;
    TRY(checks_.begin_calibration(work.exact[i], output, request.outputs[i].shape, errors[i]));
  }
  const std::uint64_t seed = request.perturbation + 4 * index;
  const auto place = known_errors_.find(kind_of(request, index));
  const bool first = place == known_errors_.end() || (request.every_run && index == 0);
  const Runs needed = first ? Runs::all : runs_needed(place->second);
  std::vector<Honest> runs{{.in_float = true}};
  if (needed != Runs::in_float) runs.push_back({.in_float = true, .perturbed = true, .seed = seed + 2});
  if (needed == Runs::all)
    runs.insert(runs.end(), {{.perturbed = true, .seed = seed}, {.perturbed = true, .seed = seed + 1}});
  Learned learned;
  for (const Honest& honest : runs) {
    TRY(run(request, index, honest, work.other, work));
    for (std::size_t i = 0; i < request.outputs.size(); ++i) {
      KeptOutput& output = variant.outputs[i];
      if (!model::is_floating(output.dtype)) continue;
      double share = honest.in_float ? evaluation::share_of_float_error(output.dtype, request.numerics) : 1;
      if (needed == Runs::in_float) share *= *place->second[i].factor;
      const bool finite = errors[i].float_is_finite;
      const auto kind = !honest.perturbed               ? Checks::HonestKind::in_float
                        : !honest.in_float              ? Checks::HonestKind::perturbed
                        : needed == Runs::both_in_float ? Checks::HonestKind::for_perturbed
                                                        : Checks::HonestKind::perturbed_in_float;
      TRY(checks_.add_run(work.exact[i], output, request.outputs[i].shape,
                          {work.other[i], honest.in_float, share, kind}, errors[i]));
      // Only the plain float run says whether the family is one for float.
      if (!(honest.in_float && !honest.perturbed)) errors[i].float_is_finite = finite;
    }
    if (first && honest.in_float) (honest.perturbed ? learned.both_in_float : learned.in_float) = errors;
  }
  if (first) {
    learned.all = errors;
    learn(request, index, learned);
  }
  TRY(run_rotated(request, index, errors, work));
  TRY(run_more(request, index, errors, work, variant));
  const bool as_declared =
      std::all_of(request.variants[index].begin(), request.variants[index].end(),
                  [](const SlotInput& input) { return input.family == static_cast<int>(model::Family::as_declared); });
  for (std::size_t i = 0; i < request.outputs.size(); ++i) {
    KeptOutput& output = variant.outputs[i];
    if (needed == Runs::in_float)
      errors[i].bands.perturbed = perturbed_squares(place->second[i].perturbed, errors[i].bands);
    if (needed == Runs::both_in_float)
      errors[i].bands.perturbed = lesser(errors[i].bands.perturbed, place->second[i].perturbed, errors[i].bands);
    output.bounds = evaluation::bounds_of(output.dtype, request.outputs[i].shape, errors[i], request.numerics);
    if (!as_declared) output.bounds.bands = evaluation::unlimited_bands();
    output.expected = work.exact[i] - work.kept->address();
    if (!model::is_floating(output.dtype) || output.count == 0) continue;
    TRY(keep_rows(std::as_bytes(std::span(output.bounds.rows)), work, output));
    output.bounds.rows.clear();
  }
  return {};
}

}  // namespace accelopt::devices::cuda
