// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <fmt/format.h>

#include "app/doctor.hpp"
#include "app/workspace.hpp"
#include "cli/command.hpp"
#include "cli/search_flags.hpp"
#include "report/format.hpp"

namespace accelopt::cli {
namespace {

struct DoctorFlags {
  std::string workspace;
  app::DoctorOptions doctor;
  bool json = false;
};

void print(const evaluation::Finding& finding) {
  fmt::print("{:<9} {:<24} {}\n", to_string(finding.state), finding.name, finding.detail);
  if (!finding.advice.empty()) fmt::print("{:<34} -> {}\n", "", finding.advice);
}

void print(const app::NoiseReport& noise) {
  for (const app::NoiseLevel& level : noise.levels) {
    fmt::print("{:<22} a copy slower by {}: found in {} of {} races\n", "", report::format_percent(level.difference),
               level.found, level.races);
  }
  fmt::print("{:<22} identical kernels: called different in {} of {} races\n", "", noise.false_finds, noise.races);
}

/// Each finding is printed as it is made.
app::DoctorPorts ports_of(const DoctorFlags& flags) {
  if (flags.json) {
    const auto line = [](const auto& value) { fmt::print("{}\n", base::canonical(app::to_json(value))); };
    return {.found = line, .measuring = [] {}, .measured = line};
  }
  return {.found = [](const evaluation::Finding& finding) { print(finding); },
          .measuring = [] { fmt::print(stderr, "measuring the machine's noise, up to a minute ...\n"); },
          .measured = [](const app::NoiseReport& noise) { print(noise); }};
}

base::Result<Exit> doctor(const app::Shell& shell, DoctorFlags flags) {
  if (const auto usable = app::check(flags.doctor.device); !usable) return refuse_options(usable.error());
  if (flags.doctor.device.device_given && !flags.doctor.noise) {
    return refuse_options(
        {base::ErrorCode::invalid_argument, "--device says where the noise is measured; add --noise, or leave it out"});
  }
  flags.doctor.workspace = app::find_workspace(flags.workspace);
  TRY_ASSIGN(const int missing, app::examine(shell, flags.doctor, ports_of(flags)));
  return missing == 0 ? Exit::done : Exit::check_failed;
}

}  // namespace

void add_doctor(CommandLine& app, Action& chosen) {
  Command command = app.add("doctor", "Report what this machine has, what is missing, and what to do about it");
  command.footer(
      "Examples:\n"
      "  accelopt doctor\n"
      "  accelopt doctor --noise        also measures how small a difference this machine can detect, in under a "
      "minute\n"
      "  accelopt doctor --worker \"ssh host accelopt worker --device cpu:1\"    can it be reached, and what is it?\n");
  auto options = std::make_shared<DoctorFlags>();
  command.option("--workspace", &options->workspace,
                 "Folder of the runs (default: the nearest .accelopt here or above)");
  command.flag("--noise", options->doctor.noise,
               "Measure the noise of this machine and keep the figure in the workspace");
  command.option("--device", &options->doctor.device.device, "With --noise: cpu, or cpu:N for kernels on core N")
      .show_default()
      .when_given([options] { options->doctor.device.device_given = true; });
  declare_workers(
      command, options->doctor.device.workers,
      "Command that starts a worker elsewhere (docs/devices.md), to see whether it answers; may be repeated");
  command.flag("--json", options->json, "One JSON object per line (docs/json.md)");
  command.chosen([&chosen, options] { chosen = [options](app::Shell& shell) { return doctor(shell, *options); }; });
}

}  // namespace accelopt::cli
