// SPDX-License-Identifier: Apache-2.0
#include "targets/trainium/schedule.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <queue>
#include <string>
#include <utility>

namespace accelopt::targets::trainium {
namespace {

constexpr double kUnknown = -1;
constexpr std::size_t kWindow = 16;  ///< assumed: how far the compiler brings forward what could begin
constexpr std::uint32_t kNone = 0xffffffffU;
/// Assumed: what a loop has of everything that an iteration works on, unless it is sequential.
constexpr std::size_t kBuffers = 2;

/// Room of one memory, given out in the order in which the kernel first writes its tiles.
class Room {
 public:
  explicit Room(std::int64_t bytes) : bytes_(bytes) {}
  void ask(std::uint32_t buffer, std::int64_t bytes) { waiting_.push_back({buffer, bytes}); }
  void give_back(double at, std::int64_t bytes) { freed_.push({at, bytes}); }

  /// Gives room to those whose turn it is; tells `granted(buffer, time)`.
  template <class Granted>
  void serve(Granted granted) {
    while (next_ < waiting_.size()) {
      const auto [buffer, size] = waiting_[next_];
      while (used_ + size > bytes_ && !freed_.empty()) {
        time_ = std::max(time_, freed_.top().first);
        used_ -= freed_.top().second;
        freed_.pop();
      }
      if (used_ + size > bytes_) return;
      used_ += size;
      most_ = std::max(most_, used_);
      ++next_;
      granted(buffer, time_);
    }
  }
  [[nodiscard]] std::int64_t most() const { return most_; }

 private:
  using Freed = std::pair<double, std::int64_t>;
  std::int64_t bytes_;
  std::int64_t used_ = 0;
  std::int64_t most_ = 0;
  double time_ = 0;
  std::size_t next_ = 0;
  std::vector<std::pair<std::uint32_t, std::int64_t>> waiting_;
  std::priority_queue<Freed, std::vector<Freed>, std::greater<>> freed_;
};

class Scheduler {
 public:
  Scheduler(const Program& program, const Lowered& lowered, const Generation& chip)
      : program_(program),
        lowered_(lowered),
        chip_(chip),
        sbuf_(chip.sbuf_bytes),
        psum_(chip.psum_bytes),
        ends_(lowered.work.size(), kUnknown),
        granted_(lowered.tiles.size(), kUnknown),
        uses_(lowered.tiles.size(), 0),
        released_(lowered.tiles.size(), 0),
        engine_(static_cast<std::size_t>(chip.dma_engines), 0) {}

  base::Result<Timing> run() {
    prepare();
    for (std::size_t done = 0; done < lowered_.work.size(); ++done) {
      serve();
      std::size_t best_queue = 0;
      std::size_t best_place = 0;
      double best_start = std::numeric_limits<double>::infinity();
      for (std::size_t queue = 0; queue < kQueues; ++queue) {
        const std::size_t window = std::min(queues_[queue].size(), kWindow);
        for (std::size_t place = 0; place < window; ++place) {
          const double start = start_of(queue, queues_[queue][place]);
          if (start == kUnknown || start >= best_start) continue;
          best_queue = queue;
          best_place = place;
          best_start = start;
        }
      }
      if (best_start == std::numeric_limits<double>::infinity()) return too_much();
      commit(best_queue, best_place, best_start);
    }
    out_.ns += chip_.start_ns;
    out_.sbuf_bytes = sbuf_.most();
    out_.psum_bytes = psum_.most();
    return out_;
  }

 private:
  void prepare() {
    for (std::uint32_t i = 0; i < lowered_.work.size(); ++i) {
      const Work& work = lowered_.work[i];
      queues_[static_cast<std::size_t>(work.queue)].push_back(i);
      for (const std::uint32_t tile : work.tiles) {
        if (uses_[tile]++ == 0) room(tile).ask(tile, lowered_.tiles[tile].bytes);
      }
    }
    find_places();
  }

  /// Iterations of an affine loop have two buffers for each of their tiles, and so have unrolled ones, since how a loop
  /// is spelled changes no instruction; those of a sequential one have a single buffer: a tile takes the place of the
  /// one that the same line wrote so many times before, where that is not needed any more.
  void find_places() {
    const std::size_t tiles = lowered_.tiles.size();
    std::vector<bool> met(tiles, false);
    std::vector<std::uint32_t> last(tiles, 0);
    std::map<int, std::vector<std::uint32_t>> written;  // tiles by the line that writes them first
    place_of_.assign(tiles, kNone);
    for (std::uint32_t i = 0; i < lowered_.work.size(); ++i)
      for (const std::uint32_t tile : lowered_.work[i].tiles) last[tile] = i;
    for (std::uint32_t i = 0; i < lowered_.work.size(); ++i) {
      const Work& work = lowered_.work[i];
      const Instruction& one = program_.instructions[work.instruction];
      const std::int32_t loop = program_.iterations[one.iteration].loop;
      if (work.target < 0 || met[static_cast<std::size_t>(work.target)]) continue;
      const auto tile = static_cast<std::uint32_t>(work.target);
      met[tile] = true;
      if (work.spill || work.shared) continue;
      const bool in_order = loop >= 0 && program_.loops[static_cast<std::size_t>(loop)].kind == LoopKind::sequential;
      const std::size_t buffers = in_order ? 1 : kBuffers;
      std::vector<std::uint32_t>& line = written[one.line];
      if (line.size() >= buffers && last[line[line.size() - buffers]] < i)
        place_of_[tile] = line[line.size() - buffers];
      line.push_back(tile);
    }
  }

