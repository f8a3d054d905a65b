// SPDX-License-Identifier: Apache-2.0
#include "targets/trainium/residency.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace accelopt::targets::trainium {
namespace {

constexpr std::uint32_t kAbsent = 0xffffffffU;
/// assumed: where tiles leave the chip, one part in so many is free for those that are on their way.
constexpr std::int64_t kReserve = 8;
constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

class Residency {
 public:
  Residency(const Program& program, const Generation& chip, Lowered& lowered)
      : program_(program), chip_(chip), lowered_(lowered), states_(program.buffers.size()), room_(chip.sbuf_bytes) {}

  void run() {
    const std::vector<Work> before = std::exchange(lowered_.work, {});
    find_uses(before);
    if (most_at_once(before.size()) > chip_.sbuf_bytes) room_ -= chip_.sbuf_bytes / kReserve;
    for (std::size_t i = 0; i < before.size(); ++i) {
      Work work = before[i];
      for (std::uint32_t& other : work.after) other = moved_[other];
      const std::vector<std::uint32_t> needed = buffers_of(work);
      for (const std::uint32_t buffer : needed) bring(buffer, needed, work);
      for (const std::uint32_t buffer : needed) work.tiles.push_back(states_[buffer].tile);
      const std::uint32_t target = target_of(work);
      if (lowered_.spaces[target] == Space::sbuf || lowered_.spaces[target] == Space::psum)
        work.target = static_cast<std::int32_t>(states_[target].tile);
      const auto number = static_cast<std::uint32_t>(lowered_.work.size());
      moved_.push_back(number);
      note_write(work, target, number);
      lowered_.work.push_back(std::move(work));
      for (const std::uint32_t buffer : needed) leave_if_done(buffer, i);
    }
  }

 private:
  struct State {
    std::uint32_t tile = kAbsent;        ///< where it lies now
    std::vector<std::size_t> uses;       ///< by the numbers that work had
    std::size_t next = 0;                ///< of its uses
    std::vector<std::uint32_t> writers;  ///< since it was saved
    std::uint32_t saved = kAbsent;       ///< the work that saved it
    std::int32_t loaded_by = -1;         ///< instruction: it holds what that loads, and nothing else was written
    bool written = false;
  };

  [[nodiscard]] std::uint32_t target_of(const Work& work) const {
    return lowered_.place[program_.view(program_.instructions[work.instruction].target).buffer];
  }

  [[nodiscard]] std::vector<std::uint32_t> buffers_of(const Work& work) const {
    const Instruction& one = program_.instructions[work.instruction];
    std::vector<std::uint32_t> out{target_of(work)};
    for (const std::uint32_t source : one.sources) out.push_back(lowered_.place[program_.view(source).buffer]);
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    std::erase_if(out, [&](std::uint32_t buffer) { return !on_chip(lowered_.spaces[buffer]); });
    return out;
  }

