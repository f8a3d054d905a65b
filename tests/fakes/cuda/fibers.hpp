// SPDX-License-Identifier: Apache-2.0
// The threads of a block on one thread of the host. A thread runs on until it waits for others; then a further fiber
// takes the next ones. A kernel whose threads never wait needs one fiber. Threads that wait for what never comes hang,
// as on a device. Every kernel of a test is compiled with these headers, so they include little.
#pragma once

#include <ucontext.h>

#include <array>
#include <cstddef>
#include <deque>
#include <vector>

namespace accelopt_shim {

struct Dim {
  unsigned x = 0, y = 0, z = 0;
};
struct Trap {};

}  // namespace accelopt_shim

inline accelopt_shim::Dim threadIdx, blockIdx, blockDim, gridDim;

namespace accelopt_shim {

/// The threads of one block.
class Threads {
 public:
  /// Runs `body()` as every thread. False: one trapped; the others are given up.
  template <class Body>
  static bool run(const Body& body) {
    Threads threads([](const void* of) { (*static_cast<const Body*>(of))(); }, &body);
    current() = &threads;
    threads.run_all();
    current() = nullptr;
    return !threads.trapped_;
  }
  static Threads*& current() {
    static Threads* threads = nullptr;
    return threads;
  }

  /// Lets the other threads run until `holds()`.
  template <class Condition>
  void wait_until(const Condition& holds) {
    const Dim self = threadIdx;
    while (!holds()) {
      Fiber* const own = running_;
      swapcontext(&own->context, &scheduler_);
      threadIdx = self;
    }
  }
  /// Waits for so many threads at the barrier; 0: for all that have not ended.
  void barrier(unsigned id, unsigned count) {
    if (id >= barriers_.size()) throw Trap();
    Barrier& place = barriers_[id];
    const unsigned generation = place.generation;
    place.wanted = count;
    ++place.arrived;
    release(place);
    wait_until([&] { return place.generation != generation; });
  }
  [[nodiscard]] unsigned count() const { return blockDim.x * blockDim.y * blockDim.z; }
  [[nodiscard]] unsigned rank() const { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }

 private:
  struct Fiber {
    ucontext_t context{};
    char* stack = nullptr;
    bool done = false;
  };
  struct Barrier {
    unsigned arrived = 0;
    unsigned wanted = 0;
    unsigned generation = 0;
  };
  static constexpr std::size_t kStackBytes = std::size_t{96} << 10;

  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  Threads(void (*call)(const void*), const void* body) : call_(call), body_(body) {}
  ~Threads() {
    for (const Fiber& fiber : fibers_) stacks().push_back(fiber.stack);
  }
  /// Those that no fiber has, kept as long as the process lives.
  static std::vector<char*>& stacks() {
    static std::vector<char*> free;
    return free;
  }

  void release(Barrier& place) {
    const unsigned wanted = place.wanted == 0 ? count() - ended_ : place.wanted;
    if (place.arrived == 0 || place.arrived < wanted) return;
    place.arrived = 0;
    ++place.generation;
  }

  void run_all() {
    while (!trapped_ && ended_ < count()) {
      if (next_ < count()) {  // first every thread goes as far as it can
        add();
        resume(fibers_.back());
        continue;
      }
      for (std::size_t i = 0; i < fibers_.size() && !trapped_; ++i) resume(fibers_[i]);
    }
  }

  void add() {
    Fiber& fiber = fibers_.emplace_back();
    if (stacks().empty()) stacks().push_back(new char[kStackBytes]);
    fiber.stack = stacks().back();
    stacks().pop_back();
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack;
    fiber.context.uc_stack.ss_size = kStackBytes;
    fiber.context.uc_link = &scheduler_;
    makecontext(
        &fiber.context, [] { current()->work(); }, 0);
  }

  void resume(Fiber& fiber) {
    if (fiber.done) return;
    running_ = &fiber;
    swapcontext(&scheduler_, &fiber.context);
  }

  /// What a fiber does: one thread after the other. Whoever waits in one stays in it.
  void work() {
    Fiber* const own = running_;
    while (next_ < count() && !trapped_) {
      const unsigned thread = next_++;
      threadIdx = {thread % blockDim.x, thread / blockDim.x % blockDim.y, thread / blockDim.x / blockDim.y};
      try {
        call_(body_);
      } catch (const Trap&) {
        trapped_ = true;
      }
      ++ended_;
      for (Barrier& place : barriers_) {
        if (place.wanted == 0) release(place);
      }
    }
    own->done = true;
  }

  void (*call_)(const void*);
  const void* body_;
  ucontext_t scheduler_{};
  std::deque<Fiber> fibers_;
  Fiber* running_ = nullptr;
  std::array<Barrier, 16> barriers_{};  // as many as a block has
  unsigned next_ = 0;
  unsigned ended_ = 0;
  bool trapped_ = false;
};

}  // namespace accelopt_shim

inline void __syncthreads() {
  accelopt_shim::Threads::current()->barrier(0, 0);
}
/// bar.sync of all threads, and of so many.
inline void __barrier_sync(unsigned id) {
  accelopt_shim::Threads::current()->barrier(id, 0);
}
inline void __barrier_sync_count(unsigned id, unsigned count) {
  accelopt_shim::Threads::current()->barrier(id, count);
}
