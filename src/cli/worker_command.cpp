// SPDX-License-Identifier: Apache-2.0
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <memory>

#include <fmt/format.h>

#include "base/utc.hpp"

#include "app/device.hpp"
#include "app/target.hpp"
#include "app/version.hpp"
#include "app/workspace.hpp"
#include "bundles/runner.hpp"
#include "cli/command.hpp"
#include "cli/search_flags.hpp"
#include "report/text_width.hpp"
#include "worker/serve.hpp"

namespace accelopt::cli {
namespace {

struct WorkerOptions {
  std::string device;
  std::string compiler;
  std::string bundle;
};

/// What the coordinator is told of this machine before it asks for anything.
worker::Hello introduce(const std::string& device) {
  worker::Hello hello;
  hello.version = app::kVersion;
  const auto name = app::parse_device(device);
  hello.target = name ? name->kind : device;
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

base::Result<Exit> serve(const app::Shell& shell, const WorkerOptions& options) {
  const std::string device = options.device.empty() ? app::DeviceFlags().device : options.device;
  TRY_ASSIGN(const auto target, app::make_target(shell, device, options.compiler));
  TRY(worker::serve_worker(*target, introduce(device), STDIN_FILENO, STDOUT_FILENO));
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
base::Result<app::DeviceFlags> device_for(const bundles::Bundle& bundle, const WorkerOptions& options) {
  app::DeviceFlags flags;
  flags.device = options.device.empty() ? bundle.device : options.device;
  flags.compiler = options.compiler.empty() ? bundle.compiler : options.compiler;
  if (const auto device = app::parse_device(flags.device); !device) {
    if (!options.device.empty()) return tl::make_unexpected(device.error());
    return base::fail(
        base::ErrorCode::invalid_argument,
        "this machine has no such device as the bundle asks for; name one with --device: " + device.error().message);
  }
  const bool own_choice = !options.compiler.empty() || bundle.compiler.empty();
  if (!own_choice && !is_known_compiler(bundle.compiler)) {
    return base::fail(base::ErrorCode::invalid_argument,
                      "the bundle asks for the compiler \"" + bundle.compiler +
                          "\", which a bundle alone may not start; if it is the right one, add --compiler " +
                          bundle.compiler);
  }
  return flags;
}

base::Result<void> execute(app::Shell& shell, const WorkerOptions& options, const std::filesystem::path& folder) {
  const std::string name = folder.filename().string();
  std::string device;
  bundles::BundleExecution execution;
  execution.make_evaluator =
      [&](const bundles::Bundle& bundle) -> base::Result<std::unique_ptr<evaluation::Evaluator>> {
    TRY_ASSIGN(const auto flags, device_for(bundle, options));
    device = flags.device;
    return app::make_evaluator(shell, flags);
  };
  execution.machine = [&] { return introduce(device); };
  execution.now = base::utc_now;
  execution.notice = [&](const std::string& text) {
    fmt::print(stderr, "{}: {}\n", name, report::printable_lines(text));
  };
  execution.program_version = app::kVersion;
  auto report = bundles::execute_bundle(folder, execution, shell.stops.wind_down);
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
    fmt::print(
        "{}: {} of {} items measured{}{}; it holds the results. On the run's machine, continue with: accelopt resume "
        "{}\n",
        folder.string(), report->carried_out, report->bundle.items.size(),
        report->left_out == 0 ? "" : fmt::format(", {} not worth it", report->left_out),
        report->done_before == 0 ? "" : fmt::format(", {} done before", report->done_before), report->bundle.run);
  }
  return {};
}

base::Result<Exit> execute_bundles(app::Shell& shell, const WorkerOptions& options) {
  TRY_ASSIGN(const auto folders, bundles::find_bundles(options.bundle));
  std::optional<base::Error> first;
  for (const std::filesystem::path& folder : folders) {
    const auto executed = execute(shell, options, folder);
    if (executed) continue;
    if (executed.error().code == base::ErrorCode::cancelled) {
      return base::fail(base::ErrorCode::cancelled,
                        executed.error().message + "; what is done is kept; the same command continues");
    }
    if (folders.size() > 1) fmt::print(stderr, "accelopt: {}\n", report::printable_lines(executed.error().message));
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
      "  accelopt worker --bundle bundles/0001-3fa9c1d2          what `accelopt run --defer bundles` deferred\n");
  auto options = std::make_shared<WorkerOptions>();
  command.option("--device", &options->device,
                 "cpu, cpu:N for kernels on core N, or cuda:N (default: cpu; with --bundle, what the bundle asks for)");
  command.option("--compiler", &options->compiler,
                 "g++, clang++, or a path to one (default: the first one found); for cuda, NVRTC's library");
  command.option("--bundle", &options->bundle,
                 "Execute this bundle, or all in this folder, and write the results into it");
  command.chosen([&chosen, options] {
    chosen = [options](app::Shell& shell) {
      return options->bundle.empty() ? serve(shell, *options) : execute_bundles(shell, *options);
    };
  });
}

}  // namespace accelopt::cli
