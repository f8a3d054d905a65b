// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "base/hash.hpp"
#include "devices/cuda/spread.hpp"

namespace accelopt::devices::cuda {
namespace {

using base::ErrorCode;
using evaluation::CallEnd;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kGateLimitNs = 2'000'000'000;
constexpr std::chrono::seconds kPatience{30};              ///< with what is trusted
constexpr std::chrono::milliseconds kFaultPatience{1000};  ///< for the device to tell of a bad address
constexpr std::uint64_t kClockSpanNs = 40'000;  ///< the clock kernel's: a tick of the nanosecond clock is 1 us at most
constexpr double kSlowClock = 0.9;              ///< of the last calls' median: the time does not count
constexpr std::size_t kClockSamples = 256;
constexpr std::uint64_t kCallsPerProbe = 8;
constexpr int kMostRepetitions = 2;  ///< of a call whose two clocks differ
// The host sees a call's end a little after the device: launch, polling, the link.
constexpr double kEventOverWallNs = 5'000;
constexpr double kWallSlackNs = 200'000;
constexpr double kLeastPartOfWall = 0.5;
constexpr std::uint32_t kHostDeviceMapped = 2;

// What lies in the memory that both sides see: the gate, what the clock kernel leaves, and spans of memory.
constexpr std::uint64_t kClockAt = 16;
constexpr std::uint64_t kSpansAt = 64;
constexpr std::uint64_t kMostSpans = 4000;
constexpr std::uint64_t kSharedBytes = 64 << 10;
constexpr std::uint64_t kLineBytes = 128;
constexpr std::uint64_t kSectorBytes = 32;
/// Frames of local memory are overwritten up to 16 KiB; calls within a kernel take some of it.
constexpr std::uint64_t kMostLocalBytes = 15 << 10;
constexpr std::uint64_t kCallFrames = 1 << 10;

std::uint64_t element_bytes(const KeptOutput& output) {
  return output.count * model::size_of(output.dtype);
}

bool poisons_with_right_values(evaluation::Poison kind) {
  return kind == evaluation::Poison::plausible || kind == evaluation::Poison::complement;
}

/// So many sets of inputs take part in the call.
std::size_t sets_of(const DeviceSlot& slot, const CallRequest& request) {
  return request.alone ? 1 : slot.variants.size();
}

CallReply ended(CallEnd end, std::string reason, bool dead) {
  CallReply out;
  out.outcome.end = end;
  out.outcome.reason = std::move(reason);
  out.dead = dead;
  return out;
}

}  // namespace

/// One output or scratch tensor of a call.
struct Caller::Block {
  bool output = true;
  std::size_t index = 0;
  model::DType dtype = model::DType::float32;
  PhysicalMemory memory;
  Mapping mapping;
  Placement placement;

