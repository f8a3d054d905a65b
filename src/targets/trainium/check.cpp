// SPDX-License-Identifier: Apache-2.0
#include "targets/trainium/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "targets/trainium/carried.hpp"
#include "targets/trainium/slices.hpp"

namespace accelopt::targets::trainium {
namespace {

std::string described(const Buffer& buffer) {
  return fmt::format("\"{}\" (line {})", buffer.name, buffer.line);
}

class Checker {
 public:
  Checker(const Program& program, const Generation& chip) : program_(program), chip_(chip) {}

  Refusal run() {
    for (const Buffer& buffer : program_.buffers) {
      if (std::string message = tile(buffer); !message.empty()) return {buffer.line, std::move(message)};
    }
    for (const Instruction& one : program_.instructions) {
      if (std::string message = instruction(one); !message.empty()) return {one.line, std::move(message)};
    }
    if (const Resident resident = most_resident(program_); resident.bytes > kMostResidentBytes)
      return {resident.line,
              fmt::format("here {} MiB of the kernel's tiles and tensors are in use at once, and at most "
                          "{} are executed here; use smaller ones, or one again",
                          resident.bytes >> 20, kMostResidentBytes >> 20)};
    if (Refusal refusal = carried(); !refusal.message.empty()) return refusal;
    return writes();
  }

 private:
  [[nodiscard]] std::string tile(const Buffer& buffer) const {
    if (!on_chip(buffer.space)) return {};
    if (buffer.shape[0] > chip_.partitions)
      return fmt::format(
          "err_num_partition_exceed_arch_limit: {} has {} partitions, and the chip {}; use smaller tiles",
          described(buffer), buffer.shape[0], chip_.partitions);
    const std::int64_t bytes = buffer.shape[1] * kElementBytes;
    const std::int64_t most = buffer.space == Space::psum ? chip_.psum_bytes : chip_.sbuf_bytes;
    if (bytes > most)
      return fmt::format(
          "err_size_of_dimension_exceed_arch_limit: {} takes {} bytes of each partition of {}, which has {}; "
          "use smaller tiles",
          described(buffer), bytes, buffer.space == Space::psum ? "PSUM" : "SBUF", most);
    return {};
  }

  [[nodiscard]] Space space(std::uint32_t view) const { return program_.buffer_of(view).space; }

  [[nodiscard]] std::string instruction(const Instruction& one) const {
    if (std::string message = spaces(one); !message.empty()) return message;
    std::vector<std::uint32_t> views = one.sources;
    views.push_back(one.target);
    for (const std::uint32_t view : views) {
      if (std::string message = access(view); !message.empty()) return message;
    }
    if (one.op == Op::matmul) return matmul(one);
    if (one.op == Op::tensor_tensor) return pair(one);
    return {};
  }

  /// Where the operands may lie.
  [[nodiscard]] std::string spaces(const Instruction& one) const {
    const Space target = space(one.target);
    const auto wrong = [&](std::string_view what, std::uint32_t view) {
      return fmt::format("err_unsupported_memory: {}, and {} lies in another memory; copy it first", what,
                         described(program_.buffer_of(view)));
    };
    if (one.op == Op::load) {
      if (target != Space::sbuf) return wrong("nl.load writes to SBUF", one.target);
      return on_chip(space(one.sources[0])) ? wrong("nl.load reads HBM", one.sources[0]) : std::string();
    }
    if (one.op == Op::store) {
      if (target != Space::output && target != Space::scratch) return wrong("nl.store writes to outputs", one.target);
      return space(one.sources[0]) != Space::sbuf ? wrong("nl.store reads SBUF", one.sources[0]) : std::string();
    }
    const bool tensor_engine = one.op == Op::matmul || one.op == Op::transpose;
    if (tensor_engine && target != Space::psum) return wrong("the tensor engine writes to PSUM", one.target);
    if (!on_chip(target)) return wrong("compute instructions write to SBUF or PSUM", one.target);
    for (const std::uint32_t source : one.sources) {
      if (!on_chip(space(source))) return wrong("compute instructions read SBUF or PSUM", source);
      if (tensor_engine && space(source) != Space::sbuf) return wrong("the tensor engine reads SBUF", source);
    }
    return {};
  }

