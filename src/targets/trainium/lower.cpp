// SPDX-License-Identifier: Apache-2.0
#include "targets/trainium/lower.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "targets/trainium/repeats.hpp"
#include "targets/trainium/residency.hpp"

namespace accelopt::targets::trainium {
namespace {

constexpr std::int64_t kPasses = 2;  ///< instructions of the hardware that a float32 multiplication is counted as

/// A part of a buffer that was written or read, as an interval that holds all of it.
struct Touched {
  std::uint32_t work = 0;
  std::int64_t partitions[2] = {0, 0};  ///< from, to; of a tensor in HBM: nothing
  std::int64_t elements[2] = {0, 0};    ///< in a partition; of a tensor in HBM: all in all
};

bool overlap(const Touched& a, const Touched& b) {
  return a.partitions[0] < b.partitions[1] && b.partitions[0] < a.partitions[1] && a.elements[0] < b.elements[1] &&
         b.elements[0] < a.elements[1];
}

Touched touched(const Program& program, std::uint32_t number, std::uint32_t work) {
  const View& view = program.view(number);
  const Buffer& buffer = program.buffers[view.buffer];
  const bool chip = on_chip(buffer.space);
  const std::int64_t row = chip ? buffer.shape[1] : buffer.size();
  std::int64_t low = 0;
  std::int64_t high = 0;
  for (std::size_t i = chip ? 1 : 0; i < view.axes.size(); ++i) {
    const std::int64_t span = (view.axes[i].count - 1) * view.axes[i].stride;
    (span < 0 ? low : high) += span;
  }
  const std::int64_t begin = view.offset / row;
  const std::int64_t at = view.offset % row;
  return {work, {begin, begin + (chip ? view.partitions() : 1)}, {at + low, at + high + 1}};
}

/// Elements that lie behind each other, from the last axis on.
std::int64_t run_of(const View& view) {
  std::int64_t run = 1;
  for (std::size_t i = view.axes.size(); i-- > 0;) {
    if (view.axes[i].count == 1) continue;
    if (view.axes[i].stride != run) break;
    run *= view.axes[i].count;
  }
  return run;
}

class Lowering {
 public:
  Lowering(const Program& program, const Generation& chip, Policy policy)
      : program_(program), chip_(chip), policy_(policy), history_(program.buffers.size()) {}

  Lowered run() {
    Repeats repeats = find_repeats(program_, chip_, policy_);
    out_.place = std::move(repeats.place);
    out_.kept_loads = repeats.loads;
    find_spaces();
    find_ordered();
    std::vector<bool> shared(program_.buffers.size(), false);
    for (std::uint32_t buffer = 0; buffer < shared.size(); ++buffer) {
      if (place(buffer) != buffer) shared[place(buffer)] = true;
    }
    for (std::uint32_t i = 0; i < program_.instructions.size(); ++i) {
      if (repeats.dropped[i]) continue;
      emit(i);
      const Instruction& one = program_.instructions[i];
      out_.work.back().shared = one.op == Op::tensor_tensor && shared[program_.view(one.target).buffer];
    }
    return std::move(out_);
  }

 private:
  struct History {
    std::vector<Touched> writes;
    std::vector<Touched> reads;
  };

  /// From the first work on a buffer to the last.
  struct Life {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::int64_t bytes = 0;  ///< of a partition of PSUM
    bool broadcast = false;  ///< its only writer is one
    bool stays = true;       ///< whoever uses it does so in the iteration that makes it, and can read PSUM
  };

