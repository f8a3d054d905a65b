// SPDX-License-Identifier: Apache-2.0
#include "targets/cuda/card_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "base/hash.hpp"

namespace accelopt::targets::cuda {
namespace {

using base::ErrorCode;
using evaluation::CallEnd;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kGuardBytes = 64 << 10;  ///< before the first tensor, between tensors and behind the last one
constexpr std::uint64_t kGateLimitNs = 2'000'000'000;
constexpr std::chrono::seconds kPatience{30};              ///< with what is trusted
constexpr std::chrono::milliseconds kFaultPatience{1000};  ///< for the device to tell of a bad address
constexpr std::uint64_t kClockSpanNs = 40'000;  ///< the clock kernel's: a tick of the nanosecond clock is 1 us at most
constexpr double kSlowClock = 0.9;              ///< of the last calls' median: the time does not count
constexpr std::size_t kClockSamples = 256;
constexpr int kMostRepetitions = 2;  ///< of a call whose two clocks differ
// The host sees a call's end a little after the device: launch, polling, the link.
constexpr double kEventOverWallNs = 5'000;
constexpr double kWallSlackNs = 200'000;
constexpr double kLeastPartOfWall = 0.5;
constexpr std::uint32_t kHostDeviceMapped = 2;

// Words of `marks_`.
constexpr std::uint64_t kCanaryMark = 0;
constexpr std::uint64_t kInputMark = 8;
constexpr std::uint64_t kClockMark = 16;
constexpr std::uint64_t kMarkBytes = 32;

std::uint64_t element_bytes(const KeptOutput& output) {
  return output.count * model::size_of(output.dtype);
}

CallReply ended(CallEnd end, std::string reason, bool dead) {
  CallReply out;
  out.outcome.end = end;
  out.outcome.reason = std::move(reason);
  out.dead = dead;
  return out;
}

}  // namespace

/// One tensor of a call in the working memory.
struct Caller::Region {
  enum class Kind { input, output, scratch };
  Kind kind = Kind::input;
  std::size_t index = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  model::DType dtype = model::DType::float32;
  bool zero = false;
};

struct Caller::Sample {
  double time_ns = 0;
  double clock_mhz = 0;
  double lag_ns = 0;    ///< the host's clock from letting go to seeing the end, less the time between the events
  bool astray = false;  ///< the two clocks do not agree, or the host was late
  std::vector<model::ProfileItem> counts;
};

base::Result<std::unique_ptr<Caller>> Caller::create(CardDevice& device, Checks& checks) {
  std::unique_ptr<Caller> out(new Caller(device, checks));
  TRY(out->begin());
  return out;
}

base::Result<void> Caller::begin() {
  TRY_ASSIGN(marks_, device_.allocate(kMarkBytes));
  void* gate = nullptr;
  TRY(device_.checked(device_.driver()->host_allocate(&gate, 64, kHostDeviceMapped), "allocating host memory"));
  gate_ = static_cast<volatile std::uint32_t*>(gate);
  TRY(device_.checked(device_.driver()->host_pointer(&gate_there_, gate, 0), "mapping host memory"));
  TRY_ASSIGN(start_, device_.new_event());
  TRY_ASSIGN(stop_, device_.new_event());
  return {};
}

base::Result<std::vector<std::vector<Caller::Region>>> Caller::lay_out(const CardSlot& slot,
                                                                       const CallRequest& request) {
  std::vector<std::vector<Region>> out;
  std::uint64_t at = kGuardBytes;
  for (const Variant& variant : slot.variants) {
    std::vector<Region>& regions = out.emplace_back();
    const auto add = [&](Region region) {
      region.offset = at;
      at += (region.bytes + 255) / 256 * 256 + kGuardBytes;
      regions.push_back(region);
    };
    for (std::size_t i = 0; i < variant.inputs.size(); ++i) {
      const Variant::Input& input = variant.inputs[i];
      if (!input.scalar) add({Region::Kind::input, i, 0, input.hidden.bytes});
    }
    for (std::size_t i = 0; i < variant.outputs.size(); ++i) {
      const KeptOutput& output = variant.outputs[i];
      add({Region::Kind::output, i, 0, element_bytes(output), output.dtype});
    }
    for (std::size_t i = 0; i < request.plan.scratch.size(); ++i) {
      const model::ScratchTensor& one = request.plan.scratch[i];
      add({Region::Kind::scratch, i, 0, static_cast<std::uint64_t>(one.bytes), one.dtype, one.zero});
    }
  }
  TRY(space_.reserve(at));
  return out;
}

/// Canaries, inputs, poison; then the caches.
base::Result<void> Caller::fill(const CardSlot& slot, const CallRequest& request,
                                const std::vector<std::vector<Region>>& regions, std::uint64_t seed) {
  const DevicePointer base = space_.memory().address();
  TRY(checks_.write_canaries(base, 0, kGuardBytes, seed));
  for (std::size_t v = 0; v < regions.size(); ++v) {
    for (const Region& region : regions[v]) {
      const DevicePointer address = base + region.offset;
      if (region.kind == Region::Kind::input) {
        TRY(checks_.reveal(address, slot.variants[v].inputs[region.index].hidden));
      } else {
        TRY(checks_.poison(address, region.bytes, region.dtype,
                           base::derive_seed(seed, std::to_string(region.offset))));
      }
      const std::uint64_t end = region.offset + region.bytes;
      TRY(checks_.write_canaries(base, end, (region.offset + (region.bytes + 255) / 256 * 256) + kGuardBytes, seed));
    }
  }
  TRY(checks_.zero(marks_.address(), kMarkBytes));
  device_.driver()->reset_persisting();
  if (request.cold) TRY(checks_.flush());
  return {};
}

base::Result<Caller::Sample> Caller::run(std::vector<PreparedPlan>& plans, const CallRequest& request) {
  const std::vector<std::string> names = request.count ? plans.front().names() : std::vector<std::string>();
  while (behind_.size() < names.size()) {
    TRY_ASSIGN(CudaEvent * event, device_.new_event());
    behind_.push_back(event);
  }
  gate_[0] = 0;
  gate_[1] = 0;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  TRY(device_.finish(kPatience));
  TRY(checks_.block(gate_there_, kGateLimitNs));
  TRY(device_.record(start_));
  base::Result<void> launched;
  for (PreparedPlan& plan : plans) {
    const bool counted = request.count && &plan == &plans.front();
    launched = plan.launch(device_, checks_, counted ? behind_ : std::vector<CudaEvent*>());
    if (!launched) break;
  }
  if (launched) {
    TRY(device_.record(stop_));
    TRY(checks_.measure_clock(marks_.address() + kClockMark, kClockSpanNs));
  }
  const auto began = Clock::now();
  gate_[0] = 1;
  const auto let_go = Clock::now();
  auto busy = let_go;  // when the device was last seen at work: a host that is late after that proves nothing
  if (!launched) {
    TRY(device_.finish(kPatience + std::chrono::nanoseconds(request.limit_ns)));
    return tl::make_unexpected(launched.error());
  }
  const auto limit = std::chrono::nanoseconds(request.limit_ns * static_cast<std::int64_t>(plans.size()));
  TRY(await_call(limit, busy));
  const std::chrono::duration<double, std::nano> wall = Clock::now() - began;
  const std::chrono::duration<double, std::nano> at_work = busy - let_go;
  TRY(device_.finish(kPatience));
  float milliseconds = 0;
  TRY(device_.checked(device_.driver()->elapsed(&milliseconds, start_, stop_), "reading the events' time"));
  std::array<std::uint64_t, 2> ticks{};
  TRY(device_.copy_out(std::as_writable_bytes(std::span(ticks)), marks_.address() + kClockMark));
  Sample sample;
  sample.time_ns = static_cast<double>(milliseconds) * 1e6 / static_cast<double>(plans.size());
  sample.clock_mhz = ticks[1] > 0 ? static_cast<double>(ticks[0]) / static_cast<double>(ticks[1]) * 1e3 : 0;
  const double total_ns = static_cast<double>(milliseconds) * 1e6;
  sample.lag_ns = wall.count() - total_ns;
  sample.astray = gate_[1] != 0 || total_ns > wall.count() + kEventOverWallNs ||
                  total_ns < kLeastPartOfWall * (at_work.count() - kWallSlackNs);
  if (!request.count) return sample;
  if (names.size() > 1) {
    TRY_ASSIGN(sample.counts, launch_times(names));
  }
  sample.counts.push_back({"multiprocessor clock", sample.clock_mhz, "MHz", "right after the call"});
  return sample;
}

base::Result<std::vector<model::ProfileItem>> Caller::launch_times(const std::vector<std::string>& names) {
  std::vector<model::ProfileItem> out;
  CudaEvent* before = start_;
  for (std::size_t i = 0; i < names.size(); ++i) {
    float milliseconds = 0;
    TRY(device_.checked(device_.driver()->elapsed(&milliseconds, before, behind_[i]), "reading the events' time"));
    out.push_back({fmt::format("launch {}, {}", i + 1, names[i]), static_cast<double>(milliseconds) * 1e3, "us",
                   "time from the launch before it to its end"});
    before = behind_[i];
  }
  return out;
}

/// A bad address is found out some tenths of a second later on some devices: a call that is late is given that time to
/// turn out as one that crashed.
base::Result<void> Caller::await_call(std::chrono::nanoseconds limit, Clock::time_point& busy) {
  auto ended = device_.await(stop_, limit, &busy);
  if (ended || ended.error().code != kHung) return ended;
  auto later = device_.await(stop_, kFaultPatience);
  if (!later && later.error().code != kHung) return later;
  return ended;
}

base::Result<void> Caller::inspect(const CardSlot& slot, const std::vector<std::vector<Region>>& regions,
                                   std::uint64_t seed, CallReply& reply) {
  const DevicePointer base = space_.memory().address();
  TRY(checks_.check_canaries(base, 0, kGuardBytes, seed, marks_.address() + kCanaryMark));
  for (std::size_t v = 0; v < regions.size(); ++v) {
    for (const Region& region : regions[v]) {
      const std::uint64_t padded = (region.bytes + 255) / 256 * 256;
      TRY(checks_.check_canaries(base, region.offset + region.bytes, region.offset + padded + kGuardBytes, seed,
                                 marks_.address() + kCanaryMark));
      if (region.kind != Region::Kind::input) continue;
      TRY(checks_.differs(base + region.offset, slot.variants[v].inputs[region.index].hidden,
                          marks_.address() + kInputMark));
    }
  }
  TRY(device_.finish(kPatience));
  std::array<std::uint64_t, 2> marks{};
  TRY(device_.copy_out(std::as_writable_bytes(std::span(marks)), marks_.address()));
  reply.outcome.wrote_outside = marks[0] != 0;
  if (marks[1] != 0) reply.outcome.caught = "wrote into its inputs";
  return {};
}

/// Of several sets of inputs the first that is wrong counts, else the one with the largest error.
base::Result<void> Caller::compare(const CardSlot& slot, const std::vector<std::vector<Region>>& regions,
                                   const CallRequest& request, CallReply& reply) {
  const DevicePointer base = space_.memory().address();
  auto& comparisons = reply.outcome.comparisons;
  comparisons.assign(slot.variants.at(0).outputs.size(), {});
  std::vector<MaskedMemory> kept;
  for (std::size_t v = 0; v < regions.size(); ++v) {
    for (const Region& region : regions[v]) {
      if (region.kind != Region::Kind::output) continue;
      const KeptOutput& output = slot.variants[v].outputs[region.index];
      const DevicePointer address = base + region.offset;
      evaluation::Comparison& so_far = comparisons[region.index];
      if (so_far.passed()) {
        TRY_ASSIGN(const evaluation::Comparison one, checks_.compare(address, output));
        if (v == 0 || !one.passed() || one.normwise_error > so_far.normwise_error) so_far = one;
      }
      if (v != 0) continue;
      if (request.repeat == evaluation::Repeat::keep) {
        TRY_ASSIGN(MaskedMemory hidden, checks_.hide(address, region.bytes));
        kept.push_back(std::move(hidden));
      }
      if (request.repeat == evaluation::Repeat::compare && region.index < kept_.size() &&
          kept_[region.index].bytes == region.bytes && !reply.outcome.disagreement) {
        TRY_ASSIGN(reply.outcome.disagreement, checks_.disagreement(address, output, kept_[region.index]));
        if (reply.outcome.disagreement) reply.outcome.disagreement->output = region.index;
      }
    }
  }
  if (request.repeat == evaluation::Repeat::keep) kept_ = std::move(kept);
  return device_.finish(kPatience);
}

/// The median of the last clocks where this one is far below it; 0: it is not.
double Caller::usual_clock_of_slow(double mhz) {
  if (mhz <= 0) return 0;
  clocks_.push_back(mhz);
  if (clocks_.size() > kClockSamples) clocks_.pop_front();
  std::vector<double> sorted(clocks_.begin(), clocks_.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return mhz < kSlowClock * *middle ? *middle : 0;
}

/// What makes the sample's time none of the kernel's own.
void Caller::find_fault(const Sample& sample, evaluation::CallOutcome& outcome) {
  const double usual_mhz = usual_clock_of_slow(sample.clock_mhz);
  if (const std::string others = device_.neighbours().others(); !others.empty()) {
    outcome.fault = evaluation::TimeFault::neighbour;
    outcome.disturbance = "process " + others + " was on the device at the same time";
  } else if (usual_mhz > 0) {
    outcome.fault = evaluation::TimeFault::slow_clock;
    outcome.disturbance =
        fmt::format("the device's clock was at {:.0f} MHz, the median of the last calls is {:.0f} MHz",
                    sample.clock_mhz, usual_mhz);
  } else if (sample.astray) {
    outcome.fault = evaluation::TimeFault::clocks_differ;
  }
  outcome.disturbed = outcome.fault != evaluation::TimeFault::none;
}

base::Result<CallReply> Caller::call(const DeviceModule& module, const CardSlot& slot, const CallRequest& request) {
  // A kernel before this one may have written where nobody looked: this one must not be blamed.
  TRY_ASSIGN(const bool whole_before, intact(slot));
  if (!whole_before) {
    device_.distrust("a kernel wrote into a slot");
    return base::fail(ErrorCode::corrupt, "a kernel wrote into a slot");
  }
  TRY_ASSIGN(const auto regions, lay_out(slot, request));
  const DevicePointer base = space_.memory().address();
  std::vector<PreparedPlan> plans;
  for (std::size_t v = 0; v < regions.size(); ++v) {
    PlanBinding binding;
    for (const Variant::Input& input : slot.variants[v].inputs) {
      binding.inputs.push_back({0, input.scalar, input.bits, input.size});
    }
    for (const Region& region : regions[v]) {
      const DevicePointer address = base + region.offset;
      if (region.kind == Region::Kind::input) binding.inputs[region.index].address = address;
      if (region.kind == Region::Kind::output) binding.outputs.push_back(address);
      if (region.kind == Region::Kind::scratch) binding.scratch.push_back(address);
    }
    auto plan = PreparedPlan::prepare(device_, module, request.plan, binding);
    if (!plan) return ended(CallEnd::died, "could not be launched: " + plan.error().message, false);
    plans.push_back(std::move(*plan));
  }
  // A repetition meets the same inputs: it may not undercut what came before.
  double least = 0;
  for (int attempt = 0;; ++attempt) {
    const std::uint64_t seed = base::derive_seed(request.poison_seed, std::to_string(attempt));
    TRY(fill(slot, request, regions, seed));
    const auto sample = run(plans, request);
    if (!sample) return failed(sample.error());
    CallReply reply;
    reply.outcome.clock_mhz = sample->clock_mhz;
    reply.outcome.lag_ns = sample->lag_ns;
    reply.outcome.counts = sample->counts;
    least = std::max(least, sample->time_ns);
    reply.outcome.time_ns = least;
    find_fault(*sample, reply.outcome);
    // Only here does nothing say that the time is wrong: the host may have been late. Others are the race's to wait
    // for.
    const bool again = reply.outcome.fault == evaluation::TimeFault::clocks_differ;
    TRY(inspect(slot, regions, seed, reply));
    TRY_ASSIGN(const bool untouched, intact(slot));
    if (!untouched) reply.outcome.caught = "wrote into memory that is not its own";
    const bool whole = !reply.outcome.wrote_outside && reply.outcome.caught.empty();
    if (whole && again && attempt < kMostRepetitions) continue;
    if (!whole) {
      // Where else it wrote nobody knows: this process's memory is worth nothing any more.
      device_.distrust("a kernel wrote where it must not");
      reply.dead = true;
      return reply;
    }
    TRY(compare(slot, regions, request, reply));
    return reply;
  }
}

/// What became of a call that did not come to its end.
base::Result<CallReply> Caller::failed(const base::Error& error) {
  if (error.code == kHung) return ended(CallEnd::timed_out, error.message, true);
  if (error.code == ErrorCode::invalid_argument && device_.broken().empty())
    return ended(CallEnd::died, error.message, false);
  if (!device_.broken().empty()) return ended(CallEnd::died, "crashed (" + device_.broken() + ")", true);
  return tl::make_unexpected(error);
}

/// Whether what is kept of the slot, and of the call before, is what it was.
base::Result<bool> Caller::intact(const CardSlot& slot) {
  std::vector<const MaskedMemory*> all;
  for (const Variant& variant : slot.variants) {
    for (const Variant::Input& input : variant.inputs) all.push_back(&input.hidden);
    for (const KeptOutput& output : variant.outputs) {
      all.push_back(&output.expected);
      all.push_back(&output.rows);
    }
  }
  for (const MaskedMemory& kept : kept_) all.push_back(&kept);
  return checks_.intact(all);
}

}  // namespace accelopt::targets::cuda
