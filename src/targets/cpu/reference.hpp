// SPDX-License-Identifier: Apache-2.0
// The trusted reference in C or C++, for this target's own tasks and for those of targets whose device it judges.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <vector>

#include "base/result.hpp"
#include "evaluation/target.hpp"
#include "targets/cpu/arena_process.hpp"
#include "targets/cpu/buffers.hpp"
#include "targets/cpu/build.hpp"
#include "targets/cpu/cpu_target.hpp"

namespace accelopt::targets::cpu {

class Layout;

/// The trusted reference, built twice, in processes of its own with buffers of its own.
class Reference {
 public:
  /// @error invalid_argument: it does not build.
  static base::Result<std::unique_ptr<Reference>> create(const model::Task& task, KernelBuilder& builder,
                                                         ArenaOptions arena, const std::stop_token& stop);
  /// As Target::reference. @error invalid_argument: also where an output keeps what it held before; of integers, on the
  /// first inputs of each shape.
  base::Result<std::vector<evaluation::ReferenceTensor>> run(evaluation::Precision precision,
                                                             const std::vector<evaluation::ReferenceTensor>& inputs,
                                                             const evaluation::Invocation& shape);

 private:
  Reference(model::Definition definition, std::size_t own_outputs, Buffers buffers, ArenaOptions arena)
      : definition_(std::move(definition)),
        own_outputs_(own_outputs),
        buffers_(std::move(buffers)),
        arena_(std::move(arena)) {}

  /// Lays the call out over poison, and makes it. The first 64 bits of every output's poison.
  base::Result<std::vector<std::uint64_t>> call_over(std::optional<ArenaProcess>& live, const Layout& layout,
                                                     const evaluation::Invocation& call, std::uint64_t poison_seed);
  /// Whether outputs hold integers, in which no poison differs from what may be right: two runs tell.
  [[nodiscard]] bool has_integers() const;
  [[nodiscard]] base::Result<void> refuse_unwritten_integers(const std::vector<evaluation::Bytes>& first,
                                                             const std::vector<std::uint64_t>& first_poison,
                                                             const std::vector<std::span<const std::byte>>& second,
                                                             const std::vector<std::uint64_t>& second_poison) const;
  [[nodiscard]] base::Result<void> refuse_unwritten(evaluation::Precision precision,
                                                    const std::vector<std::span<const std::byte>>& outputs,
                                                    const std::vector<std::uint64_t>& poison) const;

  [[nodiscard]] evaluation::Invocation converted(evaluation::Precision precision,
                                                 const std::vector<evaluation::ReferenceTensor>& inputs,
                                                 const evaluation::Invocation& shape) const;
  [[nodiscard]] std::vector<evaluation::ReferenceTensor> outputs(
      evaluation::Precision precision, const std::vector<std::span<const std::byte>>& raw) const;

  model::Definition definition_;
  std::size_t own_outputs_;  ///< those of the task; ties tensors follow
  Buffers buffers_;
  ArenaOptions arena_;
  BuiltKernelPtr as_double_;
  BuiltKernelPtr as_float_;
  std::optional<ArenaProcess> live_double_;
  std::optional<ArenaProcess> live_float_;
  std::set<std::vector<std::int64_t>> run_twice_;  ///< axes of calls whose integers were compared
};

/// The reference of a task of another target: built and run here, on a core of its own, while nobody measures on this
/// machine's processor. `use` is what requests make of waiting for that; it outlives the reference.
/// @error unsupported: no compiler; invalid_argument: it does not build; exhausted: a workload takes more memory than
/// is free.
base::Result<evaluation::HostReference> make_cpu_reference(const model::Task& task, CpuOptions options,
                                                           evaluation::DeviceUse& use, const std::stop_token& stop);

/// @error exhausted: a workload's tensors, as a reference on the processor takes them, do not fit what is free.
base::Result<void> check_reference_memory(const model::Task& task);

/// The same reference, asked only while nobody measures on this machine's processor.
/// @error as DeviceLock::open.
base::Result<evaluation::HostReference> while_nobody_measures(evaluation::HostReference reference,
                                                              evaluation::DeviceUse& use);

}  // namespace accelopt::targets::cpu
