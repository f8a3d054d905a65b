// SPDX-License-Identifier: Apache-2.0
#include "app/doctor.hpp"

#include <fmt/format.h>

#include "app/config.hpp"
#include "app/target.hpp"
#include "app/team.hpp"
#include "app/version.hpp"
#include "app/workspace.hpp"
#include "http/client.hpp"
#include "journal/control.hpp"
#include "llm/endpoint_check.hpp"
#include "syntax/clang.hpp"
#include "targets/registry.hpp"

namespace accelopt::app {
namespace {

using State = evaluation::Finding::State;

class Doctor {
 public:
  Doctor(const Shell& shell, const DoctorOptions& options, const DoctorPorts& ports)
      : shell_(shell), options_(options), ports_(ports) {}

  base::Result<int> examine();

 private:
  void add(const std::string& name, State state, const std::string& detail, const std::string& advice = "") const {
    ports_.found({name, state, detail, advice});
  }
  // Each gives how much is missing.
  int check_targets();
  int check_models();
  int check_model(const std::string& name, ModelConfig model);
  base::Result<int> check_noise();
  void add_noise(const base::Json& noise);
  base::Result<int> check_workers();
  bool check_worker(const base::Result<worker::Hello>& hello, const std::string& whose);

  const Shell& shell_;
  const DoctorOptions& options_;
  const DoctorPorts& ports_;
};

/// What evaluating needs, a target after the other. Counts what is missing.
int Doctor::check_targets() {
  int missing = 0;
  const evaluation::Environment environment = target_environment(shell_.environment);
  for (const targets::Entry& target : targets::registry()) missing += target.examine(environment, ports_.found);
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
int Doctor::check_model(const std::string& name, ModelConfig model) {
  const std::stop_token& stop = shell_.stops.wind_down;
  const std::string who = "model " + name;
  if (model.api == "mailbox") {
    add(who, State::ok, "a mailbox: somebody else answers, in " + model.dir);
    return 0;
  }
  const auto key = find_key(model, shell_.environment, stop);
  if (!key) {
    add(who + ": key", State::missing, key.error().message, "set it, or name another key_env or key_command");
    return 1;
  }
  int missing = 0;
  http::Client client;
  for (const llm::EndpointFinding& finding : llm::check_endpoint(endpoint_options(model, *key), client, stop)) {
    add(who + ": " + std::string(finding.name), word_of(finding.state), finding.detail, finding.advice);
    missing += finding.state == llm::EndpointFinding::State::missing ? 1 : 0;
  }
  find_list_price(model);
  const bool sure = model.price && model.price_as_of.empty();
  add(who + ": price", sure ? State::ok : State::degraded, price_text(model),
      sure          ? ""
      : model.price ? "prices change; to be sure, set price = { input = ..., cached_input = ..., output = ... }"
                    : "costs stay unknown and --max-usd is refused; set price = { input = ..., cached_input = "
                      "..., output = ... }, dollars a million tokens");
  return missing;
}

int Doctor::check_models() {
  const auto config = load_config(options_.workspace, shell_.environment);
  if (!config) {
    add("config", State::missing, config.error().message, "mend the file, or move it away");
    return 1;
  }
  for (const std::string& file : config->files) add("config", State::ok, file);
  if (config->models.empty()) {
    add("models", State::ok, "none configured: the built-in recipes play all roles",
        "to use one: [models.default] in accelopt.toml, or run --base-url URL --model NAME");
  }
  int missing = 0;
  for (const auto& [name, model] : config->models) missing += check_model(name, model);
  const auto roles = models_of_roles({}, *config);
  if (!roles) {
    add("roles", State::missing, roles.error().message);
    return missing + 1;
  }
  for (const RoleModel& role : *roles)
    add(std::string(to_string(role.role)), State::ok, role.config.model + " (" + role.name + ")");
  return missing;
}

constexpr const char* kNoiseAdvice =
    "small gains are missed here: end other programs, fix the clock rate (cpupower frequency-set -g performance), or "
    "give "
    "the kernels a core of their own (--device cpu:N)";

void Doctor::add_noise(const base::Json& noise) {
  const bool quiet = is_quiet(noise);
  add("noise", quiet ? State::ok : State::degraded, describe_noise(noise), quiet ? "" : kNoiseAdvice);
}

/// Measures when asked to, and keeps the figure in the workspace; else tells the last one.
base::Result<int> Doctor::check_noise() {
  const std::filesystem::path& workspace = options_.workspace;
  std::error_code ignored;
  if (!options_.noise) {
    std::optional<base::Json> last;
    if (std::filesystem::exists(workspace / "accelopt.db", ignored)) {
      if (const auto control = journal::open_control(workspace, journal::Access::read_only)) {
        if (auto fact = (*control)->fact(kNoiseFact)) last = std::move(*fact);
      }
    }
    if (last)
      add_noise(*last);
    else
      add("noise", State::ok, "not measured in this workspace", "to measure it: accelopt doctor --noise");
    return 0;
  }
  ports_.measuring();
  const auto noise = measure_noise(shell_, options_.device, shell_.stops.wind_down);
  if (!noise && noise.error().code == base::ErrorCode::cancelled) return tl::make_unexpected(noise.error());
  if (!noise) {
    add("noise", State::missing, noise.error().message, "try it alone: accelopt eval on a task of your own");
    return 1;
  }
  ports_.measured(*noise);
  const base::Json json = *noise;
  add_noise(json);
  TRY_ASSIGN(const auto journal, open_workspace(workspace, journal::Access::read_write));
  TRY_ASSIGN(const auto control, journal::open_control(workspace, journal::Access::read_write));
  TRY(control->set_fact(kNoiseFact, json));
  return 0;
}

/// Whether a worker elsewhere can be reached, and what it is. `whose` stands before what is said of it.
bool Doctor::check_worker(const base::Result<worker::Hello>& hello, const std::string& whose) {
  if (!hello) {
    add("worker", State::missing, whose + hello.error().message,
        "its command must run `accelopt worker` and leave standard input and output to it (docs/devices.md)");
    return false;
  }
  const bool other = hello->version != kVersion;
  add("worker", other ? State::degraded : State::ok,
      fmt::format("{}accelopt {} on {}, device {} ({}, {} cores, {})", whose, hello->version, hello->host,
                  hello->device, hello->machine, hello->cores, hello->system),
      other ? "it understands this accelopt, " + std::string(kVersion) + "; install the same one at both ends" : "");
  return true;
}

/// Those of the command line, else the configuration's. How many cannot be reached.
base::Result<int> Doctor::check_workers() {
  const Config config =
      load_config(options_.workspace, shell_.environment).value_or(Config());  // it was checked before
  const DeviceFlags flags = with_configured_workers(options_.device, config);
  if (flags.workers.empty()) return 0;
  TRY_ASSIGN(const auto pool, pool_options(shell_, flags, config));
  int missing = 0;
  for (std::size_t i = 0; i < pool.workers.size(); ++i) {
    const auto hello = worker::greet_worker(pool.workers[i], pool.connection, shell_.stops.wind_down);
    const WorkerConfig& worker = flags.workers[i];
    const std::string name = worker.name.empty() ? worker.command : worker.name;
    const bool named = pool.workers.size() > 1 || !worker.name.empty();
    missing += check_worker(hello, named ? name + ": " : "") ? 0 : 1;
  }
  return missing;
}

base::Result<int> Doctor::examine() {
  add("accelopt", State::ok, kVersion);
  int missing = check_targets();
  const auto clang = syntax::Clang::load();
  if (clang)
    add("libclang", State::ok, clang->library());
  else
    add("libclang", State::degraded, "not found: recipes for C and C++, and init, are off",
        "apt-get install libclang1-19");
  const std::filesystem::path& workspace = options_.workspace;
  std::error_code ignored;
  if (!std::filesystem::exists(workspace / "accelopt.db", ignored)) {
    add("workspace", State::ok, workspace.string() + " (made by the first run)");
  } else if (const auto journal = journal::open_journal(workspace, journal::Access::read_only)) {
    add("workspace", State::ok, workspace.string());
  } else {
    add("workspace", State::missing, journal.error().message);
    ++missing;
  }
  missing += check_models();
  TRY_ASSIGN(const int without_worker, check_workers());
  missing += without_worker;
  TRY_ASSIGN(const int without_noise, check_noise());
  missing += without_noise;
  return missing;
}

}  // namespace

base::Result<int> examine(const Shell& shell, const DoctorOptions& options, const DoctorPorts& ports) {
  return Doctor(shell, options, ports).examine();
}

base::Json to_json(const evaluation::Finding& finding) {
  return {{"type", "check"},          {"schema", 1},
          {"name", finding.name},     {"state", to_string(finding.state)},
          {"detail", finding.detail}, {"advice", finding.advice}};
}

base::Json to_json(const NoiseReport& noise) {
  base::Json line = noise;
  line["type"] = "noise";
  line["schema"] = 1;
  return line;
}

}  // namespace accelopt::app
