// SPDX-License-Identifier: Apache-2.0
// From a kernel's instructions to those of the hardware, with what each costs.
#pragma once

#include <cstdint>
#include <vector>

#include "targets/trainium/chip.hpp"
#include "targets/trainium/program.hpp"

namespace accelopt::targets::trainium {

/// What the compiler is taken to do: it repeats nothing that it can keep, or keeps what is loaded and repeats the rest.
enum class Policy { hoist, literal };

enum class Queue { tensor, vector, scalar, load, store };
inline constexpr int kQueues = 5;

/// One instruction of the hardware.
struct Work {
  Queue queue = Queue::vector;
  std::uint32_t instruction = 0;       ///< that it comes from
  double ns = 0;                       ///< of an engine; of a DMA the time of one of its descriptors
  std::int64_t descriptors = 0;        ///< of a DMA: one for each run of elements that lie behind each other
  std::int64_t bytes = 0;              ///< of a DMA
  std::vector<std::uint32_t> after{};  ///< work that must have ended
  std::vector<std::uint32_t> tiles{};  ///< that it needs, by their places in Lowered::tiles
  std::int32_t target = -1;            ///< the one that it writes; none: it writes to HBM
  bool shared = false;                 ///< what it computes is used where the kernel computes it again
  bool spill = false;                  ///< the kernel does not ask for it: a tile leaves the chip, or comes back
};

/// What the vendor's profiler counts, by the rule that its published profiles follow: DMA moves bytes; an engine reads
/// and writes bytes of one partition, where tensor_tensor counts as nothing; a float32 multiplication counts twice.
struct Counters {
  std::int64_t psum_read = 0;
  std::int64_t psum_written = 0;
  std::int64_t sbuf_read = 0;
  std::int64_t sbuf_written = 0;
  double flops = 0;            ///< of the tensor engine, transposes among them
  double transpose_flops = 0;  ///< of transposes alone
};

/// A place on the chip, from the first work that needs it to the last.
struct Tile {
  Space space = Space::sbuf;
  std::int64_t bytes = 0;  ///< of a partition
};

struct Lowered {
  std::vector<Tile> tiles;
  std::int64_t saved_bytes = 0;  ///< because they did not fit; among the written ones
  std::int64_t reloaded_bytes = 0;
  Counters counters;
  std::vector<Work> work;
  std::vector<std::uint32_t> place;  ///< by buffer: the one that has its contents; itself, where nothing is kept
  std::vector<Space> spaces;         ///< by buffer: where the compiler puts it
  std::int64_t read_bytes = 0;       ///< from HBM
  std::int64_t written_bytes = 0;
  std::int64_t kept_loads = 0;  ///< that the policy did not repeat
};

Lowered lower(const Program& program, const Generation& chip, Policy policy);

}  // namespace accelopt::targets::trainium