  void find_uses(const std::vector<Work>& all) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (const std::uint32_t buffer : buffers_of(all[i])) states_[buffer].uses.push_back(i);
    }
  }

  [[nodiscard]] std::int64_t size(std::uint32_t buffer) const {
    const std::int64_t bytes = program_.buffers[buffer].shape[1] * kElementBytes;
    const std::int64_t bank = chip_.psum_bank_bytes;
    return lowered_.spaces[buffer] == Space::psum ? (bytes + bank - 1) / bank * bank : bytes;
  }

  /// Bytes of a partition of SBUF, if every tile stayed from its first use to its last.
  [[nodiscard]] std::int64_t most_at_once(std::size_t works) const {
    std::vector<std::int64_t> change(works + 1, 0);
    for (std::uint32_t buffer = 0; buffer < states_.size(); ++buffer) {
      const std::vector<std::size_t>& uses = states_[buffer].uses;
      if (uses.empty() || lowered_.spaces[buffer] != Space::sbuf) continue;
      change[uses.front()] += size(buffer);
      change[uses.back() + 1] -= size(buffer);
    }
    std::int64_t now = 0;
    std::int64_t most = 0;
    for (const std::int64_t one : change) most = std::max(most, now += one);
    return most;
  }

  [[nodiscard]] std::size_t next_use(std::uint32_t buffer) const {
    const State& state = states_[buffer];
    return state.next < state.uses.size() ? state.uses[state.next] : kNever;
  }

  /// Makes the buffer lie on the chip, and the work wait for what that takes.
  void bring(std::uint32_t buffer, const std::vector<std::uint32_t>& needed, Work& work) {
    State& state = states_[buffer];
    if (state.tile != kAbsent) return;
    if (lowered_.spaces[buffer] == Space::sbuf) {
      while (used_ + size(buffer) > room_ && evict(needed, work)) continue;
      used_ += size(buffer);
      resident_.push_back(buffer);
    }
    state.tile = static_cast<std::uint32_t>(lowered_.tiles.size());
    lowered_.tiles.push_back({lowered_.spaces[buffer], size(buffer)});
    if (state.written) reload(buffer, work);
  }

  /// The tile that is needed last leaves. False: all that is there is needed now.
  bool evict(const std::vector<std::uint32_t>& needed, const Work& work) {
    auto last = resident_.end();
    for (auto one = resident_.begin(); one != resident_.end(); ++one) {
      if (std::find(needed.begin(), needed.end(), *one) != needed.end()) continue;
      if (last == resident_.end() || next_use(*one) > next_use(*last)) last = one;
    }
    if (last == resident_.end()) return false;
    State& state = states_[*last];
    if (state.loaded_by < 0 && !state.writers.empty()) save(*last, work);
    state.tile = kAbsent;
    used_ -= size(*last);
    resident_.erase(last);
    return true;
  }

  Work transfer(std::uint32_t buffer, Queue queue, const Work& cause) const {
    Work out;
    out.queue = queue;
    out.instruction = cause.instruction;
    out.spill = true;
    out.descriptors = program_.buffers[buffer].shape[0];
    out.bytes = program_.buffers[buffer].size() * kElementBytes;
    out.ns = chip_.descriptor_ns + static_cast<double>(size(buffer)) / chip_.dma_bytes_per_ns;
    out.tiles = {states_[buffer].tile};
    return out;
  }

  void save(std::uint32_t buffer, const Work& cause) {
    State& state = states_[buffer];
    Work work = transfer(buffer, Queue::store, cause);
    work.after = std::exchange(state.writers, {});
    lowered_.written_bytes += work.bytes;
    lowered_.saved_bytes += work.bytes;
    lowered_.counters.sbuf_read += work.bytes;
    state.saved = static_cast<std::uint32_t>(lowered_.work.size());
    lowered_.work.push_back(std::move(work));
  }

  void reload(std::uint32_t buffer, Work& work) {
    State& state = states_[buffer];
    Work load = transfer(buffer, Queue::load, work);
    load.target = static_cast<std::int32_t>(state.tile);
    if (state.saved != kAbsent) load.after.push_back(state.saved);
    lowered_.read_bytes += load.bytes;
    if (state.loaded_by < 0) lowered_.reloaded_bytes += load.bytes;
    lowered_.counters.sbuf_written += load.bytes;
    work.after.push_back(static_cast<std::uint32_t>(lowered_.work.size()));
    lowered_.work.push_back(std::move(load));
  }

  void note_write(const Work& work, std::uint32_t target, std::uint32_t number) {
    State& state = states_[target];
    state.loaded_by = work.queue == Queue::load && !state.written ? static_cast<std::int32_t>(work.instruction) : -1;
    state.written = true;
    state.writers.push_back(number);
  }

  void leave_if_done(std::uint32_t buffer, std::size_t now) {
    State& state = states_[buffer];
    while (state.next < state.uses.size() && state.uses[state.next] <= now) ++state.next;
    if (state.next < state.uses.size() || lowered_.spaces[buffer] != Space::sbuf) return;
    used_ -= size(buffer);
    resident_.erase(std::find(resident_.begin(), resident_.end(), buffer));
  }

  const Program& program_;
  const Generation& chip_;
  Lowered& lowered_;
  std::vector<State> states_;            ///< by buffer
  std::vector<std::uint32_t> moved_;     ///< where work is now
  std::vector<std::uint32_t> resident_;  ///< buffers in SBUF
  std::int64_t room_;                    ///< bytes of a partition of SBUF that tiles may take
  std::int64_t used_ = 0;                ///< of these
};

}  // namespace

void assign_tiles(const Program& program, const Generation& chip, Lowered& lowered) {
  Residency(program, chip, lowered).run();
}

}  // namespace accelopt::targets::trainium
