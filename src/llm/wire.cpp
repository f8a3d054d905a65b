// SPDX-License-Identifier: Apache-2.0
#include "llm/wire.hpp"

#include "base/text.hpp"
#include "llm/wire_json.hpp"

namespace accelopt::llm {

tl::expected<void, WireProblem> AnswerReader::take(std::string_view json) {
  base::Json value = base::json_or_discarded(json);
  JsonRepair::Repaired repaired;
  if (value.is_discarded()) {
    repaired = repair_.repair(json);
    value = base::json_or_discarded(repaired.json);
  }
  if (value.is_discarded()) {
    // What does not begin like JSON is none; what does was to be a part of the answer, which would lack it.
    const std::string_view begin = base::trimmed(json).substr(0, 1);
    const bool broken = begin == "{" || begin == "[";
    const auto kind = broken ? WireProblem::Kind::malformed : WireProblem::Kind::nothing_in_it;
    return tl::make_unexpected(WireProblem{kind, "it is not JSON: " + std::string(json), 0});
  }
  const std::size_t before = reply_.text.size();
  auto taken = take_value(value, json);
  // The first half is there already, as a replacement character.
  const bool joined = repaired.begins == JsonRepair::Begins::with_joined && reply_.text.size() > before;
  if (joined && std::string_view(reply_.text).substr(0, before).ends_with(kReplacement))
    reply_.text.erase(before - kReplacement.size(), kReplacement.size());
  return taken;
}

WireProblem AnswerReader::lacks(const char* member, const base::Json& value, std::string_view json) {
  const auto kind = error_text(value).empty() ? WireProblem::Kind::nothing_in_it : WireProblem::Kind::malformed;
  return {kind, "it has no '" + std::string(member) + "': " + std::string(json), 0};
}

void AnswerReader::end(std::string_view reason, std::optional<Finish> finish) {
  finished_ = true;
  broken_off_ = finish ? std::string() : std::string(reason);
  if (finish && *finish != Finish::complete) reply_.finish = *finish;
}

}  // namespace accelopt::llm
