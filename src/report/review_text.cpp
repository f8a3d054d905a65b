// SPDX-License-Identifier: Apache-2.0
#include "report/review_text.hpp"
#include "base/whole_number.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace accelopt::report {
namespace {

using base::Json;
using base::text_at;

constexpr auto kReasons = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"only_one", "it is the only one left"},
    {"clock", "it is certainly better than the others that are left"},
    {"pairs", "the clock does not separate it from others, and it won more pairs"},
    {"rubric", "neither clock nor pairs separate it from others, and its rubric is higher"},
    {"smaller_diff", "nothing else separates it from others, and its diff is smaller"},
    {"identity", "nothing separates it from others"},
});

const Json& part(const Json& json, const char* key) {
  static const Json kNothing;
  const auto found = json.is_object() ? json.find(key) : json.end();
  return json.is_object() && found != json.end() ? *found : kNothing;
}

std::string finalist_line(const Json& change) {
  std::string text = text_at(change, "name");
  if (const std::string gate = text_at(change, "failed_gate"); !gate.empty())
    return text + ": refused by the gate " + gate;
  const Json& rubric = part(change, "rubric");
  text += rubric.is_object() ? fmt::format(": rubric {} of 24", rubric.value("sum", 0))
                             : std::string(": the reviewer's answer could not be read");
  for (const Json& one : part(change, "objections")) {
    const std::string fate = text_at(one, "fate");
    const std::string word = fate == "confirmed" ? "stopped by an input that was run"
                             : fate == "refuted" ? "an objection showed nothing when it was run"
                                                 : "an objection could not be run";
    text += fmt::format("; {}: {} ({})", word, text_at(one, "why"), text_at(one, "text"));
  }
  return text + ".";
}

std::string name_of(const Json& review, const Json& place) {
  const Json& changes = part(review, "changes");
  const std::int64_t at = base::whole_number(place).value_or(-1);
  if (!changes.is_array() || at < 0 || at >= std::ssize(changes)) return "?";
  return text_at(changes[static_cast<std::size_t>(at)], "name");
}

std::string pair_line(const Json& review, const Json& pair) {
  const Json& places = part(pair, "changes");
  if (!places.is_array() || places.size() != 2) return {};
  std::string text = fmt::format("{} against {}: ", name_of(review, places[0]), name_of(review, places[1]));
  const std::string better = text_at(pair, "better");
  if (!pair.value("stable", false))
    text += pair.value("flipped", false) ? "a tie, because the order changed the answer"
                                         : "a tie, because the answers differ";
  else if (better == "equal")
    text += "equal";
  else
    text += name_of(review, places[better == "first" ? 0 : 1]) + " is better";
  const Json& reasons = part(pair, "reasons");
  if (reasons.is_array() && !reasons.empty() && reasons[0].is_string()) text += ": " + reasons[0].get<std::string>();
  return text.ends_with('.') ? text : text + ".";
}

}  // namespace

std::string review_reason(std::string_view name) {
  const auto found = std::ranges::find(kReasons, name, &std::pair<std::string_view, std::string_view>::first);
  return found == kReasons.end() ? std::string() : std::string(found->second);
}

std::vector<std::string> review_lines(const Json& result) {
  const Json& review = part(result, "review");
  if (!review.is_object()) return {};
  std::vector<std::string> lines;
  lines.push_back(
      fmt::format("The reviewer {} judged the finalists blindly; it {}: {}.", text_at(review, "model"),
                  text_at(review, "weight") == "decides" ? "decides where the clock does not" : "only advises",
                  text_at(review, "weight_why")));
  for (const Json& change : part(review, "changes")) lines.push_back(finalist_line(change));
  for (const Json& pair : part(review, "pairs")) lines.push_back(pair_line(review, pair));
  const Json& chosen = part(review, "chosen");
  if (chosen.is_null()) {
    lines.emplace_back("Nothing is left to be kept.");
    return lines;
  }
  lines.push_back(fmt::format("Chosen: {}; {}.", name_of(review, chosen), review_reason(text_at(review, "reason"))));
  const Json& advised = part(review, "advised");
  if (!advised.is_null() && advised != chosen)
    lines.push_back(fmt::format("The reviewer alone would keep {}.", name_of(review, advised)));
  return lines;
}

std::vector<std::string> tests_lines(const Json& result) {
  const Json& tests = part(result, "tests");
  if (!tests.is_object()) return {};
  std::vector<std::string> lines{text_at(tests, "summary") + "."};
  for (const Json& trial : part(part(tests, "selection"), "trials")) {
    const std::string fate = text_at(trial, "fate");
    const std::string why = text_at(part(trial, "test"), "why");
    const std::string text = text_at(trial, "text");
    if (fate == "kept")
      lines.push_back(fmt::format("Holds changes: {}; it kills {} mutants that no other test kills, such as {}.", why,
                                  trial.value("kills", 0), text));
    else if (fate == "no_new_mutant")
      lines.push_back(fmt::format("Holds changes: {}; it kills no mutant that no other test kills.", why));
    else
      lines.push_back(fmt::format("Not used: {}; {}.", why, text));
  }
  return lines;
}

}  // namespace accelopt::report
