// SPDX-License-Identifier: Apache-2.0
// Where kernels are built and measured, as the command line says it: a device of this machine, or a worker that any
// command starts.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/config.hpp"
#include "app/shell.hpp"
#include "base/result.hpp"
#include "evaluation/evaluator.hpp"
#include "worker/pool.hpp"

namespace accelopt::app {

/// Where and with what kernels are built and measured.
struct DeviceFlags {
  std::string device = "cpu";         ///< "cpu", "cpu:<core>" or "cuda:<number>"
  bool device_given = false;          ///< on the command line
  std::string compiler;               ///< empty: the first that there is
  std::vector<WorkerConfig> workers;  ///< elsewhere; none: one on this machine
  std::vector<std::string> tools{};   ///< of a repository: folders with programs that its commands need
  std::string defer;                  ///< folder for bundles, which are executed elsewhere; empty: nothing is put off
};

/// As the journal keeps them. One worker without a name stands as it always did,
/// and of several the first stands there too.
base::Json to_json(const DeviceFlags& flags);
/// Reads what is there. @error parse.
base::Result<DeviceFlags> device_flags_from(const base::Json& json);

/// The flags, measuring on the configuration's workers where they say nothing of a place themselves.
DeviceFlags with_configured_workers(DeviceFlags flags, const Config& config);

/// A device of this machine, as its name says it.
struct DeviceName {
  std::string kind;           ///< the name of its target
  std::optional<int> number;  ///< behind the colon; none: the target alone was named
};
/// "cpu, cpu:N for kernels on core N, or cuda:N for CUDA device N"
std::string device_names();

/// Reads a target's name, "cpu", or "cpu:2"; whether there is such a device is found out where it is opened.
/// @error invalid_argument: of no known kind, or malformed; the message says what is possible.
base::Result<DeviceName> parse_device(const std::string& name);

/// Whether the flags can be used, and together, before any worker is started. @error invalid_argument: they contradict
/// one another, the device's name is none, or a worker's command cannot be split into words.
base::Result<void> check(const DeviceFlags& flags);

/// Whether a device of this machine suits the task, before any worker is started; workers say themselves what they
/// measure on. @error unsupported: it is one for other kernels; the message names one for these.
base::Result<void> check_target(const DeviceFlags& flags, const model::Task& task);

/// "on device cpu:1", "through the worker \"ssh host ...\"", "through 2 workers: ...", "by bundles in DIR".
std::string place_of(const DeviceFlags& flags);

/// How workers are started: their commands, and the variables that hold keys and stay out of their environment.
/// @error as check.
base::Result<worker::PoolOptions> pool_options(const Shell& shell, const DeviceFlags& flags, const Config& config = {});

/// Progress callbacks for what delays measuring; by default the shell, and its own signals.
struct DelayPorts {
  /// Told where a worker elsewhere runs, and what became of one of several.
  std::function<void(const std::string&)> notice;
  std::function<void(const model::DeviceWait&)> waiting;      ///< told for whom the device is waited
  std::optional<std::stop_token> stop_waiting;                ///< ends such waits
  std::function<void(const model::StepShare&)> progressed{};  ///< told how far a measurement is
  std::shared_ptr<worker::Placement> placement{};             ///< of the workers, with other runs; null: alone
};

/// On which workers runs measure that go on side by side; null: there is one worker.
std::shared_ptr<worker::Placement> make_placement(const DeviceFlags& flags, std::size_t side_by_side);

/// The evaluator that works through worker processes of its own. @error as check.
base::Result<std::unique_ptr<evaluation::Evaluator>> make_evaluator(const Shell& shell, const DeviceFlags& flags,
                                                                    const Config& config = {}, DelayPorts ports = {});

}  // namespace accelopt::app
