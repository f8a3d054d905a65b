// SPDX-License-Identifier: Apache-2.0
#include "targets/cpu/cpu_target.hpp"

#include <sched.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "evaluation/device_lock.hpp"
#include "sandbox/pause_gate.hpp"
#include "sandbox/probe.hpp"
#include "targets/cpu/arena_process.hpp"
#include "targets/cpu/buffers.hpp"
#include "targets/cpu/build.hpp"
#include "targets/cpu/code_sampler.hpp"
#include "targets/cpu/concealment.hpp"
#include "targets/cpu/counters.hpp"
#include "targets/cpu/flush.hpp"
#include "targets/cpu/hot_loops.hpp"
#include "targets/cpu/idle_calls.hpp"
#include "targets/cpu/instruction_mix.hpp"
#include "targets/cpu/late_writes.hpp"
#include "targets/cpu/layout.hpp"
#include "targets/cpu/machine.hpp"
#include "targets/cpu/peaks.hpp"
#include "targets/cpu/reference.hpp"
#include "targets/cpu/timed_call.hpp"

namespace accelopt::targets::cpu {
namespace {

using base::ErrorCode;
using evaluation::CallEnd;
using evaluation::CallOptions;
using evaluation::CallOutcome;
using evaluation::Invocation;
using evaluation::Precision;
using evaluation::ReferenceTensor;

/// What the measuring side of one open task shares between its live kernels.
struct OpenTask {
  model::Definition definition;
  Buffers buffers;
  Flusher flusher;
  ArenaOptions arena;
  bool one_core = false;
  Concealment concealment{};
  std::optional<IdleCalls> idle{};
  std::uint64_t placed = 0;  ///< number of the invocation whose inputs lie in the buffers
  evaluation::Alignment placed_at = evaluation::Alignment::cache_line;
};

class CpuLiveKernel final : public evaluation::LiveKernel {
 public:
  CpuLiveKernel(OpenTask& bench, ArenaProcess arena) : bench_(bench), arena_(std::move(arena)) { arena_.remember(); }

  base::Result<CallOutcome> call(const Invocation& invocation, const CallOptions& options) override {
    if (!restore_memory(arena_)) return dead();
    const Layout layout(bench_.definition, bench_.buffers,
                        options.cache == model::Cache::cold ? Bypass::caches : Bypass::nothing, options.alignment);
    lay_out(layout, invocation, options);
    const auto touched = bench_.concealment.lines();
    LateWrites late_writes(layout.outputs(invocation), options.poison_seed);
    std::optional<Counters> counters;
    if (options.count) counters.emplace(arena_.process().pid());
    const auto reveal = [&] {
      bench_.concealment.reveal();
      if (options.cache == model::Cache::cold) bench_.flusher.flush_now(touched);
      if (counters) counters->start();
    };
    const auto returned = [&] {
      if (counters) counters->stop();
      late_writes.remember();
    };
    const Bracket bracket = timed_call(arena_, options.limit, bench_.one_core, reveal, returned);
    bench_.concealment.reveal();
    if (bracket.end == Bracket::End::timed_out) timed_out_ = true;
    if (bracket.end != Bracket::End::returned) return dead(layout.tensors(invocation));
    CallOutcome out;
    out.wrote_outside = !layout.canaries_whole(invocation);
    if (out.wrote_outside) bench_.buffers.distrust();
    const bool worked = bench_.idle->exceeded_by(bracket);
    if (worked && !bracket.at_home) ++worked_on_;
    out.caught = caught_at(bracket, late_writes);
    // Where memory can be sealed no process but this one can write to the inputs.
    if (out.caught.empty() && !bench_.buffers.sealed() && !layout.inputs_hold(invocation)) {
      out.caught = "wrote into its inputs";
    }
    out.time_ns = static_cast<double>(bracket.time.count());
    out.disturbed = bracket.disturbed;
    out.early = bracket.early || worked;
    out.outputs = layout.outputs(invocation);
    if (counters) out.counts = counters->read();
    return out;
  }

 private:
  void lay_out(const Layout& layout, const Invocation& invocation, const CallOptions& options) {
    layout.set_arguments(arena_.control(), invocation);
    const bool lies_there = bench_.placed == invocation.number && bench_.placed_at == options.alignment;
    if (!lies_there || invocation.number == 0 || !bench_.buffers.sealed()) {
      layout.place_inputs(invocation);
      bench_.placed = invocation.number;
      bench_.placed_at = options.alignment;
    }
    layout.poison_outputs(invocation, options);
    bench_.concealment.conceal(layout.inputs(invocation), options.poison_seed);
    if (options.cache == model::Cache::cold) layout.flush(invocation, bench_.flusher);
  }