  [[nodiscard]] DevicePointer address() const { return mapping.address() + placement.offset; }
};

struct Caller::Sample {
  double time_ns = 0;
  double clock_mhz = 0;
  double lag_ns = 0;         ///< the host's clock from letting go to seeing the end, less the time between the events
  bool implausible = false;  ///< the two clocks do not agree, or the host was late
  std::vector<model::ProfileItem> counts;
};

base::Result<std::unique_ptr<Caller>> Caller::create(Device& device, Checks& checks) {
  std::unique_ptr<Caller> out(new Caller(device, checks));
  TRY(out->begin());
  return out;
}

base::Result<void> Caller::begin() {
  void* gate = nullptr;
  TRY(device_.checked(device_.driver()->host_allocate(&gate, kSharedBytes, kHostDeviceMapped),
                      "allocating host memory"));
  gate_ = static_cast<volatile std::uint32_t*>(gate);
  TRY(device_.checked(device_.driver()->host_pointer(&gate_there_, gate, 0), "mapping host memory"));
  TRY_ASSIGN(start_, device_.new_event());
  TRY_ASSIGN(stop_, device_.new_event());
  return {};
}

void Caller::let_go(std::uint64_t slot) {
  if (slot == mapped_slot_) inputs_.clear();
}

void Caller::let_go_of_all() {
  inputs_.clear();
  free_.clear();
}

/// The inputs lie where they were made, and are mapped to be read alone. They stay at their random places while calls
/// have the same slot: nobody can leave anything there.
base::Result<void> Caller::map_inputs(const DeviceSlot& slot, const CallRequest& request) {
  const std::size_t sets = sets_of(slot, request);
  if (mapped_slot_ == request.slot && inputs_.size() == sets) return {};
  inputs_.clear();
  mapped_slot_ = request.slot;
  for (std::size_t v = 0; v < sets; ++v) {
    std::vector<Mapping>& of_set = inputs_.emplace_back();
    for (const Variant::Input& input : slot.variants[v].inputs) {
      if (input.scalar) continue;
      TRY_ASSIGN(Mapping mapping, device_.space().map(input.memory, Access::read));
      of_set.push_back(std::move(mapping));
    }
  }
  return {};
}

/// Memory of an earlier call, all of which is overwritten before the next one, or new one.
base::Result<PhysicalMemory> Caller::take_memory(std::uint64_t bytes) {
  const std::uint64_t granule = device_.space().granule();
  std::vector<PhysicalMemory>& known = free_[(std::max<std::uint64_t>(bytes, 1) + granule - 1) / granule * granule];
  if (!known.empty()) {
    PhysicalMemory last = std::move(known.back());
    known.pop_back();
    return last;
  }
  auto made = device_.space().create(bytes);
  if (made || made.error().code != ErrorCode::exhausted) return made;
  free_.clear();
  return device_.space().create(bytes);
}

base::Result<Caller::Blocks> Caller::lay_out(const DeviceSlot& slot, const LaunchPlan& plan,
                                             const CallRequest& request) {
  Blocks out;
  for (std::size_t v = 0; v < sets_of(slot, request); ++v) {
    std::vector<Block>& blocks = out.emplace_back();
    const auto add = [&](bool output, std::size_t index, model::DType dtype,
                         std::uint64_t bytes) -> base::Result<void> {
      Block block;
      block.output = output;
      block.index = index;
      block.dtype = dtype;
      TRY_ASSIGN(block.memory, take_memory(bytes));
      block.placement = draw_placement(bytes, block.memory.bytes());
      TRY_ASSIGN(block.mapping, device_.space().map(block.memory, Access::write));
      blocks.push_back(std::move(block));
      return {};
    };
    const Variant& variant = slot.variants[v];
    for (std::size_t i = 0; i < variant.outputs.size(); ++i)
      TRY(add(true, i, variant.outputs[i].dtype, element_bytes(variant.outputs[i])));
    for (std::size_t i = 0; i < plan.scratch.size(); ++i)
      TRY(add(false, i, plan.scratch[i].dtype, plan.scratch[i].bytes));
  }
  return out;
}

/// The next call takes the same memory for the same tensors: where in the device's memory a tensor lies moves the time
/// of a short kernel by some percent, which all arms of a block must share.
void Caller::put_back(Blocks& blocks) {
  for (auto of_set = blocks.rbegin(); of_set != blocks.rend(); ++of_set) {
    for (auto block = of_set->rbegin(); block != of_set->rend(); ++block) {
      block->mapping.reset();
      const std::uint64_t bytes = block->memory.bytes();
      if (bytes > 0) free_[bytes].push_back(std::move(block->memory));
    }
  }
}

/// The plan of every set, with its tensors' addresses. @error invalid_argument: as PreparedPlan.
base::Result<std::vector<PreparedPlan>> Caller::bind(const LoadedPlan& loaded, const DeviceSlot& slot,
                                                     const Blocks& blocks) {
  std::vector<PreparedPlan> plans;
  for (std::size_t v = 0; v < blocks.size(); ++v) {
    PlanBinding binding;
    std::size_t tensor = 0;
    for (std::size_t i = 0; i < slot.inputs.size(); ++i) {
      const Variant::Input& input = slot.variants[v].inputs[i];
      if (input.scalar) {
        binding.scalars[slot.inputs[i]] = {input.dtype, input.bits};
      } else {
        binding.tensors[slot.inputs[i]] = {inputs_[v][tensor++].address() + input.placement.offset,
                                           input.placement.bytes};
      }
    }
    for (const Block& block : blocks[v]) {
      const std::string& name = block.output ? slot.outputs[block.index] : loaded.plan.scratch[block.index].name;
      if (!binding.tensors.try_emplace(name, PlanBinding::Tensor{block.address(), block.placement.bytes}).second)
        return base::fail(ErrorCode::invalid_argument, "the plan has a scratch buffer named like the tensor " + name);
    }
    TRY_ASSIGN(PreparedPlan plan, PreparedPlan::prepare(device_, loaded, binding));
    if (plan.local_bytes() > kMostLocalBytes) {
      return base::fail(ErrorCode::invalid_argument,
                        fmt::format("a kernel takes {} bytes of local memory a thread, over {}; what it leaves there "
                                    "could not be overwritten",
                                    plan.local_bytes(), kMostLocalBytes));
    }
    plans.push_back(std::move(plan));
  }
  return plans;
}

/// Poison, and noise in all that lies around it.
base::Result<void> Caller::fill(DeviceSlot& slot, const CallRequest& request, const Blocks& blocks,
                                std::uint64_t seed) {
  for (std::size_t v = 0; v < blocks.size(); ++v) {
    const Variant& variant = slot.variants[v];
    Workspace& kept = slot.kept[variant.kept];
    // Whatever the poison: a call is some percent slower where nothing was unmapped since its inputs were mapped, and
    // the first arm of a block must not differ from the others in that.
    TRY(kept.open());
    for (std::size_t i = 0; i < blocks[v].size(); ++i) {
      const Block& block = blocks[v][i];
      const std::uint64_t own_seed = base::derive_seed(seed, std::to_string(v) + " " + std::to_string(i));
      // The noise tells its seed: the poison's must not follow from it.
      const std::uint64_t poison_seed = base::derive_seed(own_seed, "poison");
      const std::uint64_t end = block.placement.offset + block.placement.bytes;
      TRY(checks_.write_canaries(block.mapping.address(), 0, block.placement.offset, own_seed));
      TRY(checks_.write_canaries(block.mapping.address(), end, block.memory.bytes(), own_seed));
      if (!block.output) {
        KeptOutput scratch;
        scratch.dtype = block.dtype;
        scratch.count = block.placement.bytes / model::size_of(block.dtype);
        // There are no right values of it.
        const evaluation::Poison kind =
            poisons_with_right_values(request.poison) ? evaluation::Poison::nan : request.poison;
        TRY(checks_.poison(block.address(), scratch, kind, 0, poison_seed));
        continue;
      }
      const KeptOutput& output = variant.outputs[block.index];
      const DevicePointer right = poisons_with_right_values(request.poison) ? kept.address() + output.expected : 0;
      TRY(checks_.poison(block.address(), output, request.poison, right, poison_seed));
    }
  }
  return {};
}

/// Takes away what is none of the candidate's: what others left in shared and local memory, registers and caches, and
/// all memory but the tensors of this call. With a warm cache the tensors are read once more.
base::Result<void> Caller::withdraw(DeviceSlot& slot, const CallRequest& request, const Blocks& blocks,
                                    std::uint64_t local_bytes) {
  TRY(checks_.scrub(local_bytes_, static_cast<std::uint32_t>(base::random_seed())));
  local_bytes_ = local_bytes > 0 ? local_bytes + kCallFrames : 0;
  device_.driver()->reset_persisting();
  TRY(checks_.flush());
  TRY(device_.finish(kPatience));
  for (Workspace& kept : slot.kept) kept.close();
  checks_.close();
  // Translations of addresses are found again: only the first look at a granule is slow.
  auto* const spans = reinterpret_cast<volatile std::uint64_t*>(gate_) + kSpansAt / 8;
  const std::uint64_t granule = device_.space().granule();
  std::uint64_t count = 0;
  const auto add = [&](DevicePointer memory, std::uint64_t bytes, const Placement& tensor) {
    if (count == kMostSpans || tensor.bytes == 0) return;
    // With a cold cache, a line of the granule that is, where it can be, not the tensor's.
    const std::uint64_t first = !request.cold ? tensor.offset : tensor.offset == 0 ? granule - kLineBytes : 0;
    spans[2 * count] = memory + first;
    spans[2 * count + 1] = request.cold ? bytes - first : tensor.bytes;
    ++count;
  };
  for (std::size_t v = 0; v < blocks.size(); ++v) {
    std::size_t tensor = 0;
    for (const Variant::Input& input : slot.variants[v].inputs) {
      if (!input.scalar) add(inputs_[v][tensor++].address(), input.memory.bytes(), input.placement);
    }
    for (const Block& block : blocks[v]) add(block.mapping.address(), block.memory.bytes(), block.placement);
  }
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return checks_.touch(gate_there_ + kSpansAt, count, request.cold ? granule : kSectorBytes);
}

base::Result<Caller::Sample> Caller::run(std::vector<PreparedPlan>& plans, const CallRequest& request) {
  const std::vector<std::string> names = request.count ? plans.front().names() : std::vector<std::string>();
  while (behind_.size() < names.size()) {
    TRY_ASSIGN(CudaEvent * event, device_.new_event());
    behind_.push_back(event);
  }
  gate_[0] = 0;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  TRY(device_.finish(kPatience));
  // The list of tensors is nobody's business while a candidate runs; nor does an earlier clock count.
  std::fill_n(gate_ + kClockAt / sizeof *gate_, (kSharedBytes - kClockAt) / sizeof *gate_, 0);
  const auto held = Clock::now();
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
    TRY(checks_.measure_clock(gate_there_ + kClockAt, kClockSpanNs));
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
  const auto* const ticks = reinterpret_cast<volatile std::uint64_t*>(gate_) + kClockAt / 8;
  Sample sample;
  sample.time_ns = static_cast<double>(milliseconds) * 1e6 / static_cast<double>(plans.size());
  sample.clock_mhz = ticks[1] > 0 ? static_cast<double>(ticks[0]) / static_cast<double>(ticks[1]) * 1e3 : 0;
  const double total_ns = static_cast<double>(milliseconds) * 1e6;
  sample.lag_ns = wall.count() - total_ns;
  // By the host's own clock: a kernel could write to what both sides see.
  sample.implausible = let_go - held > std::chrono::nanoseconds(kGateLimitNs) ||
                       total_ns > wall.count() + kEventOverWallNs ||
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

base::Result<void> Caller::inspect(const DeviceSlot& slot, const Blocks& blocks, std::uint64_t seed, CallReply& reply) {
  TRY(checks_.zero(checks_.flag(), sizeof(std::uint64_t)));
  for (std::size_t v = 0; v < blocks.size(); ++v) {
    for (std::size_t i = 0; i < blocks[v].size(); ++i) {
      const Block& block = blocks[v][i];
      const std::uint64_t own_seed = base::derive_seed(seed, std::to_string(v) + " " + std::to_string(i));
      const std::uint64_t end = block.placement.offset + block.placement.bytes;
      TRY(checks_.check_canaries(block.mapping.address(), 0, block.placement.offset, own_seed, checks_.flag()));
      TRY(checks_.check_canaries(block.mapping.address(), end, block.memory.bytes(), own_seed, checks_.flag()));
    }
  }
  TRY(device_.finish(kPatience));
  std::uint32_t flag = 0;
  TRY(device_.copy_out(std::as_writable_bytes(std::span(&flag, 1)), checks_.flag()));
  reply.outcome.wrote_outside = flag != 0;
  for (std::size_t v = 0; v < blocks.size(); ++v) {
    // Stores to what is mapped for reading fault; lines can be dropped there all the same.
    std::vector<Checks::Region> regions;
    std::vector<std::uint64_t> before;
    for (const Variant::Input& input : slot.variants[v].inputs) {
      if (input.scalar) continue;
      regions.push_back({inputs_[v][regions.size()].address(), input.memory.bytes()});
      before.push_back(input.fingerprint);
    }
    TRY_ASSIGN(const auto now, checks_.fingerprints(regions, slot.key));
    if (now != before) reply.outcome.caught = "wrote into its inputs";
  }
  return {};
}

/// Of several sets of inputs the first that is wrong counts, else the one with the largest error.
base::Result<void> Caller::compare(DeviceSlot& slot, Blocks& blocks, const CallRequest& request, CallReply& reply) {
  auto& comparisons = reply.outcome.comparisons;
  comparisons.assign(slot.variants.at(0).outputs.size(), {});
  std::vector<Kept> kept;
  for (std::size_t v = 0; v < blocks.size(); ++v) {
    Workspace& expected = slot.kept[slot.variants[v].kept];
    TRY(expected.open());
    for (Block& block : blocks[v]) {
      if (!block.output) continue;
      const KeptOutput& output = slot.variants[v].outputs[block.index];
      evaluation::Comparison& so_far = comparisons[block.index];
      if (so_far.passed()) {
        TRY_ASSIGN(const evaluation::Comparison one, checks_.compare(block.address(), output, expected.address()));
        if (v == 0 || !one.passed() || one.normwise_error > so_far.normwise_error) so_far = one;
        if (!so_far.passed()) {
          TRY_ASSIGN(so_far.spread, spread_on_device(device_, block.address(), output, expected.address()));
        }
      }
      if (v != 0) continue;
      if (request.repeat == evaluation::Repeat::compare && block.index < kept_.size() &&
          kept_[block.index].placement.bytes == block.placement.bytes && !reply.outcome.disagreement) {
        const Kept& first = kept_[block.index];
        TRY_ASSIGN(const Mapping before, device_.space().map(first.memory, Access::read));
        TRY_ASSIGN(reply.outcome.disagreement, checks_.disagreement(block.address(), output, expected.address(),
                                                                    before.address() + first.placement.offset));
        if (reply.outcome.disagreement) reply.outcome.disagreement->output = block.index;
      }
      if (request.repeat == evaluation::Repeat::keep) {
        TRY(device_.finish(kPatience));
        block.mapping.reset();
        kept.push_back({std::move(block.memory), block.placement});
      }
    }
  }
  TRY(device_.finish(kPatience));
  for (Workspace& expected : slot.kept) expected.close();
  if (request.repeat == evaluation::Repeat::keep) kept_ = std::move(kept);
  return {};
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
  } else if (sample.implausible) {
    outcome.fault = evaluation::TimeFault::clocks_differ;
  }
  outcome.disturbed = outcome.fault != evaluation::TimeFault::none;
}

base::Result<CallReply> Caller::call(const LoadedPlan& loaded, DeviceSlot& slot, const CallRequest& request) {
  TRY(map_inputs(slot, request));
  // A repetition meets the same inputs: it may not undercut what came before.
  double least = 0;
  for (int attempt = 0;; ++attempt) {
    const std::uint64_t seed = base::derive_seed(request.poison_seed, std::to_string(attempt));
    TRY_ASSIGN(Blocks blocks, lay_out(slot, loaded.plan, request));
    auto plans = bind(loaded, slot, blocks);
    if (!plans) {
      put_back(blocks);
      return ended(CallEnd::died, "could not be launched: " + plans.error().message, false);
    }
    TRY(fill(slot, request, blocks, seed));
    TRY(withdraw(slot, request, blocks, plans->front().local_bytes()));
    const auto sample = run(*plans, request);
    if (!sample) {
      if (device_.broken().empty()) {
        TRY(checks_.open());
        put_back(blocks);
      } else {
        abandoned_ = std::make_shared<Blocks>(std::move(blocks));
      }
      return failed(sample.error());
    }
    TRY(checks_.open());
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
    TRY(inspect(slot, blocks, seed, reply));
    bool whole = !reply.outcome.wrote_outside && reply.outcome.caught.empty();
    if (whole) {
      TRY_ASSIGN(reply.outcome.reason, variables_.change(request.live));
      whole = reply.outcome.reason.empty();
      if (!whole) reply.outcome.end = CallEnd::died;
    }
    if (!whole) {
      // Where else it wrote nobody knows: this process's memory is worth nothing any more.
      device_.distrust("a kernel wrote where it must not");
      reply.dead = true;
      return reply;
    }
    if (!again || attempt >= kMostRepetitions) TRY(compare(slot, blocks, request, reply));
    put_back(blocks);
    if (!again || attempt >= kMostRepetitions) return with_probe(loaded, slot, request, std::move(reply));
  }
}

/// A kernel could leave the work of a repeated call to its last launch, by a variable that this one sets back. So some
/// of these calls, which nobody foresees, are made once more with one set of inputs.
base::Result<CallReply> Caller::with_probe(const LoadedPlan& loaded, DeviceSlot& slot, const CallRequest& request,
                                           CallReply reply) {
  const bool probed = sets_of(slot, request) > 1 && variables_.has(request.live);
  if (!probed || base::random_seed() % kCallsPerProbe != 0) return reply;
  CallRequest alone = request;
  alone.alone = true;
  alone.count = false;
  alone.repeat = evaluation::Repeat::no;
  alone.poison_seed = base::derive_seed(request.poison_seed, "probe");
  TRY_ASSIGN(CallReply probe, call(loaded, slot, alone));
  const auto& compared = probe.outcome.comparisons;
  const bool right = std::all_of(compared.begin(), compared.end(), [](const auto& one) { return one.passed(); });
  if (probe.dead || probe.outcome.end != CallEnd::returned) return probe;
  if (!right) reply.outcome.comparisons = compared;
  return reply;
}

/// What became of a call that did not come to its end.
base::Result<CallReply> Caller::failed(const base::Error& error) {
  if (error.code == kHung) return ended(CallEnd::timed_out, error.message, true);
  if (error.code == ErrorCode::invalid_argument && device_.broken().empty())
    return ended(CallEnd::died, error.message, false);
  if (!device_.broken().empty()) return ended(CallEnd::died, "crashed (" + device_.broken() + ")", true);
  return tl::make_unexpected(error);
}

}  // namespace accelopt::devices::cuda