  [[nodiscard]] std::map<std::uint32_t, Life> lives() const {
    std::map<std::uint32_t, Life> out;
    const std::int64_t bank = chip_.psum_bank_bytes;
    for (std::size_t i = 0; i < program_.instructions.size(); ++i) {
      const Instruction& one = program_.instructions[i];
      const std::uint32_t target = program_.view(one.target).buffer;
      const std::int64_t bytes = program_.buffers[target].shape[1] * kElementBytes;
      const bool broadcast = one.op == Op::broadcast && program_.buffers[target].space == Space::sbuf && bytes <= bank;
      if (broadcast || program_.buffers[target].space == Space::psum) {
        Life& life =
            out.try_emplace(target, Life{.begin = i, .bytes = (bytes + bank - 1) / bank * bank, .broadcast = broadcast})
                .first->second;
        life.stays = life.stays && life.begin == i;
        life.end = i;
      }
      const bool reads_sbuf =
          one.op == Op::matmul || one.op == Op::transpose || one.op == Op::store || one.op == Op::broadcast;
      for (const std::uint32_t source : one.sources) {
        const auto found = out.find(program_.view(source).buffer);
        if (found == out.end()) continue;
        Life& life = found->second;
        life.end = i;
        if (reads_sbuf || one.iteration != program_.instructions[life.begin].iteration) life.stays = false;
      }
    }
    return out;
  }

  /// A broadcast from one partition to all is a multiplication, so its result lies in PSUM. It stays there where there
  /// is room for as long as it is used; else it is copied to SBUF.
  void find_spaces() {
    for (const Buffer& buffer : program_.buffers) out_.spaces.push_back(buffer.space);
    const std::map<std::uint32_t, Life> all = lives();
    std::vector<std::int64_t> change(program_.instructions.size() + 1, 0);
    std::map<std::size_t, std::uint32_t> broadcasts;  // by where they begin
    for (const auto& [buffer, life] : all) {
      if (life.broadcast) {
        if (life.stays) broadcasts[life.begin] = buffer;
        continue;
      }
      change[life.begin] += life.bytes;
      change[life.end + 1] -= life.bytes;
    }
    std::vector<std::int64_t> used(program_.instructions.size(), 0);
    std::int64_t now = 0;
    for (std::size_t i = 0; i < used.size(); ++i) used[i] = now += change[i];
    for (const auto& [begin, buffer] : broadcasts) {
      const Life& life = all.at(buffer);
      const auto from = used.begin() + static_cast<std::ptrdiff_t>(life.begin);
      const auto to = used.begin() + static_cast<std::ptrdiff_t>(life.end) + 1;
      if (*std::max_element(from, to) + life.bytes > chip_.psum_bytes) continue;
      std::for_each(from, to, [&](std::int64_t& bytes) { bytes += life.bytes; });
      out_.spaces[buffer] = Space::psum;
    }
  }

  /// Inputs and constants are only read. An output that no instruction reads, and that is written once, is ordered by
  /// nothing: as the check has seen that all of it is written, no element is written twice where as many are as it has.
  void find_ordered() {
    std::vector<std::int64_t> written(program_.buffers.size(), 0);
    std::vector<bool> read(program_.buffers.size(), false);
    for (const Instruction& one : program_.instructions) {
      const View& target = program_.view(one.target);
      written[target.buffer] += target.partitions() * target.per_partition();
      for (const std::uint32_t source : one.sources) read[program_.view(source).buffer] = true;
    }
    for (std::uint32_t i = 0; i < program_.buffers.size(); ++i) {
      const Space space = program_.buffers[i].space;
      const bool fixed = space == Space::input || space == Space::constant;
      const bool once = space == Space::output && !read[i] && written[i] <= program_.buffers[i].size();
      ordered_.push_back(!fixed && !once);
    }
  }

  [[nodiscard]] bool in_psum(std::uint32_t view) const {
    return out_.spaces[program_.view(view).buffer] == Space::psum;
  }

  [[nodiscard]] std::uint32_t place(std::uint32_t buffer) const { return out_.place[buffer]; }

  double engine_ns(Queue queue, double cycles) const {
    if (queue == Queue::tensor) return cycles / chip_.tensor_ghz;
    if (queue == Queue::scalar) return (cycles + chip_.scalar_start) / chip_.scalar_ghz;
    return (cycles + chip_.vector_start) / chip_.vector_ghz;
  }

