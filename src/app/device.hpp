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
#include "evaluation/worker_pool.hpp"

namespace accelopt::app {

/// Where and with what kernels are built and measured.
struct DeviceFlags {
  std::string device = "cpu";  ///< "cpu", "cpu:<core>" or "cuda:<number>"
  std::string compiler;        ///< empty: the first that there is
  std::string worker;          ///< command of a worker elsewhere; empty: one on this machine
  std::string defer;           ///< folder for bundles, which are executed elsewhere; empty: nothing is put off
  std::string returned;        ///< bundles that came back to another folder; of one command, not of the run
  bool rewrite = false;        ///< bundles that are gone are written again; of one command
};

/// A device of this machine, as its name says it.
struct DeviceName {
  std::string kind;           ///< "cpu" or "cuda"
  std::optional<int> number;  ///< the core, or the CUDA device; none: "cpu", "cuda"
};
/// Reads "cpu", "cpu:2", "cuda", "cuda:0"; whether there is such a device is found out where it is opened.
/// @error invalid_argument: of no known kind, or malformed; the message says what is possible.
base::Result<DeviceName> parse_device(const std::string& name);

/// Whether the flags can be used, and together, before any worker is started. @error invalid_argument: they contradict
/// one another, the device's name is none, or the worker's command cannot be split into words.
base::Result<void> check(const DeviceFlags& flags);

/// "on device cpu:1", "through the worker \"ssh host ...\"", "by bundles in DIR".
std::string place_of(const DeviceFlags& flags);

/// How the worker is started: its command, and the variables that hold keys and stay out of its environment.
/// @error as check.
base::Result<evaluation::PoolOptions> pool_options(const Shell& shell, const DeviceFlags& flags,
                                                   const Config& config = {});

/// Who hears of what delays measuring; by default the shell, and its own signals.
struct DelayPorts {
  std::function<void(const std::string&)> notice;             ///< told where a worker elsewhere runs
  std::function<void(const model::DeviceWait&)> waiting;      ///< told for whom the device is waited
  std::optional<std::stop_token> stop_waiting;                ///< ends such waits
  std::function<void(const model::StepShare&)> progressed{};  ///< told how far a measurement is
};

/// The evaluator that works through a worker process of its own. @error as check.
base::Result<std::unique_ptr<evaluation::Evaluator>> make_evaluator(const Shell& shell, const DeviceFlags& flags,
                                                                    const Config& config = {}, DelayPorts ports = {});

}  // namespace accelopt::app
