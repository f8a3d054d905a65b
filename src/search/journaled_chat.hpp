// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "llm/chat_model.hpp"
#include "search/recorder.hpp"

namespace accelopt::search {

/// A chat model whose every reply is recorded under its question's label before anyone sees it: a reply that arrived is
/// never paid for twice, whenever the run is killed. Both arguments outlive it.
std::unique_ptr<llm::ChatModel> make_journaled_chat(llm::ChatModel& model, Recorder& recorder);

}  // namespace accelopt::search
