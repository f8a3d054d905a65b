// SPDX-License-Identifier: Apache-2.0
#include "app/device.hpp"

#include <algorithm>
#include <charconv>
#include <mutex>

#include <fmt/format.h>

#include "app/version.hpp"
#include "base/problem.hpp"
#include "base/shell.hpp"
#include "base/text.hpp"
#include "model/target_description.hpp"
#include "sandbox/probe.hpp"

namespace accelopt::app {

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

namespace {

/// Once a command, and where it cannot be missed: what kernels that a model wrote could do on this machine.
void warn_of_missing_isolation(const Shell& shell) {
  static std::once_flag said;
  std::call_once(said, [&shell] {
    const std::string missing = sandbox::missing_isolation();
    if (!missing.empty()) shell.warn("the sandbox is incomplete: " + missing);
  });
}

std::string greeting_text(const worker::Hello& hello) {
  std::string text = fmt::format("measuring on {}", hello.host.empty() ? "another machine" : hello.host);
  if (!hello.device.empty()) text += fmt::format(", device {}", hello.device);
  if (!hello.machine.empty()) text += fmt::format(" ({}, {} cores, {})", hello.machine, hello.cores, hello.system);
  if (hello.version != kVersion)
    text += fmt::format("; its accelopt is {}, this one {}: they understand each other", hello.version, kVersion);
  return text;
}

}  // namespace

base::Json to_json(const DeviceFlags& flags) {
  base::Json out = {{"device", flags.device},
                    {"compiler", flags.compiler},
                    {"worker", flags.workers.empty() ? "" : flags.workers.front().command},
                    {"defer", flags.defer}};
  if (!flags.tools.empty()) out["tools"] = flags.tools;
  const bool plain = flags.workers.empty() || (flags.workers.size() == 1 && flags.workers.front().name.empty());
  if (plain) return out;
  for (const WorkerConfig& worker : flags.workers)
    out["workers"].push_back({{"command", worker.command}, {"name", worker.name}});
  return out;
}

base::Result<DeviceFlags> device_flags_from(const base::Json& json) {
  DeviceFlags flags;
  base::read_field(json, "device", flags.device);
  base::read_field(json, "compiler", flags.compiler);
  base::read_field(json, "defer", flags.defer);
  base::read_field(json, "tools", flags.tools);
  std::string worker;
  base::read_field(json, "worker", worker);
  if (!worker.empty()) flags.workers = {{worker}};
  if (!json.contains("workers")) return flags;
  flags.workers.clear();
  for (const base::Json& one : json["workers"]) {
    WorkerConfig& read = flags.workers.emplace_back();
    base::read_field(one, "command", read.command);
    base::read_field(one, "name", read.name);
  }
  return flags;
}

DeviceFlags with_configured_workers(DeviceFlags flags, const Config& config) {
  const bool says_where = flags.device_given || !flags.compiler.empty() || !flags.defer.empty();
  if (flags.workers.empty() && !says_where) flags.workers = config.workers;
  return flags;
}

base::Result<DeviceName> parse_device(const std::string& name) {
  const std::string possible = "write " + device_names();
  DeviceName device;
  const std::string kind = name.substr(0, name.find(':'));
  const model::TargetDescription* const target = model::find_target_of_device(name);
  if (target == nullptr || !model::is_measured(*target)) {
    return base::fail(base::ErrorCode::invalid_argument,
                      fmt::format("device \"{}\" is of no kind that this version measures on; {}", name, possible));
  }
  device.kind = target->name;
  if (kind.size() == name.size() ||
      std::find(target->models.begin(), target->models.end(), name) != target->models.end())
    return device;
  const std::string_view digits = std::string_view(name).substr(kind.size() + 1);
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
  if (flags.workers.empty()) {
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
  for (const WorkerConfig& worker : flags.workers) TRY(base::split_command(worker.command));
  return {};
}

base::Result<void> check_target(const DeviceFlags& flags, const model::Task& task) {
  if (!flags.workers.empty() || !flags.defer.empty() || task.repo) return {};
  TRY_ASSIGN(const DeviceName device, parse_device(flags.device));
  if (device.kind == task.target || device.kind == model::device_kind(task.target)) return {};
  const model::TargetDescription& target = model::target_of(task);
  return base::fail(base::ErrorCode::unsupported,
                    fmt::format("the task is for target {}, and device {} measures other kernels; choose device {}",
                                task.target, flags.device, target.device.empty() ? task.target : target.device));
}

std::string place_of(const DeviceFlags& flags) {
  if (!flags.defer.empty()) return "by bundles in " + flags.defer;
  if (!flags.workers.empty()) {
    const std::string names = base::joined(flags.workers, ", ", [](const WorkerConfig& worker) {
      return base::in_quotes(worker.name.empty() ? worker.command : worker.name);
    });
    return flags.workers.size() == 1 ? "through the worker " + names
                                     : fmt::format("through {} workers: {}", flags.workers.size(), names);
  }
  return "on device " + flags.device;
}

base::Result<worker::PoolOptions> pool_options(const Shell& shell, const DeviceFlags& flags, const Config& config) {
  TRY(check(flags));
  worker::PoolOptions options;
  if (flags.workers.empty()) {
    worker::WorkerCommand local{{shell.program, "worker", "--device", flags.device}};
    if (!flags.compiler.empty()) local.words.insert(local.words.end(), {"--compiler", flags.compiler});
    options.workers.push_back(std::move(local));
  }
  for (const WorkerConfig& worker : flags.workers) {
    TRY_ASSIGN(auto words, base::split_command(worker.command));
    options.workers.push_back({std::move(words), worker.name});
  }
  for (const auto& [name, model] : config.models) {
    if (!model.key_env.empty()) options.connection.withheld.push_back(model.key_env);
  }
  return options;
}

std::shared_ptr<worker::Placement> make_placement(const DeviceFlags& flags, std::size_t side_by_side) {
  if (flags.workers.size() < 2) return nullptr;
  return std::make_shared<worker::Placement>(flags.workers.size(), std::max<std::size_t>(side_by_side, 1));
}

base::Result<std::unique_ptr<evaluation::Evaluator>> make_evaluator(const Shell& shell, const DeviceFlags& flags,
                                                                    const Config& config, DelayPorts ports) {
  TRY_ASSIGN(auto options, pool_options(shell, flags, config));
  worker::ConnectionOptions& connection = options.connection;
  connection.waiting = ports.waiting ? std::move(ports.waiting) : [warn = shell.warn](const model::DeviceWait& wait) {
    warn(model::describe(wait));
  };
  connection.progressed = std::move(ports.progressed);
  connection.stop_waiting = ports.stop_waiting.value_or(shell.stops.wind_down);
  if (flags.workers.empty()) {
    warn_of_missing_isolation(shell);
    return worker::make_worker_pool(std::move(options));
  }
  options.placement = std::move(ports.placement);
  connection.notice = ports.notice ? ports.notice : shell.warn;
  if (ports.notice) {
    connection.greeted = [notice = std::move(ports.notice)](const worker::Hello& hello) {
      notice(greeting_text(hello));
    };
  }
  return worker::make_worker_pool(std::move(options));
}

}  // namespace accelopt::app