  /// What proves that the kernel cheated in this call; empty: nothing.
  [[nodiscard]] std::string caught_at(const Bracket& bracket, const LateWrites& late_writes) const {
    if (bracket.escaped) {
      return "said that it was done and did not return: it kept its process to itself, to begin before it is told to";
    }
    if (worked_on_ > kMostInterrupted) {
      return "went on working after it had said that it was done, again and again, which chooses the calls that count";
    }
    if (bracket.helper_awake) {
      return "left a helper thread awake: between calls each has ended, or waits on a futex without a time limit, as "
             "those of OpenMP and condition variables do";
    }
    if (late_writes.seen()) return "went on writing its output after it had said that it was done";
    return {};
  }

  [[nodiscard]] CallOutcome dead(const std::vector<PlacedTensor>& tensors = {}) {
    bench_.buffers.distrust();
    CallOutcome out;
    out.end = timed_out_ ? CallEnd::timed_out : CallEnd::died;
    out.reason = arena_.fault() ? meaning_of(*arena_.fault(), tensors) : arena_.death();
    return out;
  }

  /// Calls in which an arena seems to have worked on: the machine can interrupt it in its few instructions after done.
  static constexpr int kMostInterrupted = 2;

  OpenTask& bench_;
  ArenaProcess arena_;
  int worked_on_ = 0;
  bool timed_out_ = false;
};

void run_on(const std::vector<int>& cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) CPU_SET(static_cast<std::size_t>(core), &set);
  sched_setaffinity(0, sizeof set, &set);
}

class QuietHold final : public evaluation::Hold {
 public:
  explicit QuietHold(sandbox::PauseGate* gate) : gate_(gate) {
    if (gate_ != nullptr) gate_->pause();
  }
  QuietHold(const QuietHold&) = delete;
  QuietHold& operator=(const QuietHold&) = delete;
  ~QuietHold() override {
    if (gate_ != nullptr) gate_->resume();
  }

 private:
  sandbox::PauseGate* gate_;
};

std::string kibibytes(std::int64_t bytes) {
  return bytes >= (1 << 20) ? std::to_string(bytes >> 20) + " MiB" : std::to_string(bytes >> 10) + " KiB";
}

class CpuTarget final : public evaluation::Target {
 public:
  explicit CpuTarget(CpuOptions options) : options_(std::move(options)) {}

  base::Result<evaluation::DeviceInfo> open(const model::Task& task, const evaluation::MeasureSettings&,
                                            std::stop_token stop) override {
    machine_ = examine_machine();
    TRY_ASSIGN(cores_, plan_cores(machine_, options_.device, task.cpu.threads));
    if (options_.arena.empty()) {
      TRY_ASSIGN(options_.arena, find_arena());
    }
    TRY_ASSIGN(compiler_, find_compiler(options_.compiler, options_.search_path, options_.cache));
    TRY_ASSIGN(auto lock, evaluation::DeviceLock::open(kMachineLock));
    lock_.emplace(std::move(lock));
    run_on({cores_.worker});
    TRY_ASSIGN(peaks_, measure_peaks(compiler_, machine_, cores_.arenas.front(), {options_.cache}, stop));
    sandbox::PauseGate* gate = cores_.others.empty() ? &gate_ : nullptr;
    TRY_ASSIGN(builder_, KernelBuilder::create(
                             task, {compiler_, cores_.others.empty() ? machine_.cores : cores_.others, gate}, stop));
    TRY_ASSIGN(Buffers buffers, Buffers::create(plan_buffers(task, &model::size_of), base::random_seed()));
    const ArenaOptions arena{options_.arena, cores_.arenas, task.cpu.threads, cores_.one_core, options_.memory_bytes};
    bench_ = std::make_unique<OpenTask>(OpenTask{task.definition, std::move(buffers),
                                                 Flusher(machine_.line_flush, machine_.last_level_bytes), arena,
                                                 cores_.one_core});
    ArenaOptions trusted = arena;
    trusted.threads = 1;
    TRY_ASSIGN(reference_, Reference::create(task, *builder_, trusted, stop));
    TRY_ASSIGN(IdleCalls idle, IdleCalls::create(*builder_, trusted, bench_->buffers, stop));
    bench_->idle.emplace(std::move(idle));
    threads_ = task.cpu.threads;
    return evaluation::DeviceInfo{machine_.cpu_model, summary(), compiler_.name, sandbox::isolation(), peaks_};
  }

