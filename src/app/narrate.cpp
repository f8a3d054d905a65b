// SPDX-License-Identifier: Apache-2.0
#include "app/narrate.hpp"

#include <algorithm>

#include "agents/builtin_prompts.hpp"
#include "app/lone_model.hpp"
#include "base/text.hpp"
#include "report/narrative.hpp"

namespace accelopt::app {
namespace {

using base::ErrorCode;

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
  TRY_ASSIGN(const LoneModel lone,
             connect_lone_model(shell, flags, config, model::AgentRole::summarizer, "narrator", "--narrate"));
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
