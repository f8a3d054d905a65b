// SPDX-License-Identifier: Apache-2.0
#include "targets/cuda/card_slots.hpp"

#include <algorithm>
#include <cstring>

#include "base/hash.hpp"
#include "evaluation/dtype_codec.hpp"
#include "evaluation/inputs.hpp"

namespace accelopt::targets::cuda {
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

std::uint64_t scratch_bytes(const model::LaunchPlan& plan) {
  std::uint64_t bytes = 0;
  for (const model::ScratchTensor& one : plan.scratch) {
    bytes += Workspace::padded(static_cast<std::uint64_t>(one.bytes));
  }
  return bytes;
}

/// A scalar as the reference is given it.
PlanBinding::Input real_scalar(const SlotInput& input, const model::Numerics& numerics, bool in_float, bool perturbed,
                               std::uint64_t seed) {
  if (!model::is_floating(input.dtype)) return {0, true, input.scalar_bits, model::size_of(input.dtype)};
  double value = evaluation::decode_element(input.dtype, std::as_bytes(std::span(&input.scalar_bits, 1)), 0);
  if (perturbed) evaluation::perturb(std::span(&value, 1), input.dtype, numerics, seed);
  PlanBinding::Input out{0, true, 0, in_float ? sizeof(float) : sizeof(double)};
  const auto narrow = static_cast<float>(value);
  std::memcpy(&out.bits, in_float ? static_cast<const void*>(&narrow) : &value, out.size);
  return out;
}

}  // namespace

/// What one set of inputs needs while it is made.
struct CardSlots::Work {
  std::vector<Mapping> mapped;       ///< inputs' own memory
  std::vector<DevicePointer> raw;    ///< inputs as candidates see them; 0: a scalar
  std::vector<DevicePointer> real;   ///< inputs as the reference sees them
  std::vector<DevicePointer> exact;  ///< outputs of the run in double
  std::vector<DevicePointer> other;  ///< outputs of the other runs
  DevicePointer scratch = 0;
  Workspace* kept = nullptr;  ///< the slot's
};

std::uint64_t bytes_of(const CardSlot& slot) {
  std::uint64_t bytes = 0;
  for (const Workspace& kept : slot.kept) bytes += kept.bytes();
  for (const Variant& variant : slot.variants) {
    for (const Variant::Input& input : variant.inputs) bytes += input.memory.bytes();
  }
  return bytes;
}

CardSlot* CardSlots::find(std::uint64_t number) {
  const auto found = slots_.find(number);
  return found == slots_.end() ? nullptr : &found->second;
}

void CardSlots::forget_all_but(std::uint64_t number) {
  std::erase_if(slots_, [&](const auto& slot) { return slot.first != number; });
}

base::Result<const DeviceModule*> CardSlots::module_of(const std::string& cubin) {
  if (const auto known = references_.find(cubin); known != references_.end()) return &known->second;
  const auto code = cubins_.find(cubin);
  if (code == cubins_.end()) return base::fail(ErrorCode::not_found, "the reference's machine code is not here");
  TRY_ASSIGN(DeviceModule module, device_.load(code->second));
  return &references_.emplace(cubin, std::move(module)).first->second;
}