  base::Result<void> open_to_build(const model::Task& task, std::stop_token stop) override {
    machine_ = examine_machine();
    TRY_ASSIGN(compiler_, find_compiler(options_.compiler, options_.search_path, options_.cache));
    TRY_ASSIGN(builder_, KernelBuilder::create(task, {compiler_, {}, nullptr}, stop));
    return {};
  }

  const std::string& task_header() const override { return builder_->task_header(); }

  model::Environment environment() const override {
    model::Environment out;
    out.device = machine_.cpu_model;
    out.compiler = compiler_.name;
    out.flags = builder_->flags_text();
    out.isolation = sandbox::isolation();
    return out;
  }

  std::string trust() const override { return "isolated"; }
  std::int64_t last_level_bytes() const override { return machine_.last_level_bytes; }

  base::Result<model::BuildReport> build(const model::Kernel& kernel, std::stop_token stop) override {
    TRY_ASSIGN(const BuiltKernelPtr built, builder_->build(kernel, std::move(stop)));
    return built->report;
  }

  void settle_helper_thread() override {
    run_on(cores_.others.empty() ? std::vector<int>{cores_.worker} : cores_.others);
  }
  int build_threads() const override {
    return std::max(1, static_cast<int>(cores_.others.empty() ? machine_.cores.size() : cores_.others.size()));
  }

  base::Result<std::vector<ReferenceTensor>> reference(Precision precision, const std::vector<ReferenceTensor>& inputs,
                                                       const Invocation& invocation) override {
    TRY_ASSIGN(const auto lock, lock_machine());  // it runs where others may be measuring
    return reference_->run(precision, inputs, invocation);
  }

  base::Result<std::unique_ptr<evaluation::LiveKernel>> start(const model::Kernel& kernel,
                                                              evaluation::Placement placement,
                                                              std::stop_token stop) override {
    TRY_ASSIGN(const BuiltKernelPtr built, builder_->build(kernel, std::move(stop), placement));
    if (!built->report.built) {
      return base::fail(ErrorCode::invalid_argument,
                        "a kernel that does not build cannot be started:\n" + built->report.diagnostics);
    }
    TRY_ASSIGN(const auto lock, lock_machine());  // loading takes the core that others may be measuring on
    TRY_ASSIGN(ArenaProcess arena, ArenaProcess::start(bench_->arena, *built, bench_->buffers));
    return std::make_unique<CpuLiveKernel>(*bench_, std::move(arena));
  }

  std::vector<model::ProfileItem> machine_code_profile(const model::Kernel& kernel, std::stop_token stop) override {
    const auto built = builder_->build(kernel, stop);
    if (!built || !(*built)->report.built) return {};
    const auto text = disassemble(compiler_, options_.search_path, (*built)->shared_object, Lines::hidden, stop);
    return text ? describe(loops_of(*text)) : std::vector<model::ProfileItem>();
  }

  base::Result<std::optional<evaluation::CodeSamples>> sample(const model::Kernel& kernel, const Invocation& invocation,
                                                              model::Cache cache, std::stop_token stop) override {
    if (!can_sample()) return std::nullopt;
    TRY_ASSIGN(const BuiltKernelPtr built, builder_->build(kernel, stop));
    TRY_ASSIGN(ArenaProcess arena, ArenaProcess::start(bench_->arena, *built, bench_->buffers));
    const pid_t process = arena.process().pid();
    CpuLiveKernel live(*bench_, std::move(arena));
    const CallOptions options{kSampledCallLimit, cache, base::random_seed()};
    const auto begin = std::chrono::steady_clock::now();
    TRY_ASSIGN(const CallOutcome warm_up, live.call(invocation, options));
    if (warm_up.end != CallEnd::returned) return std::nullopt;
    const auto period = std::chrono::nanoseconds(static_cast<std::int64_t>(warm_up.time_ns / kSamplesACall));
    CodeSampler sampler(process, std::clamp<std::chrono::nanoseconds>(period, kShortestPeriod, kLongestPeriod));
    if (!sampler.attached()) return std::nullopt;
    sampler.start();
    for (int calls = 1; calls <= kMostSampledCalls && !stop.stop_requested(); ++calls) {
      TRY_ASSIGN(const CallOutcome outcome, live.call(invocation, options));
      if (outcome.end != CallEnd::returned) return std::nullopt;
      const bool few = calls < kLeastSampledCalls && warm_up.time_ns < kLongCallNs;
      if (!few && std::chrono::steady_clock::now() - begin > kSampling) break;
    }
    return sampler.stop();
  }

