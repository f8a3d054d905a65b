// SPDX-License-Identifier: Apache-2.0
#include "targets/cpu/reference.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <string>

#include "base/available_memory.hpp"
#include "base/hash.hpp"
#include "evaluation/device_lock.hpp"
#include "targets/cpu/compiler.hpp"
#include "targets/cpu/layout.hpp"
#include "targets/cpu/machine.hpp"
#include "targets/cpu/timed_call.hpp"

namespace accelopt::targets::cpu {
namespace {

using base::ErrorCode;
using evaluation::Bytes;
using evaluation::Invocation;
using evaluation::Precision;
using evaluation::ReferenceTensor;
using model::DType;
using model::TensorSpec;

constexpr std::chrono::seconds kReferenceLimit{120};
constexpr const char* kHintOfMemory =
    "\nWhere an input's numbers are places in another tensor, draw them in its extent in every workload: "
    "init = \"integers(0, V)\", V being its axis. Arrays of its own (\"float row[64]\") have to be long enough for "
    "every workload";

std::size_t reference_element_bytes(DType dtype) {
  return model::is_floating(dtype) ? sizeof(double) : model::size_of(dtype);
}

std::size_t real_bytes(Precision precision) {
  return precision == Precision::float64 ? sizeof(double) : sizeof(float);
}

template <class Real>
Bytes reals_as(const std::vector<double>& values) {
  Bytes out(values.size() * sizeof(Real));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto value = static_cast<Real>(values[i]);
    std::memcpy(out.data() + i * sizeof value, &value, sizeof value);
  }
  return out;
}

Bytes reals(Precision precision, const std::vector<double>& values) {
  return precision == Precision::float64 ? reals_as<double>(values) : reals_as<float>(values);
}

template <class Real>
std::vector<double> as_doubles(std::span<const std::byte> bytes) {
  std::vector<double> out(bytes.size() / sizeof(Real));
  for (std::size_t i = 0; i < out.size(); ++i) {
    Real value;
    std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
    out[i] = static_cast<double>(value);
  }
  return out;
}

/// The definition as the reference sees it: what outputs hold before a call is NaN to it, too.
model::Definition with_real_outputs(model::Definition definition, Precision precision) {
  for (TensorSpec& output : definition.outputs) {
    if (!model::is_floating(output.dtype)) continue;
    output.dtype = precision == Precision::float64 ? DType::float64 : DType::float32;
  }
  return definition;
}

/// The first 64 bits of every output, which all others repeat before the call.
std::vector<std::uint64_t> poison_words(const std::vector<std::span<const std::byte>>& outputs) {
  std::vector<std::uint64_t> words;
  for (const std::span<const std::byte> output : outputs)
    std::memcpy(&words.emplace_back(), output.data(), std::min(output.size(), sizeof(std::uint64_t)));
  return words;
}

/// The first element that is still the poison, or was computed from it: a NaN keeps its bits, except the sign.
template <class Bits>
std::optional<std::size_t> first_poison(std::span<const std::byte> output, std::uint64_t poison) {
  constexpr Bits kMagnitude = ~Bits{0} >> 1;
  for (std::size_t at = 0; at + sizeof(Bits) <= output.size(); at += sizeof(Bits)) {
    Bits before = 0;
    Bits now = 0;
    std::memcpy(&before, reinterpret_cast<const std::byte*>(&poison) + at % sizeof poison, sizeof before);
    std::memcpy(&now, output.data() + at, sizeof now);
    if (((before ^ now) & kMagnitude) == 0) return at / sizeof(Bits);
  }
  return std::nullopt;
}

base::Result<void> refusal_of_unwritten(const std::string& output, std::size_t element) {
  return base::fail(ErrorCode::invalid_argument,
                    "the task's reference leaves elements of " + output +
                        " as they were before the call, or reads them; the first is " + std::to_string(element) +
                        ". Let it write all of them, or declare " + output + " in place ([[inout]])");
}

/// What one set of inputs takes of the machine's memory where another target asks, in doubles an element: an input is
/// shared, drawn, perturbed and converted; an output is shared, and kept of five runs.
constexpr std::uint64_t kDoublesAnInput = 5;
constexpr std::uint64_t kDoublesAnOutput = 8;

/// What a reference of another target needs to run; its parts point to one another.
struct HostWorkshop {
  explicit HostWorkshop(model::Task its_task) : task(std::move(its_task)) {}

  model::Task task;
  std::unique_ptr<KernelBuilder> builder;
  std::unique_ptr<Reference> reference;
};

}  // namespace

