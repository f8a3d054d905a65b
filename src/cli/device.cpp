// SPDX-License-Identifier: Apache-2.0
#include "cli/device.hpp"

#include <algorithm>
#include <charconv>
#include <mutex>

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
  command.option("--device", &flags.device, device_names()).show_default().when_given([&flags] {
    flags.device_given = true;
  });
  command.option("--compiler", &flags.compiler,
                 "g++, clang++, or a path to one (default: the first that there is); for cuda, NVRTC's library");
  declare_workers(command, flags.workers,
                  "Command that starts a worker elsewhere, e.g. \"ssh host accelopt worker --device cpu:1\"; may be "
                  "repeated (docs/devices.md)");
}

namespace {

/// Once a command, and where it cannot be missed: what kernels that a model wrote could do on this machine.
void warn_of_missing_isolation() {
  static std::once_flag said;
  std::call_once(said, [] {
    const std::string missing = sandbox::missing_isolation();
    if (!missing.empty()) fmt::print(stderr, "accelopt: the sandbox is incomplete: {}\n", missing);
  });
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

void declare_workers(Command& command, std::vector<WorkerConfig>& workers, const std::string& help) {
  command.option(
      "--worker", [&workers](const std::string& text) { workers.push_back({text}); }, help);
}

base::Json to_json(const DeviceFlags& flags) {
  base::Json out = {{"device", flags.device},
                    {"compiler", flags.compiler},
                    {"worker", flags.workers.empty() ? "" : flags.workers.front().command},
                    {"defer", flags.defer}};
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
  base::read_field(json, "returned", flags.returned);
  base::read_field(json, "rewrite", flags.rewrite);
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
  for (const WorkerConfig& worker : flags.workers) TRY(evaluation::split_command(worker.command));
  return {};
}

std::string place_of(const DeviceFlags& flags) {
  if (!flags.defer.empty()) return "by bundles in " + flags.defer;
  if (!flags.workers.empty()) {
    std::string names;
    for (const WorkerConfig& worker : flags.workers) {
      names += names.empty() ? "\"" : ", \"";
      names += (worker.name.empty() ? worker.command : worker.name) + "\"";
    }
    return flags.workers.size() == 1 ? "through the worker " + names
                                     : fmt::format("through {} workers: {}", flags.workers.size(), names);
  }
  return "on device " + flags.device;
}

base::Result<evaluation::PoolOptions> pool_options(const Shell& shell, const DeviceFlags& flags, const Config& config) {
  TRY(check(flags));
  evaluation::PoolOptions options;
  if (flags.workers.empty()) {
    evaluation::WorkerCommand local{{shell.program, "worker", "--device", flags.device}};
    if (!flags.compiler.empty()) local.words.insert(local.words.end(), {"--compiler", flags.compiler});
    options.workers.push_back(std::move(local));
  }
  for (const WorkerConfig& worker : flags.workers) {
    TRY_ASSIGN(auto words, evaluation::split_command(worker.command));
    options.workers.push_back({std::move(words), worker.name});
  }
  for (const auto& [name, model] : config.models) {
    if (!model.key_env.empty()) options.connection.withheld.push_back(model.key_env);
  }
  return options;
}

base::Result<std::unique_ptr<evaluation::Evaluator>> make_evaluator(const Shell& shell, const DeviceFlags& flags,
                                                                    const Config& config, DelayPorts ports) {
  TRY_ASSIGN(auto options, pool_options(shell, flags, config));
  evaluation::ConnectionOptions& connection = options.connection;
  connection.waiting = ports.waiting ? std::move(ports.waiting) : [](const model::DeviceWait& wait) {
    fmt::print(stderr, "accelopt: {}\n", model::describe(wait));
  };
  connection.progressed = std::move(ports.progressed);
  connection.stop_waiting = ports.stop_waiting.value_or(shell.stops.wind_down);
  if (flags.workers.empty()) {
    warn_of_missing_isolation();
    return evaluation::make_worker_pool(std::move(options));
  }
  connection.notice = [notice = ports.notice](const std::string& text) {
    if (notice) return notice(text);
    fmt::print(stderr, "accelopt: {}\n", text);
  };
  if (ports.notice) {
    connection.greeted = [notice = std::move(ports.notice)](const evaluation::Hello& hello) {
      notice(greeting_text(hello));
    };
  }
  return evaluation::make_worker_pool(std::move(options));
}

}  // namespace accelopt::cli
