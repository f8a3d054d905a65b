// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <memory>

#include <fmt/format.h>

#include "base/files.hpp"
#include "cli/command.hpp"
#include "cli/config.hpp"
#include "cli/noise.hpp"
#include "cli/search_flags.hpp"
#include "cli/target_environment.hpp"
#include "cli/team.hpp"
#include "cli/version.hpp"
#include "cli/workspace.hpp"
#include "http/client.hpp"
#include "journal/control.hpp"
#include "llm/endpoint_check.hpp"
#include "report/format.hpp"
#include "syntax/clang.hpp"
#include "targets/registry.hpp"

namespace accelopt::cli {
namespace {

struct DoctorOptions {
  std::string workspace;
  bool noise = false;
  DeviceFlags device;
  bool json = false;
};

using State = evaluation::Finding::State;

std::string_view to_string(State state) {
  switch (state) {
    case State::ok:
      return "ok";
    case State::degraded:
      return "degraded";
    case State::missing:
      return "missing";
  }
  return "ok";
}

/// Prints each finding as it is made.
class Report {
 public:
  explicit Report(bool json) : json_(json) {}

  void add(const std::string& name, State state, const std::string& detail, const std::string& advice = "") {
    if (json_) {
      const base::Json line = {{"type", "check"},           {"schema", 1},      {"name", name},
                               {"state", to_string(state)}, {"detail", detail}, {"advice", advice}};
      fmt::print("{}\n", base::canonical(line));
      return;
    }
    fmt::print("{:<9} {:<24} {}\n", to_string(state), name, detail);
    if (!advice.empty()) fmt::print("{:<34} -> {}\n", "", advice);
  }

