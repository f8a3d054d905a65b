// SPDX-License-Identifier: Apache-2.0
#include "search/hints.hpp"

#include <algorithm>

namespace accelopt::search {

using Texts = std::vector<std::string>;
using model::StepKind;

namespace {

journal::StepKey key_of(int iteration) {
  return {{.iteration = iteration}, model::step_name(StepKind::recall, "hints")};
}

/// Whether a planner of that iteration has answered: with a hint, it would be asked again.
base::Result<bool> has_plans(Recorder& recorder, int iteration) {
  TRY_ASSIGN(const auto steps, recorder.journal().steps(recorder.run()));
  const std::string label = std::string(to_string(model::AgentRole::planner)) + " i" + std::to_string(iteration) + ".";
  return std::ranges::any_of(steps, [&](const journal::StepRecord& step) {
    const auto kind = model::step_kind(step.key.kind);
    if (kind == StepKind::chat) return model::step_suffix(step.key.kind).starts_with(label);
    return (kind == StepKind::plan || kind == StepKind::plans) && step.key.identity.iteration == iteration;
  });
}

}  // namespace

base::Outcome<std::string> Hints::take(int iteration) {
  TRY_ASSIGN(const bool known, recorder_.on_record(key_of(iteration), {}));
  Texts hints;
  if (!known && source_ && !recorder_.replaying()) {
    TRY_ASSIGN(hints, source_(taken_));
  }
  if (!hints.empty()) {
    TRY_ASSIGN(const bool planned, has_plans(recorder_, iteration));
    if (planned) hints.clear();
  }
  if (!known && hints.empty()) return std::string();
  TRY_ASSIGN(hints, recorder_.once<Texts>(key_of(iteration), {}, [&]() -> base::Outcome<Texts> { return hints; }));
  taken_ += hints.size();
  std::string text;
  for (const std::string& hint : hints) {
    text += (text.empty() ? "" : "\n") + hint;
    events_.on(model::Note{"hint for the planners of round " + std::to_string(iteration + 1) + ": " + hint});
  }
  return text;
}

base::Outcome<void> Hints::close(int iteration) {
  if (!source_ || recorder_.replaying()) return {};
  TRY(recorder_.once<Texts>(key_of(iteration), {}, []() -> base::Outcome<Texts> { return Texts(); }));
  return {};
}

}  // namespace accelopt::search
