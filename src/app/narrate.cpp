// SPDX-License-Identifier: Apache-2.0
#include "app/narrate.hpp"

#include <algorithm>
#include <memory>

#include "agents/builtin_prompts.hpp"
#include "base/text.hpp"
#include "http/client.hpp"
#include "llm/clock.hpp"
#include "llm/endpoint.hpp"
#include "llm/mailbox_model.hpp"
#include "llm/recording.hpp"
#include "report/narrative.hpp"

namespace accelopt::app {
namespace {

using base::ErrorCode;

/// The one model that is asked, with what it needs.
struct LoneModel {
  std::unique_ptr<llm::Clock> clock = llm::make_clock();
  std::unique_ptr<http::Client> client = std::make_unique<http::Client>();
  std::unique_ptr<llm::ChatModel> chat;
};

base::Result<LoneModel> connect(const Shell& shell, const AgentFlags& flags, const Config& config) {
  TRY_ASSIGN(const auto roles, models_of_roles(flags, config));
  const auto chosen = std::ranges::find(roles, model::AgentRole::summarizer, &RoleModel::role);
  if (chosen == roles.end()) {
    return base::fail(ErrorCode::invalid_argument,
                      "--narrate asks a model, and none is configured; add [models.default] to accelopt.toml, or give "
                      "--base-url URL --model NAME (docs/models.md)");
  }
  LoneModel lone;
  const ModelConfig& model = chosen->config;
  if (!flags.replay.empty()) {
    TRY_ASSIGN(llm::Recording recording, llm::Recording::load(flags.replay));
    lone.chat = llm::make_replaying_model(std::make_shared<const llm::Recording>(std::move(recording)), "narrator");
  } else if (model.api == "mailbox") {
    TRY_ASSIGN(lone.chat, llm::make_mailbox_model({.folder = model.dir,
                                                   .name = model.model,
                                                   .unanswered = flags.exit_when_waiting ? llm::Unanswered::put_off
                                                                                         : llm::Unanswered::wait},
                                                  *lone.clock));
  } else {
    TRY_ASSIGN(llm::Secret key, find_key(model, shell.environment, shell.stops.abort));
    std::vector<llm::Secret> keys{key};
    TRY_ASSIGN(lone.chat, llm::make_endpoint_model(endpoint_options(model, std::move(key)), *lone.client, *lone.clock));
    if (!flags.record.empty())
      lone.chat = llm::make_recording_model(std::move(lone.chat), flags.record, std::move(keys));
  }
  return lone;
}

std::string system_prompt() {
  const auto files = agents::builtin_prompts();
  const auto found = std::ranges::find(files, std::string_view("narrator.system.txt"), &agents::BuiltinPrompt::name);
  ACCELOPT_ASSERT(found != files.end(), "the narrator's prompt was not built in");
  return std::string(found->text);
}

std::string list_of(const std::vector<std::string>& numbers) {
  return base::joined(numbers, ", ", [](const std::string& number) { return number; });
}

}  // namespace

base::Result<Narrative> narrate(const Shell& shell, const AgentFlags& flags, const Config& config,
                                const report::Explanation& explanation) {
  TRY_ASSIGN(const LoneModel lone, connect(shell, flags, config));
  const report::NumberRecord record{report::to_text(explanation), report::to_json(explanation)};
  llm::ChatRequest request;
  request.messages = {{llm::Speaker::system, system_prompt()}, {llm::Speaker::user, record.text}};
  Narrative narrative;
  narrative.model = lone.chat->name();
  for (const char* label : {"narrator try0", "narrator try1"}) {
    request.label = label;
    const auto reply = lone.chat->chat(request, shell.stops.wind_down);
    if (!reply) return tl::make_unexpected(reply.error().as_error());
    narrative.usage += reply->usage;
    narrative.text = reply->text;
    const auto missing = report::numbers_off_record(reply->text, record);
    if (missing.empty()) return narrative;
    if (!narrative.corrected.empty()) {
      return base::fail(ErrorCode::corrupt,
                        "the model's text has numbers that the run's record does not: " + list_of(missing) +
                            "; ask again, or ask another model; without --narrate no model is asked");
    }
    narrative.corrected = missing;
    request.messages.push_back({llm::Speaker::assistant, reply->text});
    request.messages.push_back({llm::Speaker::user, "These numbers do not stand in the record: " + list_of(missing) +
                                                        ". Write the text again without them."});
  }
  return narrative;
}

}  // namespace accelopt::app