// What would have the machine run out of memory ends programs that have nothing to do with it.
base::Result<void> check_reference_memory(const model::Task& task) {
  const auto available = base::available_memory();
  for (const model::Workload& workload : task.workloads) {
    const auto axes = model::bind_axes(task.definition, workload);
    std::uint64_t bytes = 0;
    const auto add = [&](const std::vector<model::TensorSpec>& tensors, std::uint64_t doubles) {
      for (const model::TensorSpec& tensor : tensors)
        bytes += static_cast<std::uint64_t>(model::element_count(tensor, axes)) * doubles * sizeof(double);
    };
    add(task.definition.inputs, kDoublesAnInput);
    add(task.definition.outputs, kDoublesAnOutput);
    add(task.definition.ties, kDoublesAnOutput);
    if (!available || bytes <= *available) continue;
    return base::fail(ErrorCode::exhausted, task.reference.name + ": on the processor, workload " + workload.name +
                                                " takes about " + std::to_string((bytes >> 30) + 1) +
                                                " GiB of memory, and " + std::to_string(*available >> 30) +
                                                " GiB are free; make the workload smaller, or write the reference for "
                                                "the device");
  }
  return {};
}

base::Result<std::unique_ptr<Reference>> Reference::create(const model::Task& task, KernelBuilder& builder,
                                                           ArenaOptions arena, const std::stop_token& stop) {
  model::Task whole = task;
  whole.definition = model::reference_definition(task.definition);
  TRY_ASSIGN(Buffers buffers, Buffers::create(plan_buffers(whole, &reference_element_bytes), base::random_seed()));
  std::unique_ptr<Reference> out(
      new Reference(whole.definition, task.definition.outputs.size(), std::move(buffers), std::move(arena)));
  TRY_ASSIGN(out->as_double_, builder.build_reference("double", stop));
  TRY_ASSIGN(out->as_float_, builder.build_reference("float", stop));
  return out;
}

base::Result<std::vector<ReferenceTensor>> Reference::run(Precision precision,
                                                          const std::vector<ReferenceTensor>& inputs,
                                                          const Invocation& shape) {
  auto& live = precision == Precision::float64 ? live_double_ : live_float_;
  if (!live) {
    TRY_ASSIGN(ArenaProcess started,
               ArenaProcess::start(arena_, precision == Precision::float64 ? *as_double_ : *as_float_, buffers_));
    live.emplace(std::move(started));
  }
  const Invocation call = converted(precision, inputs, shape);
  const model::Definition over_real = with_real_outputs(definition_, precision);
  const Layout layout(over_real, buffers_, Bypass::nothing);
  TRY_ASSIGN(const std::vector<std::uint64_t> poison, call_over(live, layout, call, 0));
  TRY(refuse_unwritten(precision, layout.outputs(call), poison));
  std::vector<ReferenceTensor> out = outputs(precision, layout.outputs(call));
  if (precision == Precision::float64 && has_integers() && run_twice_.insert(shape.axes).second) {
    std::vector<Bytes> first;
    for (const std::span<const std::byte> output : layout.outputs(call))
      first.emplace_back(output.begin(), output.end());
    TRY_ASSIGN(const std::vector<std::uint64_t> other, call_over(live, layout, call, 1));
    TRY(refuse_unwritten_integers(first, poison, layout.outputs(call), other));
  }
  return out;
}

base::Result<std::vector<std::uint64_t>> Reference::call_over(std::optional<ArenaProcess>& live, const Layout& layout,
                                                              const Invocation& call, std::uint64_t poison_seed) {
  layout.set_arguments(live->control(), call);
  layout.place_inputs(call);
  layout.poison_outputs(call, {.poison_seed = poison_seed});
  std::vector<std::uint64_t> poison = poison_words(layout.outputs(call));
  // Nobody times it: the wait may sleep, as it does on one core, and leave this thread's core to others.
  constexpr bool kSleeps = true;
  const Bracket bracket =
      live->death().empty() ? timed_call(*live, kReferenceLimit, kSleeps) : Bracket{.end = Bracket::End::died};
  if (bracket.end != Bracket::End::returned) {
    const std::string reason = live->death();
    live.reset();
    const char* const hint = reason.find("SIGSEGV") == std::string::npos ? "" : kHintOfMemory;
    return base::fail(ErrorCode::invalid_argument, "the task's reference " + reason + hint);
  }
  if (!layout.canaries_whole(call)) {
    return base::fail(ErrorCode::invalid_argument, "the task's reference wrote outside an output");
  }
  return poison;
}

bool Reference::has_integers() const {
  return std::any_of(definition_.outputs.begin(),
                     definition_.outputs.begin() + static_cast<std::ptrdiff_t>(own_outputs_),
                     [](const TensorSpec& output) { return !output.inout && !model::is_floating(output.dtype); });
}

