// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "evaluation/bench.hpp"
#include "targets/cpu/arena/protocol.hpp"

namespace accelopt::targets::cpu {

/// The largest size of one tensor over all workloads, and who writes it.
struct BufferPlan {
  std::size_t capacity_bytes = 0;
  bool output = false;
  std::size_t element_bytes = sizeof(float);
};

/// Shared memory for one task's tensors: one region each, the same physical pages and the same addresses for every arm.
/// A tensor is aligned as each call asks and ends, but for the alignment's slack, which is less than 64 bytes, at pages
/// without access. The rest of an output's region holds canary bytes: whoever writes there is found, and nothing can be
/// left there for another process.
class Buffers {
 public:
  using Alignment = evaluation::Alignment;

  /// @error exhausted, io: no memory to share; invalid_argument: more tensors than an arena takes.
  static base::Result<Buffers> create(const std::vector<BufferPlan>& plans, std::uint64_t secret);
  Buffers(Buffers&& other) noexcept;
  Buffers& operator=(Buffers&& other) noexcept;
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;
  ~Buffers();

  /// The worker's view of tensor `index` when it holds `bytes`. Requires bytes <= its capacity.
  [[nodiscard]] std::span<std::byte> here(std::size_t index, std::size_t bytes,
                                          Alignment alignment = Alignment::cache_line) const;
  /// Its address in an arena.
  [[nodiscard]] std::uint64_t there(std::size_t index, std::size_t bytes,
                                    Alignment alignment = Alignment::cache_line) const;
  void write_canaries(std::size_t index, std::size_t bytes, Alignment alignment = Alignment::cache_line);
  /// False: something wrote outside the tensor.
  [[nodiscard]] bool canaries_whole(std::size_t index, std::size_t bytes,
                                    Alignment alignment = Alignment::cache_line) const;
  /// After a call whose canaries were not whole, or not looked at: all of them are written anew next time.
  void distrust();

  [[nodiscard]] int inputs() const { return inputs_.get(); }
  [[nodiscard]] int outputs() const { return outputs_.get(); }
  [[nodiscard]] std::uint64_t span_bytes() const { return span_bytes_; }
  [[nodiscard]] std::uint64_t shared_bytes() const { return inputs_bytes_ + outputs_bytes_; }
  [[nodiscard]] std::vector<ArenaRegion> regions() const;
  [[nodiscard]] bool sealed() const { return sealed_; }

 private:
  struct Region {
    std::size_t bytes = 0;
    std::size_t offset = 0;
    std::uint64_t address = 0;
    std::size_t capacity = 0;
    std::size_t element = sizeof(float);  ///< bytes
    bool output = false;
    std::size_t canaries = 0;  ///< bytes from its beginning that hold them
  };
  Buffers() = default;
  [[nodiscard]] std::byte* base_of(const Region& region) const;
  /// Bytes from a tensor's beginning to its region's end.
  [[nodiscard]] std::size_t to_end(std::size_t index, std::size_t bytes, Alignment alignment) const;
  [[nodiscard]] std::uint64_t canary(std::size_t index) const;

  std::vector<Region> regions_;
  base::FileDescriptor inputs_;
  base::FileDescriptor outputs_;
  std::byte* inputs_map_ = nullptr;
  std::byte* outputs_map_ = nullptr;
  std::size_t inputs_bytes_ = 0;
  std::size_t outputs_bytes_ = 0;
  std::uint64_t span_bytes_ = 0;
  std::uint64_t secret_ = 0;
  bool sealed_ = false;
};

}  // namespace accelopt::targets::cpu
