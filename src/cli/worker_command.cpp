// SPDX-License-Identifier: Apache-2.0
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <memory>

#include "cli/command.hpp"
#include "cli/version.hpp"
#include "evaluation/worker.hpp"
#include "targets/cpu/cpu_target.hpp"

namespace accelopt::cli {
namespace {

struct Options {
  std::string device = "cpu";
  std::string compiler;
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
evaluation::Hello introduce(const Options& options) {
  evaluation::Hello hello;
  hello.version = kVersion;
  hello.target = options.device.substr(0, options.device.find(':'));
  hello.device = options.device;
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

base::Result<Exit> serve(const Options& options) {
  if (options.device != "cpu" && !options.device.starts_with("cpu:")) {
    return base::fail(
        base::ErrorCode::unsupported,
        "device " + options.device + " is of no kind that this version measures; known are cpu and cpu:N");
  }
  targets::cpu::CpuOptions cpu;
  cpu.device = options.device;
  cpu.compiler = options.compiler;
  cpu.cache = cache_folder();
  const char* path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): before any thread
  if (path != nullptr && *path != '\0') cpu.search_path = path;
  const auto target = targets::cpu::make_cpu_target(cpu);
  TRY(evaluation::serve_worker(*target, introduce(options), STDIN_FILENO, STDOUT_FILENO));
  return Exit::done;
}

}  // namespace

void add_worker(CommandLine& app, Action& chosen) {
  Command command =
      app.add("worker", "Build and measure for another accelopt: JSON lines on standard input and output");
  command.footer("Example (what `accelopt run` starts by itself):\n  accelopt worker --device cpu:1\n");
  auto options = std::make_shared<Options>();
  command.option("--device", &options->device, "cpu, or cpu:N for kernels on core N").show_default();
  command.option("--compiler", &options->compiler, "g++, clang++, or a path to one (default: the first that there is)");
  command.chosen([&chosen, options] { chosen = [options](Shell&) { return serve(*options); }; });
}

}  // namespace accelopt::cli
