// SPDX-License-Identifier: Apache-2.0
#include "cli/device.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "cli/version.hpp"
#include "model/target_description.hpp"
#include "sandbox/probe.hpp"

namespace accelopt::cli {

namespace {

/// "cpu, cpu:N for kernels on core N, or cuda:N for CUDA device N"
std::string device_names() {
  std::vector<std::string> names;
  for (const model::TargetDescription* target : model::targets()) {
    if (model::is_measured(*target)) names.push_back(target->devices);
  }
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i)
    out += (i == 0 ? "" : i + 1 == names.size() ? ", or " : ", ") + names[i];
  return out;
}

}  // namespace

void declare(Command& command, DeviceFlags& flags) {
  command.option("--device", &flags.device, device_names()).show_default();
  command.option("--compiler", &flags.compiler,
                 "g++, clang++, or a path to one (default: the first that there is); for cuda, NVRTC's library");
  command.option("--worker", &flags.worker,
                 "Command that starts a worker elsewhere, e.g. \"ssh host accelopt worker --device cpu:1\" "
                 "(docs/devices.md)");
}

namespace {

/// Once a command, and where it cannot be missed: what kernels that a model wrote could do on this machine.
void warn_of_missing_isolation() {
  static const std::string missing = sandbox::missing_isolation();
  static bool said = false;
  if (missing.empty() || said) return;
  said = true;
  fmt::print(stderr, "accelopt: the sandbox is incomplete: {}\n", missing);
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
  const std::string possible = "write " + device_names();
  DeviceName device;
  device.kind = name.substr(0, name.find(':'));
  const model::TargetDescription* const target = model::find_target(device.kind);
  if (target == nullptr || !model::is_measured(*target)) {
    return base::fail(base::ErrorCode::invalid_argument,
                      fmt::format("device \"{}\" is of no kind that this version measures on; {}", name, possible));
  }
  if (device.kind.size() == name.size()) return device;
  const std::string_view digits = std::string_view(name).substr(device.kind.size() + 1);
  const bool is_number = !digits.empty() && digits.size() < 5 &&
                         std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!is_number) {
    return base::fail(base::ErrorCode::invalid_argument,
                      fmt::format("device \"{}\": \"{}\" is no number; {}", name, digits, possible));
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
  options.waiting = ports.waiting ? std::move(ports.waiting) : [](const model::DeviceWait& wait) {
    fmt::print(stderr, "accelopt: {}\n", model::describe(wait));
  };
  options.progressed = std::move(ports.progressed);
  options.stop_waiting = ports.stop_waiting.value_or(shell.stops.wind_down);
  if (flags.worker.empty()) {
    warn_of_missing_isolation();
  } else if (ports.notice) {
    options.greeted = [notice = std::move(ports.notice)](const evaluation::Hello& hello) {
      notice(greeting_text(hello));
    };
  }
  return evaluation::make_worker_pool(std::move(options));
}

}  // namespace accelopt::cli
