// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <memory>

#include <fmt/format.h>

#include "base/files.hpp"
#include "cli/command.hpp"
#include "cli/config.hpp"
#include "cli/version.hpp"
#include "cli/workspace.hpp"
#include "http/client.hpp"
#include "sandbox/probe.hpp"
#include "syntax/clang.hpp"
#include "targets/cpu/arena_process.hpp"
#include "targets/cpu/compiler.hpp"
#include "targets/cpu/machine.hpp"

namespace accelopt::cli {
namespace {

struct Options {
  std::string workspace;
  bool json = false;
};

enum class State { ok, degraded, missing };

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
    fmt::print("{:<9} {:<12} {}\n", to_string(state), name, detail);
    if (!advice.empty()) fmt::print("{:<22} -> {}\n", "", advice);
  }

 private:
  bool json_;
};

std::string search_path() {
  const char* path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): before any thread
  return path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path;
}

/// What evaluating on this machine's processor needs. Counts what is missing.
int check_cpu(Report& report) {
  int missing = 0;
  for (const std::string name : {"g++", "clang++"}) {
    const auto compiler = targets::cpu::find_compiler(name, search_path());
    if (compiler)
      report.add(name, State::ok, compiler->name);
    else
      report.add(name, State::missing, "not found",
                 name == "g++" ? "apt-get install g++" : "optional: apt-get install clang");
  }
  if (!targets::cpu::find_compiler("", search_path())) ++missing;

  const auto arena = targets::cpu::find_arena();
  if (arena)
    report.add("arena", State::ok, *arena);
  else {
    report.add("arena", State::missing, arena.error().message, "install accelopt-arena beside accelopt");
    ++missing;
  }

  const auto machine = targets::cpu::examine_machine();
  report.add("processor", State::ok,
             fmt::format("{}, {} cores, {}", machine.cpu_model, machine.cores.size(), machine.vector_set));
  if (!machine.line_flush) {
    report.add("cache flush", State::degraded, "no instruction that flushes one cache line",
               "cold caches are made by touching memory, which is slower and noisier");
  }
  if (machine.cores.size() < 2) {
    report.add("cores", State::degraded, "one core: worker and kernel share it",
               "times are noisier; give accelopt two cores");
  } else if (machine.cores.size() < 4) {
    report.add("cores", State::ok, "builds pause while a kernel is timed (no core to spare)");
  }
  const std::string lacking = sandbox::missing_isolation();
  report.add("sandbox", lacking.empty() ? State::ok : State::degraded, sandbox::isolation(),
             lacking.empty() ? "" : "results say less than they could, and say so (isolation, in every evaluation)");
  for (const sandbox::Layer& layer : sandbox::layers()) {
    const bool present = layer.state == sandbox::LayerState::present;
    report.add(layer.name, present ? State::ok : State::degraded,
               fmt::format("{}: {}", sandbox::to_string(layer.state), present ? layer.gives : layer.costs),
               layer.advice);
  }
  return missing;
}

void check_endpoint(Report& report, const std::string& name, const ModelConfig& model, const std::stop_token& stop) {
  const auto key = find_key(model);
  if (!key) return report.add(name, State::missing, key.error().message);
  http::Client client;
  http::Request request;
  request.url = model.base_url + "/models";
  request.limits = {
      .connect = std::chrono::seconds(5), .stall = std::chrono::seconds(10), .total = std::chrono::seconds(15)};
  if (!key->empty()) request.headers.push_back({"Authorization", "Bearer " + key->reveal()});
  const auto response = client.send(request, stop);
  if (!response) return report.add(name, State::missing, response.error().message);
  const int status = response->head.status;
  if (status == 401 || status == 403) {
    return report.add(name, State::missing, fmt::format("{} refuses the key ({})", model.base_url, status),
                      "check " + (model.key_env.empty() ? std::string("key_env") : model.key_env));
  }
  const auto listing = base::Json::parse(response->body, nullptr, false);
  bool listed = false;
  if (listing.is_object() && listing.contains("data") && listing["data"].is_array()) {
    for (const auto& item : listing["data"])
      listed = listed || (item.is_object() && item.value("id", "") == model.model);
  }
  const std::string price = model.price ? "price known" : "no price: cost is unknown";
  if (status == 200 && listed)
    return report.add(name, State::ok, fmt::format("{} at {}, {}", model.model, model.base_url, price));
  report.add(name, State::degraded,
             fmt::format("{} answers ({}), and does not list {}", model.base_url, status, model.model),
             "check the model's name");
}

int check_models(Report& report, const std::filesystem::path& workspace, const std::stop_token& stop) {
  const auto config = load_config(workspace);
  if (!config) {
    report.add("config", State::missing, config.error().message);
    return 1;
  }
  for (const std::string& file : config->files) report.add("config", State::ok, file);
  if (config->models.empty()) {
    report.add("models", State::ok, "none configured: the built-in recipes play all roles",
               "to use one: [models.default] in accelopt.toml, or run --base-url URL --model NAME");
  }
  for (const auto& [name, model] : config->models) check_endpoint(report, "model " + name, model, stop);
  return 0;
}

base::Result<Exit> examine(Shell& shell, const Options& options) {
  Report report(options.json);
  report.add("accelopt", State::ok, kVersion);
  int missing = check_cpu(report);
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
  return missing == 0 ? Exit::done : Exit::check_failed;
}

}  // namespace

void add_doctor(CommandLine& app, Action& chosen) {
  Command command = app.add("doctor", "What this machine has, what is missing, and what to do about it");
  command.footer("Example:\n  accelopt doctor\n");
  auto options = std::make_shared<Options>();
  command.option("--workspace", &options->workspace, "Folder of the runs (default: the nearest .accelopt upwards)");
  command.flag("--json", options->json, "One JSON object a line (docs/json.md)");
  command.chosen([&chosen, options] { chosen = [options](Shell& shell) { return examine(shell, *options); }; });
}

}  // namespace accelopt::cli
