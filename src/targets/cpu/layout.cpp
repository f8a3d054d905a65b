// SPDX-License-Identifier: Apache-2.0
#include "targets/cpu/layout.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>

#include "base/hash.hpp"
#include "evaluation/verify/dtype_codec.hpp"

namespace accelopt::targets::cpu {
namespace {

using evaluation::Bytes;
using evaluation::CallOptions;
using evaluation::Expected;
using evaluation::Invocation;
using evaluation::Poison;
using model::DType;
using model::TensorSpec;

constexpr std::size_t kPatternElements = 4096;

/// 64 bits of infinities of one sign, of NaN where the type has none; of integers their largest value, or true.
std::uint64_t extreme_word(DType dtype, std::uint64_t random) {
  const bool negative = random % 2 != 0;
  switch (dtype) {
    case DType::float64:
      return negative ? 0xfff0000000000000ULL : 0x7ff0000000000000ULL;
    case DType::float32:
      return negative ? 0xff800000ff800000ULL : 0x7f8000007f800000ULL;
    case DType::float16:
      return negative ? 0xfc00fc00fc00fc00ULL : 0x7c007c007c007c00ULL;
    case DType::bfloat16:
      return negative ? 0xff80ff80ff80ff80ULL : 0x7f807f807f807f80ULL;
    case DType::float8_e4m3fn:
      return 0x7f7f7f7f7f7f7f7fULL;
    case DType::float8_e5m2:
      return negative ? 0xfcfcfcfcfcfcfcfcULL : 0x7c7c7c7c7c7c7c7cULL;
    case DType::int64:
      return 0x7fffffffffffffffULL;
    case DType::int32:
      return 0x7fffffff7fffffffULL;
    case DType::int16:
      return 0x7fff7fff7fff7fffULL;
    case DType::int8:
      return 0x7f7f7f7f7f7f7f7fULL;
    case DType::boolean:
      return 0x0101010101010101ULL;
    default:
      return ~0ULL;
  }
}

/// 64 bits of a NaN pattern of the dtype, random where the type allows it; any bits for integers.
std::uint64_t nan_word(DType dtype, std::uint64_t random) {
  switch (dtype) {
    case DType::float64:
      return 0x7ff8000000000000ULL | (random & 0x8003ffffffffffffULL);
    case DType::float32:
      return 0x7fc000007fc00000ULL | (random & 0x801fffff801fffffULL);
    case DType::float16:
      return 0x7e007e007e007e00ULL | (random & 0x80ff80ff80ff80ffULL);
    case DType::bfloat16:
      return 0x7fc07fc07fc07fc0ULL | (random & 0x801f801f801f801fULL);
    case DType::float8_e4m3fn:
      return 0x7f7f7f7f7f7f7f7fULL | (random & 0x8080808080808080ULL);
    case DType::float8_e5m2:
      return 0x7e7e7e7e7e7e7e7eULL | (random & 0x8181818181818181ULL);
    default:
      return random;
  }
}

std::uint64_t poison_word(DType dtype, Poison poison, std::uint64_t random) {
  if (poison == Poison::zeros) return 0;
  if (poison == Poison::infinity) return extreme_word(dtype, random);
  return nan_word(dtype, random);
}

/// Right values of this output, drawn with repetition; it repeats over the output. Empty where there are too few.
Bytes plausible_pattern(const Expected& right, std::uint64_t seed) {
  const std::size_t count = std::max(right.values.size(), right.integers.size());
  if (count < evaluation::kLeastPlausible) return {};
  std::mt19937_64 random(seed);
  std::vector<double> drawn(std::min(count, kPatternElements));
  for (double& value : drawn) {
    const std::size_t at = random() % count;
    value = right.values.empty() ? static_cast<double>(right.integers[at]) : right.values[at];
    if (!std::isfinite(value)) value = 0;
  }
  Bytes pattern(drawn.size() * model::size_of(right.dtype));
  evaluation::encode(right.dtype, drawn, pattern);
  return pattern;
}

/// Every element wrong, whatever is right there.
Bytes complement_of(const Expected& right) {
  const std::size_t size = model::size_of(right.dtype);
  Bytes pattern(right.integers.size() * size);
  for (std::size_t i = 0; i < right.integers.size(); ++i) {
    const std::int64_t other = right.dtype == DType::boolean ? right.integers[i] == 0 : ~right.integers[i];
    std::memcpy(pattern.data() + i * size, &other, size);
  }
  return pattern;
}

Bytes poison_of(const Expected& right, Poison poison, std::uint64_t seed) {
  if (poison == Poison::complement && !right.integers.empty()) return complement_of(right);
  return plausible_pattern(right, seed);
}

/// Whether the input lies in a region of its own.
bool has_region(const TensorSpec& input) {
  return input.shape.has_value() && model::is_passed_as_input(input);
}

/// The control page's scalars as the arena sees them.
std::uint64_t scalars_there() {
  return kControlAddress + offsetof(ArenaControl, scalars);
}

}  // namespace

std::vector<BufferPlan> plan_buffers(const model::Task& task, std::size_t (*element_bytes)(DType)) {
  std::vector<BufferPlan> plans;
  const auto add = [&](const TensorSpec& tensor, bool output) {
    if (!tensor.shape) return;
    std::size_t most = 0;
    for (const model::Workload& workload : task.workloads) {
      const auto axes = model::bind_axes(task.definition, workload);
      most = std::max(most, static_cast<std::size_t>(model::element_count(tensor, axes)) * element_bytes(tensor.dtype));
    }
    plans.push_back({most, output, element_bytes(tensor.dtype)});
  };
  for (const TensorSpec& input : task.definition.inputs) {
    if (has_region(input)) add(input, false);
  }
  for (const TensorSpec& output : task.definition.outputs) add(output, true);
  return plans;
}

void Layout::set_arguments(ArenaControl& control, const Invocation& invocation) const {
  std::uint32_t place = 0;
  std::size_t region = 0;
  const std::uint64_t scalars = scalars_there();
  const auto add_scalar = [&](const void* value, std::size_t bytes) {
    ACCELOPT_ASSERT(place < kMaxArguments, "a task's definition keeps its limits");
    control.scalars[place] = 0;
    std::memcpy(&control.scalars[place], value, bytes);
    control.arguments[place] = scalars + place * sizeof(std::uint64_t);
    ++place;
  };
  for (std::size_t i = 0; i < definition_.inputs.size(); ++i) {
    const Bytes& bytes = invocation.inputs[i];
    if (!model::is_passed_as_input(definition_.inputs[i])) continue;
    if (definition_.inputs[i].shape) {
      ACCELOPT_ASSERT(place < kMaxArguments, "tensors were counted as their memory was made");
      control.arguments[place++] = buffers_.there(region++, bytes.size(), alignment_);
    } else {
      add_scalar(bytes.data(), bytes.size());
    }
  }
  for (const std::size_t bytes : invocation.output_bytes)
    control.arguments[place++] = buffers_.there(region++, bytes, alignment_);
  for (const std::int64_t axis : invocation.axes) add_scalar(&axis, sizeof axis);
  control.argument_count = place;
}

std::vector<PlacedTensor> Layout::tensors(const Invocation& invocation) const {
  std::vector<PlacedTensor> out;
  for (std::size_t i = 0; i < definition_.inputs.size(); ++i) {
    if (!has_region(definition_.inputs[i])) continue;
    const std::size_t bytes = invocation.inputs[i].size();
    out.push_back({definition_.inputs[i].name, buffers_.there(out.size(), bytes, alignment_), bytes, false});
  }
  for (std::size_t i = 0; i < invocation.output_bytes.size(); ++i) {
    const std::size_t bytes = invocation.output_bytes[i];
    out.push_back({definition_.outputs[i].name, buffers_.there(out.size(), bytes, alignment_), bytes, true});
  }
  return out;
}

void Layout::place_inputs(const Invocation& invocation) const {
  std::size_t region = 0;
  for (std::size_t i = 0; i < definition_.inputs.size(); ++i) {
    if (!has_region(definition_.inputs[i])) continue;
    const Bytes& bytes = invocation.inputs[i];
    copy(bytes, buffers_.here(region++, bytes.size(), alignment_), past_);
  }
}

bool Layout::inputs_hold(const Invocation& invocation) const {
  std::size_t region = 0;
  for (std::size_t i = 0; i < definition_.inputs.size(); ++i) {
    if (!has_region(definition_.inputs[i])) continue;
    const Bytes& bytes = invocation.inputs[i];
    if (std::memcmp(buffers_.here(region++, bytes.size(), alignment_).data(), bytes.data(), bytes.size()) != 0)
      return false;
  }
  return true;
}

std::vector<std::span<std::byte>> Layout::inputs(const Invocation& invocation) const {
  std::vector<std::span<std::byte>> out;
  for (std::size_t i = 0, region = 0; i < definition_.inputs.size(); ++i) {
    if (has_region(definition_.inputs[i]))
      out.push_back(buffers_.here(region++, invocation.inputs[i].size(), alignment_));
  }
  for_outputs(invocation, [&](std::size_t region, std::size_t output, std::size_t bytes) {
    if (definition_.outputs[output].inout) out.push_back(buffers_.here(region, bytes, alignment_));
  });
  return out;
}

template <class Visit>
void Layout::for_outputs(const Invocation& invocation, Visit visit) const {
  std::size_t region = 0;
  for (const TensorSpec& input : definition_.inputs) region += has_region(input) ? 1U : 0U;
  for (std::size_t i = 0; i < invocation.output_bytes.size(); ++i, ++region)
    visit(region, i, invocation.output_bytes[i]);
}

void Layout::poison_outputs(const Invocation& invocation, const CallOptions& options) const {
  for_outputs(invocation, [&](std::size_t region, std::size_t output, std::size_t bytes) {
    const std::uint64_t seed = base::derive_seed(options.poison_seed, std::to_string(output));
    const std::span<std::byte> place = buffers_.here(region, bytes, alignment_);
    if (const auto input = model::contents_of(definition_, definition_.outputs[output])) {
      cpu::copy(invocation.inputs[*input], place, past_);
      buffers_.write_canaries(region, bytes, alignment_);
      return;
    }
    const bool made_of_right = options.poison == Poison::plausible || options.poison == Poison::complement;
    Bytes pattern;
    if (made_of_right && output < options.right.size()) {
      pattern = poison_of(options.right[output], options.poison, seed);
    }
    if (pattern.empty()) fill(place, poison_word(definition_.outputs[output].dtype, options.poison, seed), past_);
    for (std::size_t at = 0; at < bytes && !pattern.empty(); at += pattern.size()) {
      const std::size_t part = std::min(pattern.size(), bytes - at);
      cpu::copy(std::span(pattern).first(part), place.subspan(at, part), past_);
    }
    buffers_.write_canaries(region, bytes, alignment_);
  });
}

void Layout::flush(const Invocation& invocation, Flusher& flusher) const {
  std::size_t region = 0;
  for (std::size_t i = 0; i < definition_.inputs.size(); ++i) {
    if (has_region(definition_.inputs[i]))
      flusher.flush(buffers_.here(region++, invocation.inputs[i].size(), alignment_));
  }
  if (past_ == Bypass::nothing || !streams()) {  // else the poison is in no cache
    for (const std::size_t bytes : invocation.output_bytes) flusher.flush(buffers_.here(region++, bytes, alignment_));
  }
  flusher.finish();
}

bool Layout::canaries_whole(const Invocation& invocation) const {
  bool whole = true;
  for_outputs(invocation, [&](std::size_t region, std::size_t, std::size_t bytes) {
    whole = whole && buffers_.canaries_whole(region, bytes, alignment_);
  });
  return whole;
}

std::vector<std::span<const std::byte>> Layout::outputs(const Invocation& invocation) const {
  std::vector<std::span<const std::byte>> out;
  for_outputs(invocation, [&](std::size_t region, std::size_t, std::size_t bytes) {
    out.push_back(buffers_.here(region, bytes, alignment_));
  });
  return out;
}

}  // namespace accelopt::targets::cpu
