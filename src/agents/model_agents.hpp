// SPDX-License-Identifier: Apache-2.0
// The roles as a language model plays them. Each question is one chat; an answer that cannot be read is asked for once
// more with the reason, and is lost after that.
#pragma once

#include <memory>

#include "agents/prompts.hpp"
#include "agents/roles.hpp"
#include "llm/chat_model.hpp"

namespace accelopt::agents {

// Model and prompts must outlive the agent. A request's label is "ROLE IDENTITY tryN": "planner i0.b1.p2 try0".
// All of them: @error as ChatModel::chat; unsupported: there are no prompts for the kernel's language.

std::unique_ptr<Planner> make_model_planner(llm::ChatModel& model, const Prompts& prompts);
std::unique_ptr<Executor> make_model_executor(llm::ChatModel& model, const Prompts& prompts);
std::unique_ptr<Fixer> make_model_fixer(llm::ChatModel& model, const Prompts& prompts);
std::unique_ptr<Summarizer> make_model_summarizer(llm::ChatModel& model, const Prompts& prompts);

}  // namespace accelopt::agents