  std::vector<model::ProfileItem> hot_loops(const model::Kernel& kernel, const evaluation::CodeSamples& samples,
                                            std::stop_token stop) override {
    const auto built = builder_->build(kernel, stop);
    if (!built || !(*built)->report.built) return {};
    const auto text = disassemble(compiler_, options_.search_path, (*built)->shared_object, Lines::hidden, stop);
    if (!text || describe_hot_loops(*text, "", samples).empty()) return {};
    const auto lined = builder_->build_with_lines(kernel, stop);
    const auto lines = lined ? disassemble(compiler_, options_.search_path, *lined, Lines::shown, stop) : text;
    return describe_hot_loops(*text, lines ? *lines : "", samples);
  }

  std::unique_ptr<evaluation::Hold> quiet() override {
    run_on({cores_.worker});
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);  // short sleeps stay short: nanoseconds of slack
    return std::make_unique<QuietHold>(cores_.others.empty() ? &gate_ : nullptr);
  }
  base::Result<std::unique_ptr<evaluation::Hold>> lock_machine() override { return evaluation::hold(*lock_, use()); }

  base::Result<evaluation::Peaks> probe_peaks_again(std::stop_token stop) override {
    TRY_ASSIGN(peaks_, measure_peaks_again(compiler_, machine_, cores_.arenas.front(), {options_.cache}, peaks_, stop));
    return peaks_;
  }

 private:
  // Sampling a kernel: about a thousand samples in a tenth of a second; of a long call, one is enough.
  static constexpr auto kSampling = std::chrono::milliseconds(60);
  static constexpr auto kSampledCallLimit = std::chrono::seconds(20);
  static constexpr int kLeastSampledCalls = 4;
  static constexpr int kMostSampledCalls = 200;
  static constexpr double kLongCallNs = 50e6;
  static constexpr double kSamplesACall = 300;
  static constexpr auto kShortestPeriod = std::chrono::microseconds(15);  ///< of what systems allow
  static constexpr auto kLongestPeriod = std::chrono::milliseconds(10);

  [[nodiscard]] std::string summary() const {
    std::string out = machine_.cpu_model + ", " + std::to_string(machine_.cores.size()) + " cores, " +
                      machine_.vector_set + " (" + std::to_string(machine_.vector_bits) + "-bit vectors), L1d " +
                      kibibytes(machine_.l1_bytes) + ", L2 " + kibibytes(machine_.l2_bytes) + ", last level " +
                      kibibytes(machine_.last_level_bytes);
    if (!machine_.instruction_sets.empty()) out += "; also " + machine_.instruction_sets;
    out += fmt::format("; {} vector registers, cache lines of {} bytes, pages of {}", machine_.vector_registers,
                       machine_.line_bytes, kibibytes(machine_.page_bytes));
    out += fmt::format("; one core peaks at {:.1f} GFLOP/s float32, {:.1f} GFLOP/s float64, {:.1f} GB/s of memory",
                       peaks_.flops_per_second / 1e9, peaks_.flops_per_second_float64 / 1e9,
                       peaks_.bytes_per_second / 1e9);
    if (peaks_.last_level_bytes_per_second > 0) {
      out += fmt::format(", {:.1f} GB/s of last-level cache", peaks_.last_level_bytes_per_second / 1e9);
    }
    std::string widths;
    for (const evaluation::VectorPeak& peak : peaks_.by_width) {
      if (peak.dtype != "float32") continue;
      widths += fmt::format("{}{}-bit {:.1f}", widths.empty() ? "" : ", ", peak.bits, peak.flops_per_second / 1e9);
    }
    if (!widths.empty()) out += "; float32 GFLOP/s by vector width: " + widths;
    if (!peaks_.measured.empty()) out += "; measured " + peaks_.measured;
    return out;
  }

  CpuOptions options_;
  Machine machine_;
  CorePlan cores_;
  Compiler compiler_;
  evaluation::Peaks peaks_;
  sandbox::PauseGate gate_;
  std::optional<evaluation::DeviceLock> lock_;
  std::unique_ptr<KernelBuilder> builder_;
  std::unique_ptr<OpenTask> bench_;
  std::unique_ptr<Reference> reference_;
  int threads_ = 1;
};

}  // namespace

std::unique_ptr<evaluation::Target> make_cpu_target(CpuOptions options) {
  return std::make_unique<CpuTarget>(std::move(options));
}

}  // namespace accelopt::targets::cpu
