// SPDX-License-Identifier: Apache-2.0
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <memory>

#include <fmt/format.h>

#include "base/utc.hpp"

#include "app/device.hpp"
#include "app/version.hpp"
#include "app/workspace.hpp"
#include "cli/command.hpp"
#include "cli/cuda_environment.hpp"
#include "cli/search_flags.hpp"
#include "evaluation/bundle_runner.hpp"
#include "evaluation/worker.hpp"
#include "targets/cpu/cpu_target.hpp"
#include "targets/cpu/reference.hpp"
#include "targets/cuda/cuda_target.hpp"

namespace accelopt::cli {
namespace {

struct WorkerOptions {
  std::string device;
  std::string compiler;
  std::string bundle;
};

/// Where measured peaks are kept.
std::filesystem::path cache_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");  // NOLINT(concurrency-mt-unsafe): before any thread
  if (cache != nullptr && *cache != '\0') return std::filesystem::path(cache) / "accelopt";
  const char* home = std::getenv("HOME");  // NOLINT(concurrency-mt-unsafe): before any thread
  return home == nullptr || *home == '\0' ? std::filesystem::path()
                                          : std::filesystem::path(home) / ".cache" / "accelopt";
}

/// What the coordinator is told of this machine before it asks for anything.
evaluation::Hello introduce(const std::string& device) {
  evaluation::Hello hello;
  hello.version = kVersion;
  hello.target = device.substr(0, device.find(':'));
  hello.device = device;
  utsname system{};
  if (uname(&system) == 0) {
    hello.host = system.nodename;
    hello.system = std::string(system.sysname) + " " + system.release + " " + system.machine;
  }
  hello.cores = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  std::ifstream processors("/proc/cpuinfo");
  for (std::string line; std::getline(processors, line);) {
    if (!line.starts_with("model name")) continue;
    if (const auto at = line.find(": "); at != std::string::npos) hello.machine = line.substr(at + 2);
    break;
  }
  return hello;
}

/// With the compilers on the PATH.
targets::cpu::CpuOptions cpu_options() {
  targets::cpu::CpuOptions cpu;
  cpu.cache = cache_folder();
  const char* path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): before any thread
  if (path != nullptr && *path != '\0') cpu.search_path = path;
  return cpu;
}

std::unique_ptr<evaluation::Target> cpu_target(const std::string& device, const WorkerOptions& options) {
  targets::cpu::CpuOptions cpu = cpu_options();
  cpu.device = device;
  cpu.compiler = options.compiler;
  return targets::cpu::make_cpu_target(cpu);
}

std::unique_ptr<evaluation::Target> cuda_target(int device, const WorkerOptions& options) {
  targets::cuda::CudaOptions cuda;
  cuda.device = device;
  cuda.cache = cache_folder();
  cuda.build.nvrtc = options.compiler;
  cuda.build.cache = cuda.cache;
  cuda.build.environment = cuda_environment();
  cuda.make_host_reference = [cpu = cpu_options()](const model::Task& task, evaluation::DeviceUse& use,
                                                   const std::stop_token& stop) {
    return targets::cpu::make_cpu_reference(task, cpu, use, stop);
  };
  return targets::cuda::make_cuda_target(cuda);
}

/// @error as parse_device.
base::Result<std::unique_ptr<evaluation::Target>> target_of(const std::string& device, const WorkerOptions& options) {
  TRY_ASSIGN(const DeviceName name, parse_device(device));
  return name.kind == "cuda" ? cuda_target(name.number.value_or(0), options) : cpu_target(device, options);
}

base::Result<Exit> serve(const WorkerOptions& options) {
  const std::string device = options.device.empty() ? "cpu" : options.device;
  TRY_ASSIGN(const auto target, target_of(device, options));
  TRY(evaluation::serve_worker(*target, introduce(device), STDIN_FILENO, STDOUT_FILENO));
  return Exit::done;
}

/// A compiler that a bundle may choose by itself: one of these, perhaps of a certain version, found on the PATH.
bool is_known_compiler(const std::string& name) {
  constexpr std::array<std::string_view, 5> kKnown{"g++", "gcc", "clang++", "clang", "nvcc"};
  const std::string_view base = std::string_view(name).substr(0, name.find('-'));
  const std::string_view version = std::string_view(name).substr(base.size());
  const bool plain = version.find_first_not_of("-.0123456789") == std::string_view::npos;
  return plain && std::find(kKnown.begin(), kKnown.end(), base) != kKnown.end();
}