  Room& room(std::uint32_t tile) { return lowered_.tiles[tile].space == Space::psum ? psum_ : sbuf_; }

  void serve() {
    const auto granted = [&](std::uint32_t buffer, double time) { granted_[buffer] = time; };
    sbuf_.serve(granted);
    psum_.serve(granted);
  }

  /// When work of a queue may begin; kUnknown: what it waits for has not run.
  double start_of(std::size_t queue, std::uint32_t number) {
    const Work& work = lowered_.work[number];
    double start = free_[queue];
    for (const std::uint32_t other : work.after) {
      if (ends_[other] == kUnknown) return kUnknown;
      start = std::max(start, ends_[other]);
    }
    bool waits = false;
    for (const std::uint32_t tile : work.tiles) {
      waits = waits || granted_[tile] == kUnknown;
      start = std::max(start, granted_[tile]);
      if (place_of_[tile] == kNone) continue;
      waits = waits || uses_[place_of_[tile]] != 0;
      start = std::max(start, released_[place_of_[tile]]);
    }
    return waits ? kUnknown : start;
  }

  void commit(std::size_t q, std::size_t place, double start) {
    const std::uint32_t number = queues_[q][place];
    queues_[q].erase(queues_[q].begin() + static_cast<std::ptrdiff_t>(place));
    const Work& work = lowered_.work[number];
    const bool dma = work.queue == Queue::load || work.queue == Queue::store;
    double end = start + work.ns;
    double busy = work.ns;
    if (dma) {
      end = transfer(work, start) + chip_.dma_latency_ns;
      busy = work.ns * static_cast<double>(work.descriptors) / static_cast<double>(engine_.size());
      free_[q] = start;  // a queue of DMAs does not wait for their ends
    } else {
      free_[q] = end;
    }
    ends_[number] = end;
    out_.ns = std::max(out_.ns, end);
    out_.busy_ns.at(q) += busy;
    out_.line_ns[program_.instructions[work.instruction].line] += busy;
    for (const std::uint32_t tile : work.tiles) {
      released_[tile] = std::max(released_[tile], end);
      if (--uses_[tile] == 0) room(tile).give_back(released_[tile], lowered_.tiles[tile].bytes);
    }
  }

  /// When the last engine has moved its share of the descriptors.
  double transfer(const Work& work, double start) {
    const auto engines = static_cast<std::int64_t>(engine_.size());
    double end = start;
    for (std::int64_t e = 0; e < engines; ++e) {
      const std::int64_t share = (work.descriptors + engines - 1 - e) / engines;
      if (share == 0) continue;
      double& free = engine_[static_cast<std::size_t>((e + turn_) % engines)];
      free = std::max(free, start) + static_cast<double>(share) * work.ns;
      end = std::max(end, free);
    }
    turn_ = (turn_ + work.descriptors) % engines;
    return end;
  }

  base::Result<Timing> too_much() const {
    int line = 0;
    for (std::size_t q = 0; q < kQueues; ++q) {
      if (!queues_[q].empty())
        line = std::max(line, program_.instructions[lowered_.work[queues_[q].front()].instruction].line);
    }
    return base::fail(base::ErrorCode::unsupported, "the tiles that are alive at once near line " +
                                                        std::to_string(line) + " do not fit on the chip (" +
                                                        std::to_string(chip_.sbuf_bytes >> 10) + " KiB of SBUF and " +
                                                        std::to_string(chip_.psum_bytes >> 10) +
                                                        " KiB of PSUM a partition); use smaller or fewer tiles");
  }

  const Program& program_;
  const Lowered& lowered_;
  const Generation& chip_;
  Room sbuf_;
  Room psum_;
  std::vector<double> ends_;
  std::vector<double> granted_;          ///< when a tile has its place
  std::vector<std::int64_t> uses_;       ///< of a tile, that are to come
  std::vector<double> released_;         ///< the last end of a tile's uses until now
  std::vector<std::uint32_t> place_of_;  ///< the tile whose place a tile takes; kNone: it has one of its own
  std::vector<double> engine_;           ///< when a DMA engine is free
  std::int64_t turn_ = 0;
  std::array<std::deque<std::uint32_t>, kQueues> queues_;  ///< work that has not begun
  std::array<double, kQueues> free_{};
  Timing out_;
};

}  // namespace

base::Result<Timing> schedule(const Program& program, const Lowered& lowered, const Generation& chip) {
  return Scheduler(program, lowered, chip).run();
}

}  // namespace accelopt::targets::trainium
