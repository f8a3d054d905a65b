// SPDX-License-Identifier: Apache-2.0
#include "app/steer.hpp"

#include <memory>

#include "app/run.hpp"
#include "app/run_state.hpp"
#include "app/workspace.hpp"
#include "base/text.hpp"
#include "journal/control.hpp"

namespace accelopt::app {

using base::ErrorCode;
using base::fail;
using base::Json;
using base::Result;

namespace {

std::string fact_of(const std::string& run) {
  return "hints for " + run;
}

Result<void> check_hint(const std::string& hint) {
  if (hint.find_first_not_of(" \t\r\n\v\f") == std::string::npos)
    return fail(ErrorCode::invalid_argument, "the hint is blank; say what the planners should take into account");
  if (hint.size() <= kMostHintBytes) return {};
  return fail(ErrorCode::invalid_argument, "the hint has " + std::to_string(hint.size()) + " bytes; at most " +
                                               std::to_string(kMostHintBytes) + " are passed on");
}

}  // namespace

Result<std::string> steer(const Shell& shell, const std::filesystem::path& workspace, const std::string& name,
                          const std::string& hint) {
  TRY(check_hint(hint));
  TRY_ASSIGN(const auto journal, open_workspace(workspace, journal::Access::read_only));
  TRY_ASSIGN(const auto control, journal::open_control(workspace, journal::Access::read_write));
  TRY_ASSIGN(const journal::RunInfo run, pick_run(*journal, *control, name));
  if (run.status == model::RunStatus::done)
    return fail(ErrorCode::invalid_argument, "run " + run.id + " is done, and plans nothing more; start another one");
  TRY_ASSIGN(const RunSettings settings, run_settings_from(run.settings));
  TRY_ASSIGN(const Config config, load_config(workspace, shell.environment));
  TRY_ASSIGN(const bool recipes, plays_recipes(settings.agents, config));
  if (recipes) {
    return fail(ErrorCode::unsupported,
                "the built-in recipes play the roles of run " + run.id + ", and they read no hints; name a model");
  }
  TRY(control->append_to_fact(fact_of(run.id), {{"text", hint}, {"at_ms", journal::unix_ms()}}));
  return run.id;
}

Result<search::HintSource> hints_of_run(const std::filesystem::path& workspace, const std::string& run) {
  if (workspace.empty()) return search::HintSource();
  TRY_ASSIGN(auto opened, journal::open_control(workspace, journal::Access::read_write));
  const std::shared_ptr<journal::Control> control = std::move(opened);
  return search::HintSource([control, fact = fact_of(run)](std::size_t taken) -> Result<std::vector<std::string>> {
    TRY_ASSIGN(const auto told, control->fact(fact));
    std::vector<std::string> fresh;
    if (!told || !told->is_array()) return fresh;
    for (std::size_t i = taken; i < told->size(); ++i) fresh.push_back(base::text_at((*told)[i], "text"));
    return fresh;
  });
}

}  // namespace accelopt::app