 private:
  bool json_;
};

/// What evaluating needs, a target after the other. Counts what is missing.
int check_targets(Report& report) {
  int missing = 0;
  const evaluation::Environment environment = target_environment();
  for (const targets::Entry& target : targets::registry()) {
    missing += target.examine(environment, [&](const evaluation::Finding& finding) {
      report.add(finding.name, finding.state, finding.detail, finding.advice);
    });
  }
  return missing;
}

State word_of(llm::EndpointFinding::State state) {
  switch (state) {
    case llm::EndpointFinding::State::ok:
      return State::ok;
    case llm::EndpointFinding::State::unknown:
      return State::degraded;
    case llm::EndpointFinding::State::missing:
      return State::missing;
  }
  return State::degraded;
}

/// Endpoint, key, model and price of one model. Counts what is missing.
int check_model(Report& report, const std::string& name, ModelConfig model, const std::stop_token& stop) {
  const std::string who = "model " + name;
  if (model.api == "mailbox") {
    report.add(who, State::ok, "a mailbox: somebody else answers, in " + model.dir);
    return 0;
  }
  const auto key = find_key(model, stop);
  if (!key) {
    report.add(who + ": key", State::missing, key.error().message, "set it, or name another key_env or key_command");
    return 1;
  }
  int missing = 0;
  http::Client client;
  for (const llm::EndpointFinding& finding : llm::check_endpoint(endpoint_options(model, *key), client, stop)) {
    report.add(who + ": " + std::string(finding.name), word_of(finding.state), finding.detail, finding.advice);
    missing += finding.state == llm::EndpointFinding::State::missing ? 1 : 0;
  }
  find_list_price(model);
  const bool sure = model.price && model.price_as_of.empty();
  report.add(who + ": price", sure ? State::ok : State::degraded, price_text(model),
             sure          ? ""
             : model.price ? "prices change; to be sure, set price = { input = ..., cached_input = ..., output = ... }"
                           : "costs stay unknown and --max-usd is refused; set price = { input = ..., cached_input = "
                             "..., output = ... }, dollars a million tokens");
  return missing;
}

int check_models(Report& report, const std::filesystem::path& workspace, const std::stop_token& stop) {
  const auto config = load_config(workspace);
  if (!config) {
    report.add("config", State::missing, config.error().message, "mend the file, or move it away");
    return 1;
  }
  for (const std::string& file : config->files) report.add("config", State::ok, file);
  if (config->models.empty()) {
    report.add("models", State::ok, "none configured: the built-in recipes play all roles",
               "to use one: [models.default] in accelopt.toml, or run --base-url URL --model NAME");
  }
  int missing = 0;
  for (const auto& [name, model] : config->models) missing += check_model(report, name, model, stop);
  const auto roles = models_of_roles({}, *config);
  if (!roles) {
    report.add("roles", State::missing, roles.error().message);
    return missing + 1;
  }
  for (const RoleModel& role : *roles) report.add(role.role, State::ok, role.config.model + " (" + role.name + ")");
  return missing;
}

constexpr const char* kNoiseAdvice =
    "small gains are missed here: end other programs, fix the clock rate (cpupower frequency-set -g performance), or "
    "give "
    "the kernels a core of their own (--device cpu:N)";

void add_noise(Report& report, const base::Json& noise) {
  const bool quiet = is_quiet(noise);
  report.add("noise", quiet ? State::ok : State::degraded, describe_noise(noise), quiet ? "" : kNoiseAdvice);
}

/// Measures when asked to, and keeps the figure in the workspace; else tells the last one.
base::Result<int> check_noise(Report& report, Shell& shell, const DoctorOptions& options,
                              const std::filesystem::path& workspace) {
  std::error_code ignored;
  if (!options.noise) {
    std::optional<base::Json> last;
    if (std::filesystem::exists(workspace / "accelopt.db", ignored)) {
      if (const auto control = journal::open_control(workspace, journal::Access::read_only)) {
        if (auto fact = (*control)->fact(kNoiseFact)) last = std::move(*fact);
      }
    }
    if (last)
      add_noise(report, *last);
    else
      report.add("noise", State::ok, "not measured in this workspace", "to measure it: accelopt doctor --noise");
    return 0;
  }
  if (!options.json) fmt::print(stderr, "measuring the machine's noise, up to a minute ...\n");
  const auto noise = measure_noise(shell, options.device, shell.stops.wind_down);
  if (!noise && noise.error().code == base::ErrorCode::cancelled) return tl::make_unexpected(noise.error());
  if (!noise) {
    report.add("noise", State::missing, noise.error().message, "try it alone: accelopt eval on a task of your own");
    return 1;
  }
  const base::Json json = *noise;
  if (options.json) {
    base::Json line = json;
    line["type"] = "noise";
    line["schema"] = 1;
    fmt::print("{}\n", base::canonical(line));
  } else {
    for (const NoiseLevel& level : noise->levels) {
      fmt::print("{:<22} a copy slower by {}: found in {} of {} races\n", "", report::format_percent(level.difference),
                 level.found, level.races);
    }
    fmt::print("{:<22} identical kernels: called different in {} of {} races\n", "", noise->false_finds, noise->races);
  }
  add_noise(report, json);
  TRY_ASSIGN(const auto journal, open_workspace(workspace, journal::Access::read_write));
  TRY_ASSIGN(const auto control, journal::open_control(workspace, journal::Access::read_write));
  TRY(control->set_fact(kNoiseFact, json));
  return 0;
}

/// Whether a worker elsewhere can be reached, and what it is. `whose` stands before what is said of it.
bool check_worker(Report& report, const base::Result<evaluation::Hello>& hello, const std::string& whose) {
  if (!hello) {
    report.add("worker", State::missing, whose + hello.error().message,
               "its command must run `accelopt worker` and leave standard input and output to it (docs/devices.md)");
    return false;
  }
  const bool other = hello->version != kVersion;
  report.add(
      "worker", other ? State::degraded : State::ok,
      fmt::format("{}accelopt {} on {}, device {} ({}, {} cores, {})", whose, hello->version, hello->host,
                  hello->device, hello->machine, hello->cores, hello->system),
      other ? "it understands this accelopt, " + std::string(kVersion) + "; install the same one at both ends" : "");
  return true;
}

/// Those of the command line, else the configuration's. How many cannot be reached.
base::Result<int> check_workers(Report& report, Shell& shell, const DoctorOptions& options) {
  const Config config = load_config(find_workspace(options.workspace)).value_or(Config());  // it was checked before
  const DeviceFlags flags = with_configured_workers(options.device, config);
  if (flags.workers.empty()) return 0;
  TRY_ASSIGN(const auto pool, pool_options(shell, flags, config));
  int missing = 0;
  for (std::size_t i = 0; i < pool.workers.size(); ++i) {
    const auto hello = evaluation::greet_worker(pool.workers[i], pool.connection, shell.stops.wind_down);
    const WorkerConfig& worker = flags.workers[i];
    const std::string name = worker.name.empty() ? worker.command : worker.name;
    const bool named = pool.workers.size() > 1 || !worker.name.empty();
    missing += check_worker(report, hello, named ? name + ": " : "") ? 0 : 1;
  }
  return missing;
}

base::Result<Exit> examine(Shell& shell, const DoctorOptions& options) {
  if (const auto usable = check(options.device); !usable) return refuse_options(usable.error());
  Report report(options.json);
  report.add("accelopt", State::ok, kVersion);
  int missing = check_targets(report);
  const auto clang = syntax::Clang::load();
  if (clang)
    report.add("libclang", State::ok, clang->library());
  else
    report.add("libclang", State::degraded, "not found: recipes and init are off", "apt-get install libclang1-19");
  const auto workspace = find_workspace(options.workspace);
  std::error_code ignored;
  if (!std::filesystem::exists(workspace / "accelopt.db", ignored)) {
    report.add("workspace", State::ok, workspace.string() + " (made by the first run)");
  } else if (const auto journal = journal::open_journal(workspace, journal::Access::read_only)) {
    report.add("workspace", State::ok, workspace.string());
  } else {
    report.add("workspace", State::missing, journal.error().message);
    ++missing;
  }
  missing += check_models(report, workspace, shell.stops.wind_down);
  TRY_ASSIGN(const int without_worker, check_workers(report, shell, options));
  missing += without_worker;
  TRY_ASSIGN(const int without_noise, check_noise(report, shell, options, workspace));
  missing += without_noise;
  return missing == 0 ? Exit::done : Exit::check_failed;
}

}  // namespace

void add_doctor(CommandLine& app, Action& chosen) {
  Command command = app.add("doctor", "Report what this machine has, what is missing, and what to do about it");
  command.footer(
      "Examples:\n"
      "  accelopt doctor\n"
      "  accelopt doctor --noise        also measures how small a difference this machine can tell, in under a "
      "minute\n"
      "  accelopt doctor --worker \"ssh host accelopt worker --device cpu:1\"    can it be reached, and what is it?\n");
  auto options = std::make_shared<DoctorOptions>();
  command.option("--workspace", &options->workspace,
                 "Folder of the runs (default: the nearest .accelopt here or above)");
  command.flag("--noise", options->noise, "Measure the noise of this machine and keep the figure in the workspace");
  command.option("--device", &options->device.device, "With --noise: cpu, or cpu:N for kernels on core N")
      .show_default();
  declare_workers(command, options->device.workers,
                  "Command of a worker elsewhere (docs/devices.md): is greeted; may be repeated");
  command.flag("--json", options->json, "One JSON object a line (docs/json.md)");
  command.chosen([&chosen, options] { chosen = [options](Shell& shell) { return examine(shell, *options); }; });
}

}  // namespace accelopt::cli
