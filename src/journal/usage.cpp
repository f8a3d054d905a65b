// SPDX-License-Identifier: Apache-2.0
#include "journal/usage.hpp"

#include "model/judges.hpp"

namespace accelopt::journal {

std::map<std::string, model::Usage> usage_by_role(const std::vector<StepRecord>& steps) {
  std::map<std::string, model::Usage> usage;  // of questions that ended
  std::map<std::string, model::Usage> chats;
  std::map<std::string, model::Usage> unanswered;
  for (const StepRecord& step : steps) {
    const auto kind = model::step_kind(step.key.kind);
    const bool is_chat = kind == model::StepKind::chat;
    const std::string who(is_chat ? model::asked_of_label(model::step_suffix(step.key.kind))
                                  : model::payer_of_step(step.key.kind));
    if (who.empty()) continue;
    (is_chat ? chats : kind == model::StepKind::unanswered ? unanswered : usage)[who] += step.usage;
  }
  // Chats are all that a model answered. Recipes have none.
  for (const auto& [who, own] : chats) {
    if (model::Usage& ended = usage[who]; own.calls >= ended.calls) ended = own;
  }
  for (const auto& [who, own] : unanswered) usage[who] += own;
  return usage;
}

}  // namespace accelopt::journal
