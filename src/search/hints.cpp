// SPDX-License-Identifier: Apache-2.0
#include "search/hints.hpp"

namespace accelopt::search {

base::Outcome<std::string> Hints::take(int iteration) {
  const journal::StepKey key{{.iteration = iteration}, step_name(model::StepKind::recall, "hints")};
  TRY_ASSIGN(const bool known, recorder_.on_record(key, {}));
  std::vector<std::string> hints;
  if (!known && source_ && !recorder_.replaying()) {
    TRY_ASSIGN(hints, source_(taken_));
  }
  if (!known && hints.empty()) return std::string();
  TRY_ASSIGN(hints, recorder_.once<std::vector<std::string>>(
                        key, {}, [&]() -> base::Outcome<std::vector<std::string>> { return hints; }));
  taken_ += hints.size();
  std::string text;
  for (const std::string& hint : hints) {
    text += (text.empty() ? "" : "\n") + hint;
    events_.on(model::Note{"hint for the planners of round " + std::to_string(iteration + 1) + ": " + hint});
  }
  return text;
}

}  // namespace accelopt::search
