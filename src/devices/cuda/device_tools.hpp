// SPDX-License-Identifier: Apache-2.0
// Nsight Compute and compute-sanitizer over one call: each runs `accelopt-device --one-call`, a process of its own
// beside the resident one, which is idle meanwhile. The device's lock is the caller's to hold.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "devices/cuda/find_tool.hpp"
#include "devices/cuda/protocol.hpp"
#include "devices/cuda/sanitizer_report.hpp"
#include "devices/cuda/tool_folder.hpp"
#include "evaluation/target.hpp"
#include "sandbox/run.hpp"

namespace accelopt::devices::cuda {

struct ToolOptions {
  std::string server;                              ///< path of accelopt-device
  std::map<std::string, std::string> environment;  ///< as find_tool reads it
  std::chrono::seconds counting_limit{180};        ///< one run of Nsight Compute
  std::chrono::seconds sanitizing_limit{60};       ///< one run of one tool of compute-sanitizer
  /// Frees device memory that the worker could make again.
  std::function<base::Result<void>()> release_memory;
};

/// A call as it is written for accelopt-device; the bulk bytes in the request's order.
struct OneCall {
  OneCallRequest request;
  std::vector<std::string> bulk;
};

class DeviceTools {
 public:
  /// What killed processes have left behind is removed.
  explicit DeviceTools(ToolOptions options) : options_(std::move(options)) { remove_abandoned_tool_folders(); }

  /// Why no counters can be read here, in one line; empty: they can, as far as is known. Looks for Nsight Compute at
  /// the first time, and tells the same from then on. @error cancelled.
  base::Result<std::string> why_no_counters(const std::stop_token& stop);
  /// The counters of the call's kernels. None, or not those of all kernels, where Nsight Compute or the call failed,
  /// with the reason as note; one that holds for every call is remembered. @error cancelled.
  base::Result<evaluation::HardwareCounts> count(const OneCall& call, model::Cache cache, const std::stop_token& stop);

  /// Likewise of compute-sanitizer.
  base::Result<std::string> why_not_inspected(const std::stop_token& stop);
  /// Memcheck, initcheck and racecheck over the call, one after the other, up to the first finding: with each tensor in
  /// an allocation of exactly its size, and again as in the resident process. A tool that was too
  /// slow for a kernel is not asked again for it: calls come with the smaller workload first. @error cancelled.
  base::Result<evaluation::Inspection> inspect(const OneCall& call, const std::stop_token& stop);

  /// The bytes that the call leaves in its outputs, no tool watching. @error invalid_argument: the call failed; io;
  /// cancelled.
  base::Result<std::vector<std::string>> outputs(OneCall call, const std::stop_token& stop);

  /// Likewise of nvdisasm.
  base::Result<std::string> why_no_disassembly(const std::stop_token& stop);
  /// What nvdisasm prints of the cubin's code; empty where there is none, or it failed. @error cancelled.
  base::Result<std::string> disassembly(const std::string& cubin, const std::stop_token& stop);

 private:
  base::Result<sandbox::RunResult> run(const std::string& program, std::vector<std::string> arguments,
                                       const OneCall& call, std::chrono::seconds limit, const std::stop_token& stop);
  base::Result<sandbox::RunResult> run_once(const std::string& program, const std::vector<std::string>& arguments,
                                            const OneCall& call, std::chrono::seconds limit,
                                            const std::stop_token& stop);
  /// Why there is no such tool, in one line that begins with what is `undone` without it; empty: `tool` is there. Looks
  /// for it at the first time. @error cancelled.
  base::Result<std::string> why_missing(const ToolName& name, std::optional<Tool>& tool, std::string& why,
                                        std::string_view undone, const std::stop_token& stop);
  base::Result<evaluation::HardwareCounts> give_up_counting(const std::string& why);
  base::Result<void> inspect_layout(const OneCall& call, const std::string& how, evaluation::Inspection& out,
                                    const std::stop_token& stop);
  base::Result<SanitizerVerdict> sanitize(const std::string& tool, const OneCall& call, const std::stop_token& stop);

  ToolOptions options_;
  std::optional<base::TemporaryFolder> folder_;  ///< calls, and what the tools write beside them
  std::optional<Tool> ncu_;
  std::optional<Tool> sanitizer_;
  std::optional<Tool> disassembler_;
  std::string why_no_counters_;
  std::string why_not_inspected_;
  std::string why_no_disassembly_;
  std::set<std::string> unknown_metrics_;
  int slow_ = 0;                      ///< runs of Nsight Compute that came to no end
  std::string slow_code_;             ///< machine code that some of the sanitizer's tools were too slow for
  std::set<std::string> slow_tools_;  ///< those tools: with more data they would be slower
};

}  // namespace accelopt::devices::cuda
