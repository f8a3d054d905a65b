// SPDX-License-Identifier: Apache-2.0
#include "app/run_changes.hpp"

#include <tuple>

#include "app/device.hpp"
#include "app/search_options.hpp"

namespace accelopt::app {

using base::ErrorCode;
using base::fail;
using base::Json;

namespace {

/// Whom a run asks, of all that its flags say.
auto asked(const AgentFlags& flags) {
  return std::tie(flags.model, flags.base_url, flags.api, flags.key_env);
}

/// "qwen at http://localhost:8001/v1, with the key in VLLM_KEY"
std::string describe_asked(const AgentFlags& flags) {
  const std::string place = !flags.base_url.empty() ? flags.base_url : flags.api;
  std::string text = flags.model;
  if (!place.empty()) text += " at " + place + (flags.key_env.empty() ? ", without a key" : "");
  if (!flags.key_env.empty()) text += ", with the key in " + flags.key_env;
  return text;
}

base::Result<void> change_place(DeviceFlags& device, const ResumeOptions& options) {
  DeviceFlags place;
  if (!options.device.empty()) place.device = options.device;
  place.workers = options.workers;
  place.defer = options.defer;
  TRY(check(place));
  if (!options.workers.empty()) {
    device = place;
  } else if (!options.device.empty() || !options.defer.empty()) {
    if (!options.device.empty()) device.device = options.device;
    device.workers.clear();
    device.defer = options.defer;
  }
  return {};
}

base::Result<void> change_model(RunSettings& settings, const std::string& run, const ResumeOptions& options,
                                const Config& config) {
  const bool elsewhere = !options.base_url.empty() || !options.api.empty();
  if (!elsewhere && options.model.empty() && options.key_env.empty()) return {};
  AgentFlags& agents = settings.agents;
  if (!agents.replay.empty() || !agents.mailbox.empty()) {
    return fail(ErrorCode::invalid_argument, "run " + run + " asks no endpoint: its answers come from " +
                                                 (agents.replay.empty() ? agents.mailbox : agents.replay) +
                                                 "; leave out --model, --base-url, --api and --key-env");
  }
  TRY_ASSIGN(const bool recipes, plays_recipes(agents, config));
  if (recipes) {
    return fail(ErrorCode::invalid_argument,
                "run " + run +
                    " asks no model: the built-in recipes play all roles; begin another with: accelopt run TASK "
                    "--model NAME");
  }
  if (elsewhere) agents.key_env.clear();
  const auto take = [](std::string& kept, const std::string& given) {
    if (!given.empty()) kept = given;
  };
  take(agents.model, options.model);
  take(agents.base_url, options.base_url);
  take(agents.api, options.api);
  take(agents.key_env, options.key_env);
  return check_models(settings, config);
}

}  // namespace

base::Result<RunSettings> resumed_settings(const journal::RunInfo& run, const ResumeOptions& options,
                                           const Config& config) {
  TRY_ASSIGN(RunSettings settings, run_settings_from(run.settings));
  TRY(change_place(settings.device, options));
  TRY(change_model(settings, run.id, options, config));
  settings.agents.exit_when_waiting = settings.agents.exit_when_waiting || options.exit_when_waiting;
  if (options.bundle.empty() || !settings.device.defer.empty()) return settings;
  return fail(ErrorCode::invalid_argument, "run " + run.id + " waits for no bundle: it does not measure with --defer");
}

base::Result<void> keep_changes(journal::Journal& journal, const std::string& run, const RunSettings& settings,
                                model::EventSink& events) {
  TRY_ASSIGN(journal::RunInfo kept, journal.find_run(run));
  TRY_ASSIGN(const RunSettings before, run_settings_from(kept.settings));
  Json device = to_json(settings.device);
  const bool moved = kept.settings["device"] != device;
  const bool asks_another = asked(before.agents) != asked(settings.agents);
  if (!moved && !asks_another) return {};
  RunSettings after = before;
  std::tie(after.agents.model, after.agents.base_url, after.agents.api, after.agents.key_env) = asked(settings.agents);
  kept.settings["device"] = std::move(device);
  if (asks_another) kept.settings["agents"] = to_json(after)["agents"];
  TRY(journal.change_settings(run, kept.settings));
  if (moved) events.on(model::Note{"from now on the run measures " + place_of(settings.device)});
  if (asks_another) events.on(model::Note{"from now on the run asks " + describe_asked(settings.agents)});
  return {};
}

}  // namespace accelopt::app