  void emit(std::uint32_t number) {
    const Instruction& one = program_.instructions[number];
    Work work;
    work.instruction = number;
    if (one.op == Op::load || one.op == Op::store) {
      dma(one, work);
    } else {
      const auto [queue, cycles] = cost(one);
      work.queue = queue;
      work.ns = engine_ns(queue, cycles);
      if (queue != Queue::tensor) busy_[queue == Queue::vector ? 0 : 1] += work.ns;
    }
    count(one);
    depend(one, work);
    out_.work.push_back(std::move(work));
    if (one.op == Op::broadcast && !in_psum(one.target)) evict(number);
  }

  /// Copies what a broadcast left in PSUM, a bank at a time.
  void evict(std::uint32_t number) {
    const Instruction& one = program_.instructions[number];
    const double n = static_cast<double>(program_.view(one.target).per_partition());
    const double bank = static_cast<double>(chip_.psum_bank_bytes) / kElementBytes;
    Work work;
    work.instruction = number;
    work.queue = Queue::scalar;
    work.ns = std::ceil(n / bank) * engine_ns(Queue::scalar, 0) + std::max(chip_.least_cycles, n) / chip_.scalar_ghz;
    busy_[1] += work.ns;
    depend(one, work);
    out_.work.push_back(std::move(work));
  }

  void dma(const Instruction& one, Work& work) {
    const View& hbm = program_.view(one.op == Op::load ? one.sources[0] : one.target);
    const View& tile = program_.view(one.op == Op::load ? one.target : one.sources[0]);
    const std::int64_t elements = tile.partitions() * tile.per_partition();
    const std::int64_t run = std::min({run_of(hbm), tile.per_partition(), elements});
    work.queue = one.op == Op::load ? Queue::load : Queue::store;
    work.bytes = elements * kElementBytes;
    work.descriptors = elements / std::max<std::int64_t>(run, 1);
    work.ns = chip_.descriptor_ns + static_cast<double>(run * kElementBytes) / chip_.dma_bytes_per_ns;
    (one.op == Op::load ? out_.read_bytes : out_.written_bytes) += work.bytes;
  }

  /// Columns that a multiplication moves: a mask does not make it shorter.
  [[nodiscard]] double columns(const Instruction& one) const {
    const auto n = static_cast<double>(program_.view(one.target).per_partition());
    return one.numbers.empty()
               ? n
               : std::min(std::max<double>(n, *one.numbers[0]), static_cast<double>(chip_.moving_columns));
  }

  void count(const Instruction& one) {
    const View& target = program_.view(one.target);
    Counters& all = out_.counters;
    const auto add = [&](std::uint32_t view, std::int64_t bytes, std::int64_t& sbuf, std::int64_t& psum) {
      const Space space = program_.buffer_of(view).space;
      if (on_chip(space)) (space == Space::psum ? psum : sbuf) += bytes;
    };
    const std::int64_t row = target.per_partition() * kElementBytes;
    if (one.op == Op::tensor_tensor) return;
    if (one.op == Op::load || one.op == Op::store) {
      (one.op == Op::load ? all.sbuf_written : all.sbuf_read) += row * target.partitions();
      return;
    }
    if (one.op == Op::matmul || one.op == Op::transpose || one.op == Op::broadcast) {
      const View& first = program_.view(one.sources[0]);
      const bool multiplies = one.op == Op::matmul;
      const double moved = multiplies ? columns(one) : static_cast<double>(target.per_partition());
      const auto bytes = static_cast<std::int64_t>(kPasses * moved) * kElementBytes;
      all.psum_written += bytes;
      all.sbuf_read += bytes + kPasses * target.partitions() * kElementBytes;
      const double flops =
          kPasses * 2.0 * static_cast<double>(first.partitions()) * static_cast<double>(target.partitions()) * moved;
      all.flops += flops;
      if (one.op == Op::transpose || (one.flags & 2) != 0) all.transpose_flops += flops;
      return;
    }
    for (const std::uint32_t source : one.sources)
      add(source, program_.view(source).per_partition() * kElementBytes, all.sbuf_read, all.psum_read);
    add(one.target, row, all.sbuf_written, all.psum_written);
  }

