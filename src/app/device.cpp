// SPDX-License-Identifier: Apache-2.0
#include "app/device.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "app/version.hpp"
#include "sandbox/probe.hpp"

namespace accelopt::app {

namespace {

/// Once a command, and where it cannot be missed: what kernels that a model wrote could do on this machine.
void warn_of_missing_isolation(const Shell& shell) {
  static const std::string missing = sandbox::missing_isolation();
  static bool said = false;
  if (missing.empty() || said) return;
  said = true;
  shell.warn("the sandbox is incomplete: " + missing);
}

std::string greeting_text(const evaluation::Hello& hello) {
  std::string text = fmt::format("measuring on {}", hello.host.empty() ? "another machine" : hello.host);
  if (!hello.device.empty()) text += fmt::format(", device {}", hello.device);
  if (!hello.machine.empty()) text += fmt::format(" ({}, {} cores, {})", hello.machine, hello.cores, hello.system);
  if (hello.version != kVersion)
    text += fmt::format("; its accelopt is {}, this one {}: they understand each other", hello.version, kVersion);
  return text;
}

}  // namespace

base::Result<DeviceName> parse_device(const std::string& name) {
  constexpr std::string_view kPossible = "write cpu, cpu:N for kernels on core N, or cuda:N for CUDA device N";
  DeviceName device;
  device.kind = name.substr(0, name.find(':'));
  if (device.kind != "cpu" && device.kind != "cuda") {
    return base::fail(base::ErrorCode::invalid_argument,
                      fmt::format("device \"{}\" is of no kind that this version measures on; {}", name, kPossible));
  }
  if (device.kind.size() == name.size()) return device;
  const std::string_view digits = std::string_view(name).substr(device.kind.size() + 1);
  const bool is_number = !digits.empty() && digits.size() < 5 &&
                         std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!is_number) {
    return base::fail(base::ErrorCode::invalid_argument,
                      fmt::format("device \"{}\": \"{}\" is no number; {}", name, digits, kPossible));
  }
  std::from_chars(digits.data(), digits.data() + digits.size(), device.number.emplace());
  return device;
}

base::Result<void> check(const DeviceFlags& flags) {
  if (flags.worker.empty()) {
    TRY(parse_device(flags.device));
    return {};
  }
  if (!flags.defer.empty()) {
    return base::fail(base::ErrorCode::invalid_argument,
                      "--defer puts every evaluation off until a bundle is executed, and --worker has them made at "
                      "once; give one of them");
  }
  if (flags.device != DeviceFlags().device || !flags.compiler.empty()) {
    return base::fail(base::ErrorCode::invalid_argument,
                      "--device and --compiler belong into the worker's own command: --worker \"... accelopt worker "
                      "--device " +
                          flags.device + "\"");
  }
  TRY(evaluation::split_command(flags.worker));
  return {};
}

std::string place_of(const DeviceFlags& flags) {
  if (!flags.defer.empty()) return "by bundles in " + flags.defer;
  if (!flags.worker.empty()) return "through the worker \"" + flags.worker + "\"";
  return "on device " + flags.device;
}

base::Result<evaluation::PoolOptions> pool_options(const Shell& shell, const DeviceFlags& flags, const Config& config) {
  TRY(check(flags));
  evaluation::PoolOptions options;
  if (flags.worker.empty()) {
    options.command = {shell.program, "worker", "--device", flags.device};
    if (!flags.compiler.empty()) options.command.insert(options.command.end(), {"--compiler", flags.compiler});
  } else {
    TRY_ASSIGN(options.command, evaluation::split_command(flags.worker));
  }
  for (const auto& [name, model] : config.models) {
    if (!model.key_env.empty()) options.withheld.push_back(model.key_env);
  }
  return options;
}

base::Result<std::unique_ptr<evaluation::Evaluator>> make_evaluator(const Shell& shell, const DeviceFlags& flags,
                                                                    const Config& config, DelayPorts ports) {
  TRY_ASSIGN(auto options, pool_options(shell, flags, config));
  options.waiting = ports.waiting ? std::move(ports.waiting)
                                  : [warn = shell.warn](const model::DeviceWait& wait) { warn(model::describe(wait)); };
  options.progressed = std::move(ports.progressed);
  options.stop_waiting = ports.stop_waiting.value_or(shell.stops.wind_down);
  if (flags.worker.empty()) {
    warn_of_missing_isolation(shell);
  } else if (ports.notice) {
    options.greeted = [notice = std::move(ports.notice)](const evaluation::Hello& hello) {
      notice(greeting_text(hello));
    };
  }
  return evaluation::make_worker_pool(std::move(options));
}

}  // namespace accelopt::app