// What was written is the same over both, and so differs from one of them.
base::Result<void> Reference::refuse_unwritten_integers(const std::vector<Bytes>& first,
                                                        const std::vector<std::uint64_t>& first_poison,
                                                        const std::vector<std::span<const std::byte>>& second,
                                                        const std::vector<std::uint64_t>& second_poison) const {
  for (std::size_t i = 0; i < own_outputs_; ++i) {
    const TensorSpec& output = definition_.outputs[i];
    if (output.inout || model::is_floating(output.dtype)) continue;
    const std::size_t size = model::size_of(output.dtype);
    for (std::size_t at = 0; at + size <= first[i].size(); at += size) {
      const std::byte* const one = reinterpret_cast<const std::byte*>(&first_poison[i]) + at % sizeof first_poison[i];
      const std::byte* const other =
          reinterpret_cast<const std::byte*>(&second_poison[i]) + at % sizeof second_poison[i];
      if (std::memcmp(first[i].data() + at, one, size) != 0 || std::memcmp(second[i].data() + at, other, size) != 0 ||
          std::memcmp(one, other, size) == 0) {
        continue;
      }
      return refusal_of_unwritten(output.name, at / size);
    }
  }
  return {};
}

// Values that a ties tensor lacks are missed where an index names them.
base::Result<void> Reference::refuse_unwritten(Precision precision,
                                               const std::vector<std::span<const std::byte>>& outputs,
                                               const std::vector<std::uint64_t>& poison) const {
  for (std::size_t i = 0; i < own_outputs_; ++i) {
    const TensorSpec& output = definition_.outputs[i];
    if (output.inout || !model::is_floating(output.dtype)) continue;
    const auto element = precision == Precision::float64 ? first_poison<std::uint64_t>(outputs[i], poison[i])
                                                         : first_poison<std::uint32_t>(outputs[i], poison[i]);
    if (!element) continue;
    return refusal_of_unwritten(output.name, *element);
  }
  return {};
}

Invocation Reference::converted(Precision precision, const std::vector<ReferenceTensor>& inputs,
                                const Invocation& shape) const {
  Invocation out;
  out.axes = shape.axes;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    out.inputs.push_back(model::is_floating(definition_.inputs[i].dtype) ? reals(precision, inputs[i].values)
                                                                         : inputs[i].bytes);
  }
  for (std::size_t i = 0; i < shape.output_bytes.size(); ++i) {
    const DType dtype = definition_.outputs[i].dtype;
    const std::size_t elements = shape.output_bytes[i] / model::size_of(dtype);
    out.output_bytes.push_back(elements * (model::is_floating(dtype) ? real_bytes(precision) : model::size_of(dtype)));
  }
  return out;
}

std::vector<ReferenceTensor> Reference::outputs(Precision precision,
                                                const std::vector<std::span<const std::byte>>& raw) const {
  std::vector<ReferenceTensor> out(raw.size());
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (!model::is_floating(definition_.outputs[i].dtype)) {
      out[i].bytes.assign(raw[i].begin(), raw[i].end());
      continue;
    }
    out[i].values = precision == Precision::float64 ? as_doubles<double>(raw[i]) : as_doubles<float>(raw[i]);
  }
  return out;
}

base::Result<evaluation::HostReference> make_cpu_reference(const model::Task& task, CpuOptions options,
                                                           evaluation::DeviceUse& use, const std::stop_token& stop) {
  TRY(check_reference_memory(task));
  const Machine machine = examine_machine();
  TRY_ASSIGN(const CorePlan cores, plan_cores(machine, options.device, 1));
  if (options.arena.empty()) {
    TRY_ASSIGN(options.arena, find_arena());
  }
  TRY_ASSIGN(const Compiler compiler, find_compiler(options.compiler, options.search_path, options.cache));
  auto shop = std::make_shared<HostWorkshop>(task);
  shop->task.cpu.threads = 1;
  TRY_ASSIGN(shop->builder, KernelBuilder::create(shop->task, {compiler, machine.cores, nullptr}, stop));
  const ArenaOptions arena{options.arena, cores.arenas, 1, cores.one_core, options.memory_bytes};
  TRY_ASSIGN(shop->reference, Reference::create(shop->task, *shop->builder, arena, stop));
  return while_nobody_measures(
      [shop](Precision precision, const std::vector<ReferenceTensor>& inputs, const Invocation& invocation) {
        return shop->reference->run(precision, inputs, invocation);
      },
      use);
}

base::Result<evaluation::HostReference> while_nobody_measures(evaluation::HostReference reference,
                                                              evaluation::DeviceUse& use) {
  TRY_ASSIGN(auto opened, evaluation::DeviceLock::open(kMachineLock));
  auto lock = std::make_shared<evaluation::DeviceLock>(std::move(opened));
  return evaluation::HostReference([reference = std::move(reference), lock, &use](
                                       Precision precision, const std::vector<ReferenceTensor>& inputs,
                                       const Invocation& invocation) -> base::Result<std::vector<ReferenceTensor>> {
    TRY_ASSIGN(const auto hold, evaluation::hold(*lock, use));
    return reference(precision, inputs, invocation);
  });
}

}  // namespace accelopt::targets::cpu
