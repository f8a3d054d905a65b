// SPDX-License-Identifier: Apache-2.0
// One call's tensors and values in the buffers, and in the argument list of the process that calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "evaluation/target.hpp"
#include "model/task.hpp"
#include "targets/cpu/arena_process.hpp"
#include "targets/cpu/buffers.hpp"
#include "targets/cpu/fault.hpp"
#include "targets/cpu/flush.hpp"
#include "targets/cpu/stream.hpp"

namespace accelopt::targets::cpu {

/// Largest size of every tensor over all workloads; scalars need none.
std::vector<BufferPlan> plan_buffers(const model::Task& task, std::size_t (*element_bytes)(model::DType));

/// Lays one call's tensors and values into the buffers and the arena's argument list.
class Layout {
 public:
  /// Streams, by `past`, to tensors that begin at cache lines alone.
  Layout(const model::Definition& definition, Buffers& buffers, Bypass past,
         evaluation::Alignment alignment = evaluation::Alignment::cache_line)
      : definition_(definition),
        buffers_(buffers),
        past_(alignment == evaluation::Alignment::cache_line ? past : Bypass::nothing),
        alignment_(alignment) {}

  /// Points the arena's arguments at the tensors, and sets its scalars and axes.
  void set_arguments(ArenaControl& control, const evaluation::Invocation& invocation) const;
  /// The call's tensors as its kernel meets them.
  [[nodiscard]] std::vector<PlacedTensor> tensors(const evaluation::Invocation& invocation) const;
  void place_inputs(const evaluation::Invocation& invocation) const;
  /// Whether the inputs are still what was laid out.
  [[nodiscard]] bool inputs_hold(const evaluation::Invocation& invocation) const;
  /// What the kernel reads: input tensors, and inout ones among the outputs.
  [[nodiscard]] std::vector<std::span<std::byte>> inputs(const evaluation::Invocation& invocation) const;
  /// Fills inout tensors with a fresh copy of their input and other outputs with the poison that the options name, and
  /// writes the bytes around them.
  void poison_outputs(const evaluation::Invocation& invocation, const evaluation::CallOptions& options) const;
  void flush(const evaluation::Invocation& invocation, Flusher& flusher) const;
  /// Whether the bytes around the outputs are what was written.
  [[nodiscard]] bool canaries_whole(const evaluation::Invocation& invocation) const;
  [[nodiscard]] std::vector<std::span<const std::byte>> outputs(const evaluation::Invocation& invocation) const;

 private:
  template <class Visit>
  void for_outputs(const evaluation::Invocation& invocation, Visit visit) const;

  const model::Definition& definition_;
  Buffers& buffers_;
  Bypass past_;
  evaluation::Alignment alignment_;
};

}  // namespace accelopt::targets::cpu
