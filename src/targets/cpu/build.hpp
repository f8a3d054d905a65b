// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/once_map.hpp"
#include "base/result.hpp"
#include "evaluation/target.hpp"
#include "model/evaluation.hpp"
#include "model/task.hpp"
#include "sandbox/pause_gate.hpp"
#include "targets/cpu/compiler.hpp"

namespace accelopt::targets::cpu {

/// A built solution: the report, and when it was built the shared object itself.
struct BuiltKernel {
  model::BuildReport report;
  std::string shared_object;           ///< the file's bytes
  std::vector<std::string> libraries;  ///< that it needs
};
using BuiltKernelPtr = std::shared_ptr<const BuiltKernel>;

/// Builds the candidates of one task and keeps what it built. Every function may be called from many threads.
class KernelBuilder {
 public:
  struct Options {
    Compiler compiler;
    std::vector<int> cores;              ///< where compilers may run; empty: anywhere
    sandbox::PauseGate* gate = nullptr;  ///< stops builds while something is measured
  };

  /// Compiles the task's glue. @error io and as compile: the toolchain does not work; exhausted, unavailable, io: the
  /// compiler failed because of this machine (syntax/machine_failure.hpp), here and below.
  static base::Result<std::unique_ptr<KernelBuilder>> create(const model::Task& task, Options options,
                                                             const std::stop_token& stop);

  /// Builds the solution, with its code placed as said, or returns what was built before. A solution that does not
  /// build is a report.
  /// @error as compile; invalid_argument: no source or a source's name with a path in it.
  base::Result<BuiltKernelPtr> build(const model::Kernel& kernel, std::stop_token stop,
                                     evaluation::Placement placement = evaluation::Placement::usual);

  /// The file with the lines of the source in it: never loaded, only read. Its code is the same, which the caller
  /// checks.
  /// @error as build; unsupported: it does not build so.
  base::Result<std::string> build_with_lines(const model::Kernel& kernel, std::stop_token stop);

  /// Builds the reference with `real` as "double" or "float". @error invalid_argument: it does not build, with
  /// diagnostics.
  base::Result<BuiltKernelPtr> build_reference(const std::string& real, std::stop_token stop);

  /// Builds a kernel of our own that does nothing. @error as build_reference.
  base::Result<BuiltKernelPtr> build_idle(std::stop_token stop);

  [[nodiscard]] const std::string& task_header() const { return header_; }
  /// The flags of every kernel, as text, for the record.
  [[nodiscard]] std::string flags_text() const;
  [[nodiscard]] std::string build_id(const model::Kernel& kernel) const;

 private:
  KernelBuilder(const model::Task& task, Options options);
  base::Result<BuiltKernelPtr> build_now(const model::Kernel& kernel, std::stop_token stop,
                                         evaluation::Placement placement);
  base::Result<std::string> compile_glue(const std::string& header, const std::string& text,
                                         const std::string& definitions, const std::stop_token& stop);

  model::Task task_;
  Options options_;
  std::string header_;
  std::string glue_object_;
  base::OnceMap<BuiltKernel> built_;
};

}  // namespace accelopt::targets::cpu
