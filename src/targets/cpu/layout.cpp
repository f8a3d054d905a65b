// SPDX-License-Identifier: Apache-2.0
#include "targets/cpu/layout.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/hash.hpp"

namespace accelopt::targets::cpu {
namespace {

using evaluation::Bytes;
using evaluation::Invocation;
using model::DType;
using model::TensorSpec;

/// 64 bits of a NaN pattern of the dtype, random where the type allows it; any bits for integers.
std::uint64_t poison_word(DType dtype, std::uint64_t random) {
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
    plans.push_back({most, output});
  };
  for (const TensorSpec& input : task.definition.inputs) add(input, false);
  for (const TensorSpec& output : task.definition.outputs) add(output, true);
  return plans;
}

void Layout::set_arguments(ArenaControl& control, const Invocation& invocation) const {
  std::uint32_t place = 0;
  std::size_t region = 0;
  const std::uint64_t scalars = scalars_there();
  const auto add_scalar = [&](const void* value, std::size_t bytes) {
    control.scalars[place] = 0;
    std::memcpy(&control.scalars[place], value, bytes);
    control.arguments[place] = scalars + place * sizeof(std::uint64_t);
    ++place;
  };
  for (std::size_t i = 0; i < definition_.inputs.size(); ++i) {
    const Bytes& bytes = invocation.inputs[i];
    if (definition_.inputs[i].shape) {
      control.arguments[place++] = buffers_.there(region++, bytes.size());
    } else {
      add_scalar(bytes.data(), bytes.size());
    }
  }
  for (const std::size_t bytes : invocation.output_bytes) control.arguments[place++] = buffers_.there(region++, bytes);
  for (const std::int64_t axis : invocation.axes) add_scalar(&axis, sizeof axis);
  control.argument_count = place;
}

void Layout::place_inputs(const Invocation& invocation) const {
  std::size_t region = 0;
  for (std::size_t i = 0; i < definition_.inputs.size(); ++i) {
    if (!definition_.inputs[i].shape) continue;
    const Bytes& bytes = invocation.inputs[i];
    copy(bytes, buffers_.here(region++, bytes.size()), past_);
  }
}

bool Layout::inputs_hold(const Invocation& invocation) const {
  std::size_t region = 0;
  for (std::size_t i = 0; i < definition_.inputs.size(); ++i) {
    if (!definition_.inputs[i].shape) continue;
    const Bytes& bytes = invocation.inputs[i];
    if (std::memcmp(buffers_.here(region++, bytes.size()).data(), bytes.data(), bytes.size()) != 0) return false;
  }
  return true;
}

std::vector<std::span<std::byte>> Layout::inputs(const Invocation& invocation) const {
  std::vector<std::span<std::byte>> out;
  for (std::size_t i = 0, region = 0; i < definition_.inputs.size(); ++i) {
    if (definition_.inputs[i].shape) out.push_back(buffers_.here(region++, invocation.inputs[i].size()));
  }
  return out;
}

template <class Visit>
void Layout::for_outputs(const Invocation& invocation, Visit visit) const {
  std::size_t region = 0;
  for (const TensorSpec& input : definition_.inputs) region += input.shape ? 1U : 0U;
  for (std::size_t i = 0; i < invocation.output_bytes.size(); ++i, ++region)
    visit(region, i, invocation.output_bytes[i]);
}

void Layout::poison_outputs(const Invocation& invocation, std::uint64_t seed) const {
  for_outputs(invocation, [&](std::size_t region, std::size_t output, std::size_t bytes) {
    const std::uint64_t own_seed = base::derive_seed(seed, std::to_string(output));
    fill(buffers_.here(region, bytes), poison_word(definition_.outputs[output].dtype, own_seed), past_);
    buffers_.write_canaries(region, bytes);
  });
}

void Layout::flush(const Invocation& invocation, Flusher& flusher) const {
  std::size_t region = 0;
  for (std::size_t i = 0; i < definition_.inputs.size(); ++i) {
    if (definition_.inputs[i].shape) flusher.flush(buffers_.here(region++, invocation.inputs[i].size()));
  }
  if (past_ == Past::nothing || !streams()) {  // else the poison is in no cache
    for (const std::size_t bytes : invocation.output_bytes) flusher.flush(buffers_.here(region++, bytes));
  }
  flusher.finish();
}

bool Layout::canaries_whole(const Invocation& invocation) const {
  bool whole = true;
  for_outputs(invocation, [&](std::size_t region, std::size_t, std::size_t bytes) {
    whole = whole && buffers_.canaries_whole(region, bytes);
  });
  return whole;
}

std::vector<std::span<const std::byte>> Layout::outputs(const Invocation& invocation) const {
  std::vector<std::span<const std::byte>> out;
  for_outputs(invocation,
              [&](std::size_t region, std::size_t, std::size_t bytes) { out.push_back(buffers_.here(region, bytes)); });
  return out;
}

}  // namespace accelopt::targets::cpu