  /// The engine and the cycles of the vendor's formulas, without what starting costs.
  std::pair<Queue, double> cost(const Instruction& one) {
    const View& target = program_.view(one.target);
    const auto n = static_cast<double>(target.per_partition());
    const double simple = std::max(chip_.least_cycles, n);
    switch (one.op) {
      case Op::matmul:
        return {Queue::tensor, chip_.float32_passes *
                                   std::max(std::min(64.0, static_cast<double>(target.partitions())), columns(one))};
      case Op::transpose:
        return {Queue::tensor,
                chip_.float32_passes * std::max(static_cast<double>(program_.view(one.sources[0]).partitions()), 64.0)};
      case Op::broadcast:  // by a matrix of ones, a bank of PSUM at a time
        return {Queue::tensor, chip_.float32_passes * std::max(64.0, n)};
      case Op::activation:
        if (one.function == Function::reciprocal) return {Queue::vector, chip_.reciprocal * n};
        return {Queue::scalar, simple};
      case Op::tensor_tensor:
        return {Queue::vector, in_psum(one.sources[0]) != in_psum(one.sources[1]) ? n : 2 * n};
      case Op::scan:
        return {Queue::vector, 2 * n};
      case Op::reduce:
        return {Queue::vector, static_cast<double>(program_.view(one.sources[0]).per_partition())};
      case Op::copy:
        if (in_psum(one.sources[0])) return {Queue::scalar, simple};
        break;
      default:
        break;
    }
    // tensor_scalar, memset, copies within SBUF: the compiler takes the engine that has less to do.
    const double factor = static_cast<double>(std::max<std::size_t>(one.operations.size(), 1));
    const bool plain = one.op != Op::tensor_scalar || factor < 2;
    const bool scalar = plain && busy_[1] + engine_ns(Queue::scalar, simple) < busy_[0];
    return {scalar ? Queue::scalar : Queue::vector, simple};
  }

  /// After the last writers of what it reads, and after the last readers and writers of what it writes.
  void depend(const Instruction& one, Work& work) {
    const auto number = static_cast<std::uint32_t>(out_.work.size());
    const auto all = [&](const std::vector<Touched>& before, const Touched& now) {
      for (const Touched& other : before) {
        if (other.work != number && overlap(other, now)) work.after.push_back(other.work);
      }
    };
    for (const std::uint32_t source : one.sources) {
      const std::uint32_t buffer = place(program_.view(source).buffer);
      if (!ordered_[buffer]) continue;
      const Touched now = touched(program_, source, number);
      all(history_[buffer].writes, now);
      history_[buffer].reads.push_back(now);
    }
    const std::uint32_t buffer = place(program_.view(one.target).buffer);
    if (!ordered_[buffer]) return;
    const Touched now = touched(program_, one.target, number);
    History& history = history_[buffer];
    all(history.writes, now);
    all(history.reads, now);
    const auto covered = [&](const Touched& other) {
      return other.work != number && overlap(other, now) && other.elements[0] >= now.elements[0] &&
             other.elements[1] <= now.elements[1] && other.partitions[0] >= now.partitions[0] &&
             other.partitions[1] <= now.partitions[1];
    };
    std::erase_if(history.writes, covered);  // whoever comes after this one comes after those, too
    std::erase_if(history.reads, covered);
    history.writes.push_back(now);
  }

  const Program& program_;
  const Generation& chip_;
  Policy policy_;
  std::vector<History> history_;
  std::vector<bool> ordered_;  ///< by buffer: what reads and writes it waits for others that do
  double busy_[2] = {0, 0};    ///< vector, scalar
  Lowered out_;
};

}  // namespace

Lowered lower(const Program& program, const Generation& chip, Policy policy) {
  Lowered out = Lowering(program, chip, policy).run();
  assign_tiles(program, chip, out);
  return out;
}

}  // namespace accelopt::targets::trainium
