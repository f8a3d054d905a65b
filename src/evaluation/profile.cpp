// SPDX-License-Identifier: Apache-2.0
// What the planner is told about a kernel that passed.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "base/text.hpp"
#include "evaluation/measuring.hpp"
#include "evaluation/roofline.hpp"
#include "evaluation/verify/dtype_codec.hpp"
#include "model/target_description.hpp"

namespace accelopt::evaluation {
namespace {

constexpr int kTimedCalls = 5;    ///< cold and warm each, after a warm-up; fewer where the slots do not reach
constexpr int kCountedCalls = 3;  ///< after the timed ones, with caches as the task has them; likewise

struct Times {
  double cold_ns = 0;
  double warm_ns = 0;
  std::vector<model::ProfileItem> counts;  ///< the median a counter
  std::string disturbance;                 ///< who was on the device all the time
  std::optional<Failure> failure;          ///< of a call; the rest says nothing then
};

base::Result<double> median_call(Measuring& measuring, LiveKernel& live, std::size_t workload, model::Cache cache,
                                 const std::vector<int>& slots, Times& out) {
  FairTimes times;
  for (const int number : slots) {
    TRY_ASSIGN(Slot * slot, measuring.slots->get(workload, number));
    TRY_ASSIGN(const CallOutcome outcome,
               live.call(slot->invocation, {measuring.hard_limit(), cache, measuring.random()}));
    out.failure = judge(measuring.task, measuring.task.workloads[workload], *slot, outcome);
    if (out.failure) return 0.0;
    times.add(outcome);
  }
  if (out.disturbance.empty()) out.disturbance = times.disturbance();
  return times.median();
}

/// The median of every counter that the machine has.
base::Result<std::vector<model::ProfileItem>> counted_calls(Measuring& measuring, LiveKernel& live,
                                                            std::size_t workload, const std::vector<int>& slots,
                                                            std::optional<Failure>& failure) {
  std::vector<model::ProfileItem> out;
  std::vector<std::vector<double>> values;
  for (const int number : slots) {
    TRY_ASSIGN(Slot * slot, measuring.slots->get(workload, number));
    const CallOptions options{measuring.hard_limit(), measuring.task.cpu.cache, measuring.random(), true};
    TRY_ASSIGN(const CallOutcome outcome, live.call(slot->invocation, options));
    failure = judge(measuring.task, measuring.task.workloads[workload], *slot, outcome);
    if (failure) break;
    for (const model::ProfileItem& item : outcome.counts) {
      const auto known =
          std::find_if(out.begin(), out.end(), [&](const auto& other) { return other.name == item.name; });
      const auto place = static_cast<std::size_t>(known - out.begin());
      if (known == out.end()) {
        out.push_back(item);
        values.emplace_back();
      }
      values[place].push_back(item.value);
    }
  }
  for (std::size_t i = 0; i < out.size(); ++i) out[i].value = stats::median(values[i]);
  return out;
}

/// Each half in a process of its own, on slots that the kernel has not met.
base::Result<Times> time_workload(Measuring& measuring, const model::Kernel& kernel, std::size_t workload,
                                  const std::stop_token& stop) {
  const std::string& source_id = kernel.id();
  Times out;
  if (measuring.target.times_without_calls()) {
    TRY_ASSIGN(out.cold_ns,
               measuring.target.time_of(kernel, measuring.task.workloads[workload], stats::kAssumptions - 1, stop));
    out.warm_ns = out.cold_ns;
    return out;
  }
  for (const auto& [cache, time] :
       {std::pair{model::Cache::cold, &out.cold_ns}, std::pair{model::Cache::warm, &out.warm_ns}}) {
    const int first = measuring.slots->unmet(source_id, workload);
    std::vector<int> slots;
    std::vector<int> others;
    for (int i = 1; i < measuring.slots->count(); ++i) {
      if (i <= kTimedCalls) slots.push_back(first + i);
      if (i > kTimedCalls && i <= kTimedCalls + kCountedCalls) others.push_back(first + i);
    }
    measuring.slots->meet(source_id, workload, first + measuring.slots->count());
    TRY_ASSIGN(const auto live, measuring.target.start(kernel, Placement::usual, stop));
    Times warm_up;
    TRY(median_call(measuring, *live, workload, cache, {first}, warm_up));
    out.failure = warm_up.failure;
    if (!out.failure) {
      TRY_ASSIGN(*time, median_call(measuring, *live, workload, cache, slots, out));
    }
    if (!out.failure && cache == measuring.task.cpu.cache) {
      TRY_ASSIGN(out.counts, counted_calls(measuring, *live, workload, others, out.failure));
    }
    if (out.failure) break;
  }
  return out;
}

void describe(const Measuring& measuring, std::size_t index, const Times& times, bool several,
              model::Profile& profile) {
  const model::Workload& workload = measuring.task.workloads[index];
  const std::string prefix = several ? workload.name + ": " : "";
  const auto add = [&](std::string name, double value, std::string unit, std::string meaning) {
    profile.items.push_back({prefix + std::move(name), value, std::move(unit), std::move(meaning)});
  };
  const double time_ns = measuring.task.cpu.cache == model::Cache::cold ? times.cold_ns : times.warm_ns;
  const bool modelled = measuring.samples() == stats::Samples::modelled;
  if (modelled) {
    add("modelled time", time_ns / 1e3, "us", "of one call; no device took it");
  } else {
    add("cold time", times.cold_ns / 1e3, "us",
        "median time of one call with inputs and outputs flushed from all caches");
    add("warm time", times.warm_ns / 1e3, "us", "median time of one call right after its inputs were written");
  }
  for (const model::ProfileItem& count : times.counts) add(count.name, count.value, count.unit, count.meaning);
  const auto work = least_work(measuring.task.definition, workload);
  const auto point = roofline(measuring.task, workload, measuring.peaks, time_ns);
  if (!work || !point) return;
  if (work->flops > 0) add("compute rate", work->flops / time_ns, "GFLOP/s", "least necessary operations / time");
  if (work->bytes > 0) add("memory rate", work->bytes / time_ns, "GB/s", "least necessary bytes / time");
  if (work->bytes > 0 && work->flops > 0)
    add("arithmetic intensity", work->flops / work->bytes, "FLOP/byte",
        "least necessary operations / least necessary bytes");
  add("roofline floor", point->floor_ns / 1e3, "us", "least possible time on this machine: " + point->bound + " bound");
  add("share of roofline", 100 * point->fraction, "%", "floor / time; 100 % cannot be passed");
  const double units = model::cores_of(measuring.task);
  const double peak = measuring.peaks.flops_per_second * units;
  if (work->flops > 0)
    add("share of peak compute", 100 * work->flops / time_ns * 1e9 / peak, "%",
        modelled ? "compute rate / documented float32 peak" : "compute rate / measured float32 FMA peak");
  const double bandwidth = measuring.peaks.bytes_per_second * units;
  if (work->bytes > 0)
    add("share of peak bandwidth", 100 * work->bytes / time_ns * 1e9 / bandwidth, "%",
        modelled ? "memory rate / documented bandwidth" : "memory rate / measured peak bandwidth");
}

/// What the machine's counters say of the workload on which the kernel spends most.
base::Result<void> add_hardware_counts(Measuring& measuring, const model::Kernel& kernel, std::size_t workload,
                                       bool several, model::Profile& profile, const std::stop_token& stop) {
  TRY_ASSIGN(Slot * slot, measuring.slots->get(workload, 0));
  TRY_ASSIGN(const auto lock, measuring.target.lock_machine());
  TRY_ASSIGN(const HardwareCounts counts,
             measuring.target.hardware_counts(kernel, slot->invocation, measuring.task.cpu.cache, stop));
  const std::string prefix = several ? measuring.task.workloads[workload].name + ": " : "";
  for (model::ProfileItem item : counts.items) {
    item.name = prefix + item.name;
    profile.items.push_back(std::move(item));
  }
  if (!counts.note.empty()) profile.notes.push_back(counts.note);
  return {};
}

/// The kernel's own host function beside it, on every raced and checked workload.
base::Result<void> add_host_runs(Measuring& measuring, const model::Kernel& kernel, model::Profile& profile,
                                 const std::stop_token& stop) {
  for (const std::size_t workload : measuring.workloads(kVerified)) {
    const std::string& name = measuring.task.workloads[workload].name;
    TRY_ASSIGN(Slot * slot, measuring.slots->get(workload, 0));
    TRY_ASSIGN(const auto lock, measuring.target.lock_machine());
    const auto run = measuring.target.host_run(kernel, slot->invocation, stop);
    if (!run && run.error().code == base::ErrorCode::cancelled) return tl::make_unexpected(run.error());
    if (!run) {
      profile.notes.push_back("the host function was not called: " + run.error().message);
      return {};
    }
    profile.items.push_back({name + ": host time", run->call_us, "us",
                             "median of calls of the solution's own function by " + run->where +
                                 ", until the device is done; not verified call by call"});
    const std::string same = run->differences.empty() ? "computes the same bytes as the kernel that was measured"
                                                      : base::joined(run->differences, "; ");
    profile.notes.push_back(name + ": the solution's own function " + same);
  }
  return {};
}

/// Times and counts of the raced workloads, and samples of the one on which the kernel spends most. With a failure, the
/// rest of the profile says nothing.
base::Result<std::optional<CodeSamples>> measure(Measuring& measuring, const model::Kernel& kernel,
                                                 model::Profile& profile, const std::stop_token& stop) {
  const auto quiet = measuring.target.quiet();
  const std::vector<std::size_t> raced = measuring.workloads(kRaced);
  std::size_t longest = raced.front();
  double longest_ns = 0;
  for (const std::size_t workload : raced) {
    TRY_ASSIGN(const auto lock, measuring.target.lock_machine());
    TRY_ASSIGN(const Times times, time_workload(measuring, kernel, workload, stop));
    if (times.failure) {
      profile.failed_as = times.failure->status;
      profile.failure = "while it was profiled: " + times.failure->reason;
      return std::nullopt;
    }
    describe(measuring, workload, times, raced.size() > 1, profile);
    if (!times.disturbance.empty())
      profile.notes.push_back("times of workload " + measuring.task.workloads[workload].name + ": " +
                              times.disturbance);
    if (times.cold_ns > longest_ns) {
      longest = workload;
      longest_ns = times.cold_ns;
    }
  }
  if (measuring.target.times_without_calls()) return std::optional<CodeSamples>();
  TRY(add_hardware_counts(measuring, kernel, longest, raced.size() > 1, profile, stop));
  if (measuring.settings.host_run) TRY(add_host_runs(measuring, kernel, profile, stop));
  TRY_ASSIGN(Slot * slot, measuring.slots->get(longest, 0));
  TRY_ASSIGN(const auto lock, measuring.target.lock_machine());
  return measuring.target.sample(kernel, slot->invocation, measuring.task.cpu.cache, stop);
}

}  // namespace

std::string difference_of(const model::TensorSpec& output, const std::string& bytes, const std::string& measured) {
  if (bytes == measured) return {};
  if (bytes.size() != measured.size())
    return fmt::format("leaves {} bytes of output {}, and {} were measured", bytes.size(), output.name,
                       measured.size());
  const std::vector<double> own = decode(output.dtype, std::as_bytes(std::span(bytes)));
  const std::vector<double> other = decode(output.dtype, std::as_bytes(std::span(measured)));
  const std::size_t width = model::size_of(output.dtype);
  std::size_t different = 0;
  double largest = 0;
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (bytes.compare(i * width, width, measured, i * width, width) == 0) continue;
    ++different;
    largest = std::max(largest, std::abs(own[i] - other[i]));
  }
  return fmt::format("differs from the kernel that was measured in {} of {} elements of output {}, by {:.3g} at most",
                     different, own.size(), output.name, largest);
}

int CodeSamples::count() const {
  auto all = static_cast<int>(own.size());
  for (const auto& [name, number] : library) all += number;
  return all;
}

base::Result<model::Profile> run_profile(Measuring& measuring, const model::Kernel& kernel,
                                         const std::stop_token& stop) {
  TRY_ASSIGN(const model::BuildReport report, measuring.target.build(kernel, stop));
  if (!report.built)
    return base::fail(base::ErrorCode::invalid_argument, "a kernel that does not build cannot be profiled");
  model::Profile profile;
  TRY_ASSIGN(const auto samples, measure(measuring, kernel, profile, stop));
  if (profile.failed_as != model::Status::passed) return profile;
  profile.items.push_back(
      {"code size", static_cast<double>(report.code_bytes), "bytes", "machine code of the kernel's file"});
  const std::vector<model::ProfileItem> code = samples ? measuring.target.hot_loops(kernel, *samples, stop)
                                                       : measuring.target.machine_code_profile(kernel, stop);
  profile.items.insert(profile.items.end(), code.begin(), code.end());
  profile.remarks = report.remarks;
  return profile;
}

}  // namespace accelopt::evaluation
