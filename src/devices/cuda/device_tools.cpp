// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/device_tools.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "base/json.hpp"
#include "base/text.hpp"
#include "devices/cuda/counters.hpp"
#include "devices/cuda/disassembler.hpp"
#include "devices/cuda/sanitizer_report.hpp"
#include "devices/cuda/server_process.hpp"

namespace accelopt::devices::cuda {
namespace {

using base::ErrorCode;
using evaluation::HardwareCounts;
using evaluation::Inspection;

constexpr std::array<const char*, 3> kSanitizers{"memcheck", "initcheck", "racecheck"};
/// Behind every allocation, so that what is read just behind one tensor is not another one.
constexpr int kPaddingBytes = 4096;
constexpr int kMostSlowRuns = 2;      ///< of Nsight Compute, before it is asked no more
constexpr int kMostUnknownRuns = 16;  ///< it names unknown metrics one at a time
constexpr const char* kNotCounted = "hardware counters were not read: ";
constexpr const char* kNotInspected = "not checked for memory errors and races: ";
constexpr const char* kUsualPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// Name and words as the driver tells them: a kernel can be named like the first, and not like both.
constexpr const char* kOutOfMemory = "CUDA_ERROR_OUT_OF_MEMORY: out of memory";

/// The tools keep settings in HOME and locks in TMPDIR: both are a folder of our own, or another user's leftovers in
/// /tmp could stop them.
std::vector<std::string> tool_environment(const std::string& folder, const std::map<std::string, std::string>& outer) {
  std::vector<std::string> out = server_environment();
  const auto path = outer.find("PATH");
  out.push_back("PATH=" + (path == outer.end() ? std::string(kUsualPath) : path->second));
  out.insert(out.end(), {"HOME=" + folder, "TMPDIR=" + folder, "LC_ALL=C"});
  return out;
}

std::string call_bytes(const OneCall& call) {
  std::string out = base::canonical(base::Json(call.request)) + "\n";
  for (const std::string& piece : call.bulk) out += piece;
  return out;
}

std::string name_of(const Tool& tool, const std::string& words) {
  return tool.version.empty() ? words : words + " " + tool.version;
}

/// The plan's kernels among the launches that were counted.
std::vector<KernelCounters> launches_of(const LaunchPlan& plan, std::vector<KernelCounters> launches) {
  std::erase_if(launches, [&](const KernelCounters& one) {
    return std::none_of(plan.launches.begin(), plan.launches.end(),
                        [&](const Launch& launch) { return launch.kernel == one.kernel; });
  });
  return launches;
}

/// What is missing where some of the plan's kernels were not counted; empty: all were.
std::string uncounted(const LaunchPlan& plan, const CounterTable& table) {
  std::set<std::string> kernels;
  for (const Launch& launch : plan.launches) kernels.insert(launch.kernel);
  const std::size_t all = kernels.size();
  for (const KernelCounters& one : table.launches) kernels.erase(one.kernel);
  if (kernels.empty()) return {};
  return fmt::format("hardware counters were read of {} of {} kernels alone: {}", all - kernels.size(), all,
                     table.problem.empty() ? "Nsight Compute counted no more" : table.problem);
}

/// Adds those of the asked metrics that are of an unknown name; false: none is.
bool add_unknown(const std::vector<std::string>& unknown, std::set<std::string>& to) {
  const std::size_t before = to.size();
  for (const std::string& metric : counter_metrics()) {
    const bool named = std::any_of(unknown.begin(), unknown.end(), [&](const std::string& base) {
      return metric.starts_with(base) && (metric.size() == base.size() || metric[base.size()] == '.');
    });
    if (named) to.insert(metric);
  }
  return to.size() > before;
}

}  // namespace

base::Result<sandbox::RunResult> DeviceTools::run_once(const std::string& program,
                                                       const std::vector<std::string>& arguments, const OneCall& call,
                                                       std::chrono::seconds limit, const std::stop_token& stop) {
  if (!folder_) {
    TRY_ASSIGN(folder_, make_tool_folder());
  }
  const std::filesystem::path file = folder_->path() / "call";
  TRY(base::write_file(file, call_bytes(call)));
  // Held while somebody waits for the call: the process that makes it ends with the hold, whatever became of the tool.
  // Where the folder's file system has no locks it has its alarm alone.
  const base::FileDescriptor hold(open(file.c_str(), O_RDONLY | O_CLOEXEC));
  std::ignore = hold.valid() && flock(hold.get(), LOCK_EX | LOCK_NB) == 0;
  sandbox::SpawnOptions options;
  options.program = program;
  options.arguments = arguments;
  if (program != options_.server) options.arguments.push_back(options_.server);
  options.arguments.insert(options.arguments.end(), {"--one-call", file.string()});
  options.environment = tool_environment(folder_->path().string(), options_.environment);
  options.directory = folder_->path().string();
  options.own_namespaces = false;
  auto ran = sandbox::run(options, {limit, std::size_t{16} << 20}, nullptr, stop);
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
  return ran;
}

base::Result<sandbox::RunResult> DeviceTools::run(const std::string& program, std::vector<std::string> arguments,
                                                  const OneCall& call, std::chrono::seconds limit,
                                                  const std::stop_token& stop) {
  TRY_ASSIGN(auto ran, run_once(program, arguments, call, limit, stop));
  if (ran.output.find(kOutOfMemory) == std::string::npos || !options_.release_memory) return ran;
  // The resident process holds most of what is in use; its slots can be made again.
  TRY(options_.release_memory());
  return run_once(program, arguments, call, limit, stop);
}

base::Result<std::vector<std::string>> DeviceTools::outputs(OneCall call, const std::stop_token& stop) {
  call.request.keep_outputs = true;
  TRY_ASSIGN(const auto ran, run(options_.server, {}, call, options_.sanitizing_limit, stop));
  const auto why = [&] { return ran.timed_out ? "it came to no end" : std::string(base::first_line(ran.output)); };
  const std::filesystem::path file = folder_->path() / (std::string("call") + kOutputsSuffix);
  auto bytes = base::read_file(file);
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
  if (!bytes) return base::fail(ErrorCode::invalid_argument, "a call of the kernel alone failed: " + why());
  std::vector<std::string> out;
  std::size_t at = 0;
  for (const SlotOutput& output : call.request.outputs) {
    out.push_back(bytes->substr(std::min(at, bytes->size()), output.count * model::size_of(output.dtype)));
    at += output.count * model::size_of(output.dtype);
  }
  return out;
}

base::Result<std::string> DeviceTools::why_missing(const ToolName& name, std::optional<Tool>& tool, std::string& why,
                                                   std::string_view undone, const std::stop_token& stop) {
  if (tool || !why.empty()) return why;
  auto found = find_tool(name, options_.environment, stop);
  if (!found && found.error().code == ErrorCode::cancelled) return tl::make_unexpected(found.error());
  if (found) {
    tool = std::move(*found);
  } else {
    why = std::string(undone) + found.error().message;
  }
  return why;
}

base::Result<std::string> DeviceTools::why_no_counters(const std::stop_token& stop) {
  return why_missing(nsight_compute(), ncu_, why_no_counters_, kNotCounted, stop);
}

base::Result<HardwareCounts> DeviceTools::give_up_counting(const std::string& why) {
  why_no_counters_ = kNotCounted + why;
  return HardwareCounts{{}, why_no_counters_};
}

base::Result<HardwareCounts> DeviceTools::count(const OneCall& call, model::Cache cache, const std::stop_token& stop) {
  TRY_ASSIGN(std::string why, why_no_counters(stop));
  const std::string failed = std::string(kNotCounted) + "Nsight Compute ";
  for (int attempt = 0; why.empty() && attempt < kMostUnknownRuns; ++attempt) {
    std::vector<std::string> metrics = counter_metrics();
    std::erase_if(metrics, [&](const std::string& metric) { return unknown_metrics_.contains(metric); });
    const std::vector<std::string> arguments{"--clock-control",
                                             "none",
                                             "--cache-control",
                                             cache == model::Cache::cold ? "all" : "none",
                                             "--target-processes",
                                             "all",
                                             "--profile-from-start",
                                             "off",  // accelopt-device turns it on for the plan's kernels alone
                                             "--csv",
                                             "--page",
                                             "raw",
                                             "--print-units",
                                             "base",
                                             "--metrics",
                                             fmt::format("{}", fmt::join(metrics, ","))};
    const auto ran = run(ncu_->path, arguments, call, options_.counting_limit, stop);
    if (!ran && ran.error().code == ErrorCode::cancelled) return tl::make_unexpected(ran.error());
    if (!ran) return HardwareCounts{{}, failed + "was not run: " + ran.error().message};
    if (ran->timed_out) {
      why = failed + fmt::format("took more than {} s", options_.counting_limit.count());
      if (++slow_ >= kMostSlowRuns) why_no_counters_ = why;
      break;
    }
    const CounterTable table = read_counters(ran->output);
    if (table.refused) {
      return give_up_counting(
          "this user may not read them (ERR_NVGPUCTRPERM): allow it (the driver's option "
          "NVreg_RestrictProfilingToAdminUsers=0), or run the worker as one who may");
    }
    const auto items = describe_counters(launches_of(call.request.plan, table.launches));
    if (!items.empty()) return HardwareCounts{items, uncounted(call.request.plan, table)};
    if (add_unknown(table.unknown, unknown_metrics_)) continue;
    why = failed + "gave none: " + (table.problem.empty() ? "it printed no table" : table.problem);
  }
  if (why.empty()) why = failed + fmt::format("did not know a metric in each of {} runs", kMostUnknownRuns);
  return HardwareCounts{{}, why};
}

base::Result<std::string> DeviceTools::why_no_disassembly(const std::stop_token& stop) {
  return why_missing(disassembler(), disassembler_, why_no_disassembly_, "hot loops are not shown: ", stop);
}

base::Result<std::string> DeviceTools::disassembly(const std::string& cubin, const std::stop_token& stop) {
  TRY_ASSIGN(const std::string why, why_no_disassembly(stop));
  if (!why.empty()) return std::string();
  auto text = disassemble(disassembler_->path, cubin, stop);
  if (!text && text.error().code == ErrorCode::cancelled) return text;
  return text.value_or("");
}

base::Result<std::string> DeviceTools::why_not_inspected(const std::stop_token& stop) {
  return why_missing(compute_sanitizer(), sanitizer_, why_not_inspected_, kNotInspected, stop);
}

/// One tool's verdict.
base::Result<SanitizerVerdict> DeviceTools::sanitize(const std::string& tool, const OneCall& call,
                                                     const std::stop_token& stop) {
  std::vector<std::string> kernels;
  for (const Launch& launch : call.request.plan.launches) kernels.push_back(launch.kernel);
  const SanitizerVerdict too_slow{Sanitized::unknown,
                                  fmt::format("it took more than {} s", options_.sanitizing_limit.count()), false};
  std::string code;
  for (std::size_t i = 1; i <= call.request.cubin_bytes.size(); ++i) code += call.bulk.at(i);
  if (std::exchange(slow_code_, code) != code) slow_tools_.clear();
  if (slow_tools_.contains(tool)) return too_slow;
  // The host's frames say nothing of a kernel. Not "no": under it initcheck of version 2025.3 is killed by its own
  // report.
  std::vector<std::string> arguments{"--tool",           tool,     "--report-api-errors", "no",
                                     "--show-backtrace", "device", "--print-limit",       "8"};
  if (tool == "memcheck") arguments.insert(arguments.end(), {"--padding", std::to_string(kPaddingBytes)});
  const auto ran = run(sanitizer_->path, arguments, call, options_.sanitizing_limit, stop);
  if (!ran && ran.error().code == ErrorCode::cancelled) return tl::make_unexpected(ran.error());
  if (!ran) return SanitizerVerdict{Sanitized::unknown, ran.error().message, false};
  const bool ended_well = !ran->timed_out && ran->state.exited && ran->state.code == 0;
  SanitizerVerdict verdict = read_sanitizer(ran->output, ended_well, kernels);
  if (!ran->timed_out || verdict.state == Sanitized::faulty) return verdict;
  slow_tools_.insert(tool);
  return too_slow;
}

/// Adds what the tools say of the call; `how` its tensors lie is told with it.
base::Result<void> DeviceTools::inspect_layout(const OneCall& call, const std::string& how, Inspection& out,
                                               const std::stop_token& stop) {
  std::vector<std::string> clean;
  for (const std::string tool : kSanitizers) {
    TRY_ASSIGN(const SanitizerVerdict verdict, sanitize(tool, call, stop));
    if (verdict.state == Sanitized::faulty) {
      out.finding = fmt::format("compute-sanitizer's {} found: {}{}", tool, verdict.text, how);
      return {};
    }
    if (verdict.state == Sanitized::clean) {
      clean.push_back(tool);
    } else if (verdict.unsupported) {
      why_not_inspected_ = std::string(kNotInspected) + "compute-sanitizer says: " + verdict.text;
      out.notes.push_back(why_not_inspected_);
      break;
    } else {
      out.notes.push_back(fmt::format("not checked by {}{}: {}", tool, how, verdict.text));
    }
  }
  if (!clean.empty()) {
    out.notes.push_back(fmt::format("checked by {} of {}{}: nothing found", fmt::join(clean, ", "),
                                    name_of(*sanitizer_, "compute-sanitizer"), how));
  }
  return {};
}

base::Result<Inspection> DeviceTools::inspect(const OneCall& call, const std::stop_token& stop) {
  Inspection out;
  TRY_ASSIGN(const std::string why, why_not_inspected(stop));
  if (!why.empty()) {
    out.notes.push_back(why);
    return out;
  }
  for (const Layout layout : {Layout::exact, Layout::raced}) {
    OneCall laid_out = call;
    laid_out.request.layout = layout;
    TRY(inspect_layout(laid_out, layout == Layout::exact ? "" : ", tensors as in the race", out, stop));
    if (!out.finding.empty() || !why_not_inspected_.empty()) break;
  }
  return out;
}

}  // namespace accelopt::devices::cuda