base::Result<std::vector<evaluation::Bounds>> CardSlots::prepare(const SlotRequest& request, const Bulk& bulk) {
  CardSlot& slot = slots_[request.number];
  if (slot.key == 0) slot.key = base::random_seed();
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

/// Makes the variants that are not there yet; what is expected of them lies together.
base::Result<void> CardSlots::add(const SlotRequest& request, const Bulk& bulk, CardSlot& slot) {
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

base::Result<Variant> CardSlots::make(const SlotRequest& request, std::size_t index, const Bulk& bulk, CardSlot& slot) {
  Variant variant;
  variant.kept = slot.kept.size() - 1;
  Work work;
  work.kept = &slot.kept.back();
  const std::vector<SlotInput>& inputs = request.variants[index];
  std::uint64_t bytes = std::max(scratch_bytes(request.in_double.plan), scratch_bytes(request.in_float.plan));
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
base::Result<void> CardSlots::seal(const CardSlot& slot, Work& work, Variant& variant) {
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

base::Result<void> CardSlots::draw(const SlotRequest& request, std::size_t index, const Bulk& bulk, Work& work,
                                   Variant& variant) {
  const std::vector<SlotInput>& inputs = request.variants[index];
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const SlotInput& input = inputs[i];
    Variant::Input& out = variant.inputs.emplace_back();
    out.scalar = input.scalar;
    if (input.scalar) {
      out.bits = input.scalar_bits;
      out.size = model::size_of(input.dtype);
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

base::Result<void> CardSlots::run(const SlotRequest& request, std::size_t index, bool in_float, bool perturbed,
                                  std::uint64_t seed, const std::vector<DevicePointer>& outputs, Work& work,
                                  const Variant&) {
  const ReferenceProgram& program = in_float ? request.in_float : request.in_double;
  const std::vector<SlotInput>& inputs = request.variants[index];
  TRY_ASSIGN(const DeviceModule* module, module_of(program.cubin));
  PlanBinding binding;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const SlotInput& input = inputs[i];
    const std::uint64_t own_seed = base::derive_seed(seed, std::to_string(i));
    if (input.scalar) {
      binding.inputs.push_back(real_scalar(input, request.numerics, in_float, perturbed, own_seed));
      continue;
    }
    const bool floating = model::is_floating(input.dtype);
    if (floating) {
      TRY(checks_.to_real(work.real[i], real_of(in_float), work.raw[i], input.dtype, input.count,
                          perturbed ? input.perturbation_step : 0, own_seed));
    }
    binding.inputs.push_back({floating ? work.real[i] : work.raw[i], false, 0, 0});
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const DType dtype = as_real(request.outputs[i].dtype, in_float);
    TRY(checks_.poison(outputs[i], request.outputs[i].count * model::size_of(dtype), dtype, seed + i));
  }
  binding.outputs = outputs;
  DevicePointer scratch = work.scratch;
  for (const model::ScratchTensor& one : program.plan.scratch) {
    binding.scratch.push_back(scratch);
    scratch += Workspace::padded(static_cast<std::uint64_t>(one.bytes));
  }
  const auto blamed = [](base::Error error) {
    return tl::make_unexpected(base::Error{ErrorCode::invalid_argument, "the task's reference: " + error.message});
  };
  auto plan = PreparedPlan::prepare(device_, *module, program.plan, binding);
  if (!plan) return blamed(plan.error());
  if (auto launched = plan->launch(device_, checks_); !launched) return blamed(launched.error());
  if (auto ended = device_.finish(kReferenceLimit); !ended) return blamed(ended.error());
  return {};
}

/// Keeps what the reference on the host said.
base::Result<void> CardSlots::take(const SlotRequest& request, const HostOutputs& given, const Bulk& bulk, Work& work,
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

base::Result<void> CardSlots::keep_rows(std::span<const std::byte> rows, Work& work, KeptOutput& output) {
  const DevicePointer to = work.kept->take(rows.size());
  output.rows = to - work.kept->address();
  return device_.copy_in(to, rows);
}

base::Result<void> CardSlots::calibrate(const SlotRequest& request, std::size_t index, Work& work, Variant& variant) {
  TRY(run(request, index, false, false, 0, work.exact, work, variant));
  std::vector<evaluation::HonestErrors> errors(request.outputs.size());
  for (std::size_t i = 0; i < request.outputs.size(); ++i) {
    KeptOutput& output = variant.outputs.emplace_back();
    output.dtype = request.outputs[i].dtype;
    output.count = request.outputs[i].count;
    output.shape = request.outputs[i].shape;
    if (!model::is_floating(output.dtype)) continue;
    TRY(checks_.begin_calibration(work.exact[i], output, request.outputs[i].shape, errors[i]));
  }
  struct Honest {
    bool in_float;
    bool perturbed;
    std::uint64_t seed;
  };
  const std::uint64_t seed = request.perturbation + 4 * index;
  for (const Honest& honest : {Honest{true, false, 0}, Honest{false, true, seed}, Honest{false, true, seed + 1},
                               Honest{true, true, seed + 2}}) {
    TRY(run(request, index, honest.in_float, honest.perturbed, honest.seed, work.other, work, variant));
    for (std::size_t i = 0; i < request.outputs.size(); ++i) {
      KeptOutput& output = variant.outputs[i];
      if (!model::is_floating(output.dtype)) continue;
      const double share = honest.in_float ? evaluation::share_of_float_error(output.dtype, request.numerics) : 1;
      const bool finite = errors[i].float_is_finite;
      const auto kind = !honest.perturbed ? Checks::HonestKind::in_float
                        : honest.in_float ? Checks::HonestKind::perturbed_in_float
                                          : Checks::HonestKind::perturbed;
      TRY(checks_.add_run(work.exact[i], output, request.outputs[i].shape,
                          {work.other[i], honest.in_float, share, kind}, errors[i]));
      // Only the plain float run says whether the family is one for float.
      if (!(honest.in_float && !honest.perturbed)) errors[i].float_is_finite = finite;
    }
  }
  const bool as_declared =
      std::all_of(request.variants[index].begin(), request.variants[index].end(),
                  [](const SlotInput& input) { return input.family == static_cast<int>(model::Family::as_declared); });
  for (std::size_t i = 0; i < request.outputs.size(); ++i) {
    KeptOutput& output = variant.outputs[i];
    output.bounds = evaluation::bounds_of(output.dtype, request.outputs[i].shape, errors[i], request.numerics);
    if (!as_declared) output.bounds.bands = evaluation::unlimited_bands();
    output.expected = work.exact[i] - work.kept->address();
    if (!model::is_floating(output.dtype) || output.count == 0) continue;
    TRY(keep_rows(std::as_bytes(std::span(output.bounds.rows)), work, output));
    output.bounds.rows.clear();
  }
  return {};
}

}  // namespace accelopt::targets::cuda