  /// Partitions, elements, and the first partition of a tile on the chip.
  [[nodiscard]] std::string access(std::uint32_t number) const {
    const View& view = program_.view(number);
    const Buffer& buffer = program_.buffers[view.buffer];
    if (view.partitions() > chip_.partitions)
      return fmt::format("err_num_partition_exceed_arch_limit: an access to {} has {} partitions; at most {}",
                         described(buffer), view.partitions(), chip_.partitions);
    if (!on_chip(buffer.space)) return {};
    const std::int64_t most = buffer.space == Space::psum ? chip_.psum_free_elements : chip_.sbuf_free_elements;
    if (view.per_partition() > most)
      return fmt::format(
          "err_size_of_dimension_exceed_arch_limit: an access to {} has {} elements per partition; at most {}",
          described(buffer), view.per_partition(), most);
    if (view.partitions() > 1 && view.axes.front().stride != buffer.shape[1])
      return fmt::format(
          "err_unsupported_partition_step: an access to {} goes through {} partitions by other steps than one; use "
          "broadcast_to, nisa.nc_matmul with ones to add up partitions, or nisa.nc_transpose",
          described(buffer), view.partitions());
    const std::int64_t begin = view.offset / buffer.shape[1];
    const std::int64_t step = view.partitions() > 64 ? 128 : view.partitions() > 32 ? 64 : 32;
    if (begin % step != 0)
      return fmt::format(
          "err_num_partition_mismatch: an access to {} of {} partitions begins at partition {}; it may "
          "begin at multiples of {}",
          described(buffer), view.partitions(), begin, step);
    return {};
  }

  [[nodiscard]] std::string matmul(const Instruction& one) const {
    const View& target = program_.view(one.target);
    const Buffer& psum = program_.buffers[target.buffer];
    if (target.partitions() > chip_.stationary_columns || target.per_partition() > chip_.moving_columns)
      return fmt::format(
          "err_size_of_dimension_exceed_arch_limit: a multiplication of {} by {} columns; at most {} by {}",
          target.partitions(), target.per_partition(), chip_.stationary_columns, chip_.moving_columns);
    const std::int64_t begin = target.offset % psum.shape[1];
    std::int64_t end = begin;
    for (std::size_t i = 1; i < target.axes.size(); ++i) end += (target.axes[i].count - 1) * target.axes[i].stride;
    const std::int64_t bank = chip_.psum_bank_bytes / kElementBytes;
    if (begin / bank != end / bank)
      return fmt::format(
          "err_size_of_dimension_exceed_arch_limit: a result in {} goes over a bank of PSUM, {} bytes; "
          "use a tile of its own",
          described(psum), chip_.psum_bank_bytes);
    return {};
  }

  [[nodiscard]] std::string pair(const Instruction& one) const {
    if (space(one.sources[0]) == Space::psum && space(one.sources[1]) == Space::psum &&
        one.sources[0] != one.sources[1])
      return "err_unsupported_memory: both operands of tensor_tensor lie in PSUM; copy one to SBUF first";
    const auto base = [&](std::size_t i) {
      return program_.view(one.sources[i]).offset / program_.buffer_of(one.sources[i]).shape[1];
    };
    const bool both = space(one.sources[0]) == Space::sbuf && space(one.sources[1]) == Space::sbuf;
    if (both && base(0) != base(1))
      return fmt::format(
          "err_num_partition_mismatch: the operands of tensor_tensor begin at partitions {} and {}; copy "
          "one first",
          base(0), base(1));
    return {};
  }