/// The worker that a bundle asks for, unless the command line says otherwise.
base::Result<DeviceFlags> device_for(const evaluation::Bundle& bundle, const WorkerOptions& options) {
  DeviceFlags flags;
  flags.device = options.device.empty() ? bundle.device : options.device;
  flags.compiler = options.compiler.empty() ? bundle.compiler : options.compiler;
  if (const auto device = parse_device(flags.device); !device) {
    if (!options.device.empty()) return tl::make_unexpected(device.error());
    return base::fail(base::ErrorCode::invalid_argument,
                      "the bundle asks for what is no device here; name one with --device: " + device.error().message);
  }
  const bool own_choice = !options.compiler.empty() || bundle.compiler.empty();
  if (!own_choice && !is_known_compiler(bundle.compiler)) {
    return base::fail(base::ErrorCode::invalid_argument,
                      "the bundle asks for the compiler \"" + bundle.compiler +
                          "\", which is not started on a bundle's word; if it is the right one: --compiler " +
                          bundle.compiler);
  }
  return flags;
}

base::Result<void> execute(Shell& shell, const WorkerOptions& options, const std::filesystem::path& folder) {
  const std::string name = folder.filename().string();
  std::string device;
  evaluation::BundleExecution execution;
  execution.make_evaluator =
      [&](const evaluation::Bundle& bundle) -> base::Result<std::unique_ptr<evaluation::Evaluator>> {
    TRY_ASSIGN(const auto flags, device_for(bundle, options));
    device = flags.device;
    return make_evaluator(shell, flags);
  };
  execution.machine = [&] { return introduce(device); };
  execution.now = base::utc_now;
  execution.notice = [&](const std::string& text) { fmt::print(stderr, "{}: {}\n", name, text); };
  execution.program_version = kVersion;
  auto report = evaluation::execute_bundle(folder, execution, shell.stops.wind_down);
  if (!report) {
    base::Error error = base::with_context(report.error(), folder.string());
    // It may quote the bundle, whose sender need not be kind to terminals.
    std::replace_if(
        error.message.begin(), error.message.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
    return tl::make_unexpected(std::move(error));
  }
  if (report->carried_out + report->left_out == 0) {
    fmt::print("{}: executed already; nothing was left to do\n", folder.string());
  } else {
    fmt::print("{}: {} of {} items measured{}{}; its results are in it. Where the run is: accelopt resume {}\n",
               folder.string(), report->carried_out, report->bundle.items.size(),
               report->left_out == 0 ? "" : fmt::format(", {} not worth it", report->left_out),
               report->done_before == 0 ? "" : fmt::format(", {} done before", report->done_before),
               report->bundle.run);
  }
  return {};
}

base::Result<Exit> execute_bundles(Shell& shell, const WorkerOptions& options) {
  TRY_ASSIGN(const auto folders, evaluation::find_bundles(options.bundle));
  std::optional<base::Error> first;
  for (const std::filesystem::path& folder : folders) {
    const auto executed = execute(shell, options, folder);
    if (executed) continue;
    if (executed.error().code == base::ErrorCode::cancelled) {
      return base::fail(base::ErrorCode::cancelled,
                        executed.error().message + "; what is done is kept; the same command continues");
    }
    if (folders.size() > 1) fmt::print(stderr, "accelopt: {}\n", executed.error().message);
    if (!first) first = executed.error();
  }
  if (first) return tl::make_unexpected(*first);
  return Exit::done;
}

}  // namespace

void add_worker(CommandLine& app, Action& chosen) {
  Command command = app.add("worker", "Build and measure for another accelopt, connected or by bundles");
  command.footer(
      "Examples (docs/devices.md):\n"
      "  accelopt worker --device cpu:1                          JSON lines on standard input and output\n"
      "  accelopt run my_task --worker \"ssh host accelopt worker --device cpu:1\"\n"
      "  accelopt worker --bundle bundles/0001-3fa9c1d2          what `accelopt run --defer bundles` put off\n");
  auto options = std::make_shared<WorkerOptions>();
  command.option("--device", &options->device,
                 "cpu, cpu:N for kernels on core N, or cuda:N (default: cpu; with --bundle, what the bundle asks for)");
  command.option("--compiler", &options->compiler,
                 "g++, clang++, or a path to one (default: the first that there is); for cuda, NVRTC's library");
  command.option("--bundle", &options->bundle,
                 "Execute this bundle, or all in this folder, and write the results into it");
  command.chosen([&chosen, options] {
    chosen = [options](Shell& shell) {
      return options->bundle.empty() ? serve(*options) : execute_bundles(shell, *options);
    };
  });
}

}  // namespace accelopt::cli
