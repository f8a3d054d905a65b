// SPDX-License-Identifier: Apache-2.0
// What is found out of a kernel beside its time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "evaluation/bench.hpp"

namespace accelopt::evaluation {

/// How the names of items end that say for how long, in microseconds, hardware counters saw a kernel at work.
inline constexpr std::string_view kCountedTime = "counted time";
/// What the machine's own counters say of one call of a kernel, where it has a program that reads them.
struct HardwareCounts {
  std::vector<model::ProfileItem> items;
  std::string note;  ///< why there are none or not all, in one line; empty where nothing is to be said
};

/// Where a processor was when it was looked at during calls of a kernel.
struct CodeSamples {
  std::vector<std::uint64_t> own;      ///< addresses in the kernel's file
  std::map<std::string, int> library;  ///< number by the name of a library that it called into
  [[nodiscard]] int count() const;
};

/// What programs that watch a kernel's memory and threads found in one call.
struct Inspection {
  std::string finding;             ///< the first error; empty: none was found
  std::vector<std::string> notes;  ///< what was checked, and what could not be
};

/// Calls of a kernel's own host function, as its users make them, on one set of inputs. Nothing of them is verified.
struct HostCalls {
  std::vector<std::string> outputs;  ///< bytes, in the definition's order
  std::vector<double> microseconds;  ///< of each call, the wait for the device included
  std::string where;                 ///< "PyTorch 2.11.0 (Python 3.12.3)"
};

/// The same beside the kernel as it is measured, on the same inputs.
struct HostRun {
  double call_us = 0;                      ///< median of the function's calls
  std::string where;                       ///< as HostCalls
  std::vector<std::string> differences{};  ///< outputs that are not the same bytes, each in words
};

/// How the bytes of an output differ from others of the same output, in words; empty: they are the same.
std::string difference_of(const model::TensorSpec& output, const std::string& bytes, const std::string& measured);

/// Of the measuring thread, after `Target::open`. A target without any has nothing to override.
class Instruments {
 public:
  virtual ~Instruments() = default;

  /// What the machine code of a solution that was built tells a planner; empty where it cannot be read.
  virtual std::vector<model::ProfileItem> machine_code_profile(const model::Kernel& /*kernel*/,
                                                               std::stop_token /*stop*/) {
    return {};
  }
  /// Reads the machine's counters over one call, on the inputs of a slot that was called with; nothing where the
  /// machine has none to offer. The machine's lock is held. @error cancelled; io.
  virtual base::Result<HardwareCounts> hardware_counts(const model::Kernel& /*kernel*/,
                                                       const Invocation& /*invocation*/, model::Cache /*cache*/,
                                                       std::stop_token /*stop*/) {
    return HardwareCounts();
  }
  /// Where in a kernel's machine code calls on these inputs spend their time; none where the machine does not let that
  /// be seen. The machine's lock is held. @error cancelled; io.
  virtual base::Result<std::optional<CodeSamples>> sample(const model::Kernel& /*kernel*/,
                                                          const Invocation& /*invocation*/, model::Cache /*cache*/,
                                                          std::stop_token /*stop*/) {
    return std::nullopt;
  }
  /// What these samples say of the kernel's loops; empty where they are too few to say anything.
  virtual std::vector<model::ProfileItem> hot_loops(const model::Kernel& /*kernel*/, const CodeSamples& /*samples*/,
                                                    std::stop_token /*stop*/) {
    return {};
  }
  /// Calls the kernel's own host function on a slot's inputs, and compares what it computes with what the kernel does
  /// as it is measured. The machine's lock is held. @error unsupported: kernels of this target have none, or what runs
  /// it is missing; invalid_argument: it failed; cancelled; io.
  virtual base::Result<HostRun> host_run(const model::Kernel& /*kernel*/, const Invocation& /*invocation*/,
                                         std::stop_token /*stop*/) {
    return base::fail(base::ErrorCode::unsupported, "kernels of this target have no host function");
  }
  /// Whether `inspect` may tell anything.
  [[nodiscard]] virtual bool inspects() const { return false; }
  /// Watches one call for what a right result does not show: reads beside tensors or of what nobody wrote, races.
  /// Nothing where the machine has no such program. The machine's lock is held. @error as hardware_counts.
  virtual base::Result<Inspection> inspect(const model::Kernel& /*kernel*/, const Invocation& /*invocation*/,
                                           std::stop_token /*stop*/) {
    return Inspection();
  }
};

}  // namespace accelopt::evaluation