  [[nodiscard]] Refusal race(const Instruction& one, const Instruction& before, std::string_view what,
                             std::string_view advice) const {
    return {one.line,
            fmt::format("err_unexpected_output_dependencies: two iterations of an affine_range write one place of {} "
                        "{} (lines {} and {}); use sequential_range, or {}",
                        what, described(program_.buffer_of(one.target)), before.line, one.line, advice)};
  }

  /// What an iteration of an affine loop leaves to another one, on tiles and in HBM.
  [[nodiscard]] Refusal carried() const {
    const std::optional<Carried> found = carried_dependence(program_);
    if (!found) return {};
    const Instruction& before = program_.instructions[found->first];
    const Instruction& one = program_.instructions[found->second];
    const Buffer& buffer = program_.buffers[found->buffer];
    const char* const what = on_chip(buffer.space) ? "tile" : buffer.space == Space::output ? "output" : "tensor";
    if (found->kind == Carried::Kind::both_write)
      return race(one, before, what, fmt::format("make the {} in the loop", what));
    return {one.line,
            fmt::format("err_unexpected_output_dependencies: an iteration of an affine_range reads what another one "
                        "writes to {} {} (lines {} and {}); use sequential_range",
                        what, described(buffer), before.line, one.line)};
  }

  /// Outputs are written whole, and no place by two iterations of an affine loop.
  Refusal writes() {
    if (written_once(program_)) return {};
    std::vector<std::vector<std::uint32_t>> writer(program_.buffers.size());  // instruction + 1 by element
    for (const std::uint32_t output : program_.outputs)
      writer[output].assign(static_cast<std::size_t>(program_.buffers[output].size()), 0);
    for (std::size_t i = 0; i < program_.instructions.size(); ++i) {
      const Instruction& one = program_.instructions[i];
      const View& view = program_.view(one.target);
      std::vector<std::uint32_t>& own = writer[view.buffer];
      if (own.empty()) continue;
      const std::uint32_t other = mark(view, own, static_cast<std::uint32_t>(i + 1), 0, view.offset);
      if (other == 0) continue;
      return race(one, program_.instructions[other - 1], "output", "store what is final once");
    }
    for (const std::uint32_t output : program_.outputs) {
      const auto found = std::find(writer[output].begin(), writer[output].end(), 0U);
      if (found == writer[output].end()) continue;
      return {program_.buffers[output].line,
              fmt::format("err_tensor_output_not_written_to: element {} of output {} is never written; store all of it",
                          found - writer[output].begin(), described(program_.buffers[output]))};
    }
    return {};
  }

  /// Marks the elements as this instruction's; gives one that wrote there in another iteration of an affine loop.
  std::uint32_t mark(const View& view, std::vector<std::uint32_t>& own, std::uint32_t number, std::size_t axis,
                     std::int64_t base) {
    const Axis& here = view.axes[axis];
    std::uint32_t last = 0;
    if (axis + 1 == view.axes.size() && here.stride == 1) {
      const auto begin = own.begin() + base;
      if (std::all_of(begin, begin + here.count, [](std::uint32_t slot) { return slot == 0; })) {
        std::fill_n(begin, here.count, number);
        return 0;
      }
    }
    for (std::int64_t i = 0; i < here.count; ++i) {
      const std::int64_t at = base + i * here.stride;
      if (axis + 1 < view.axes.size()) {
        if (const std::uint32_t other = mark(view, own, number, axis + 1, at); other != 0) return other;
        continue;
      }
      std::uint32_t& slot = own[static_cast<std::size_t>(at)];
      if (slot != 0 && slot != number && slot != last) {
        last = slot;
        if (racing_loop(program_, program_.instructions[slot - 1].iteration,
                        program_.instructions[number - 1].iteration) >= 0)
          return slot;
      }
      slot = number;
    }
    return 0;
  }

  const Program& program_;
  const Generation& chip_;
};

}  // namespace

Refusal check(const Program& program, const Generation& chip) {
  return Checker(program, chip).run();
}

}  // namespace accelopt::targets::trainium
