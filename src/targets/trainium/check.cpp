// SPDX-License-Identifier: Apache-2.0
#include "targets/trainium/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

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
    if (Refusal refusal = writes_on_chip(); !refusal.message.empty()) return refusal;
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

  /// The affine loop whose iterations both instructions are in different ones of; none: -1.
  [[nodiscard]] std::int32_t racing(std::uint32_t a, std::uint32_t b) const {
    std::int32_t loop = -1;
    while (a != b) {  // up to the iteration that both are in; parents have smaller numbers
      const Iteration& one = program_.iterations[std::max(a, b)];
      const Iteration& other = program_.iterations[std::min(a, b)];
      loop = one.loop == other.loop ? one.loop : -1;
      if (a == one.parent || b == one.parent) loop = -1;
      (a > b ? a : b) = one.parent;
      if (loop >= 0 && other.parent == one.parent) break;
    }
    return loop >= 0 && program_.loops[static_cast<std::size_t>(loop)].kind == LoopKind::affine ? loop : -1;
  }

  [[nodiscard]] Refusal race(const Instruction& one, const Instruction& before, std::string_view what,
                             std::string_view advice) const {
    return {one.line,
            fmt::format("err_unexpected_output_dependencies: two iterations of an affine_range write one place of {} "
                        "{} (lines {} and {}); use sequential_range, or {}",
                        what, described(program_.buffer_of(one.target)), before.line, one.line, advice)};
  }

  /// Whether it writes what it finds there too: sums of products, nl.loop_reduce, +=. Affine loops may do that.
  [[nodiscard]] bool accumulates(const Instruction& one) const {
    if (one.op == Op::matmul) return (one.flags & 1U) != 0;
    return std::any_of(one.sources.begin(), one.sources.end(), [&](std::uint32_t source) {
      return program_.view(source).buffer == program_.view(one.target).buffer;
    });
  }

  /// No place of a tile is written anew by two iterations of an affine loop.
  Refusal writes_on_chip() {
    std::vector<std::vector<std::uint32_t>> writers(program_.buffers.size());  // instructions, of tiles with several
    for (std::size_t i = 0; i < program_.instructions.size(); ++i) {
      const Instruction& one = program_.instructions[i];
      const std::uint32_t buffer = program_.view(one.target).buffer;
      if (on_chip(program_.buffers[buffer].space) && !accumulates(one))
        writers[buffer].push_back(static_cast<std::uint32_t>(i));
    }
    std::vector<std::uint32_t> writer;  // instruction + 1 by element
    for (std::size_t buffer = 0; buffer < writers.size(); ++buffer) {
      const std::vector<std::uint32_t>& own = writers[buffer];
      const auto races = [&](std::uint32_t a, std::uint32_t b) {
        return racing(program_.instructions[a].iteration, program_.instructions[b].iteration) >= 0;
      };
      if (own.size() < 2 || std::adjacent_find(own.begin(), own.end(), races) == own.end()) continue;
      writer.assign(static_cast<std::size_t>(program_.buffers[buffer].size()), 0);
      for (const std::uint32_t number : own) {
        const View& view = program_.view(program_.instructions[number].target);
        const std::uint32_t other = mark(view, writer, number + 1, 0, view.offset);
        if (other != 0)
          return race(program_.instructions[number], program_.instructions[other - 1], "tile",
                      "make the tile in the loop");
      }
    }
    return {};
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
        if (racing(program_.instructions[slot - 1].iteration, program_.instructions[number - 1].iteration) >= 0)
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
