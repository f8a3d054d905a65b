// SPDX-License-Identifier: Apache-2.0
#include "review/answers.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/json.hpp"
#include "base/names.hpp"
#include "base/text.hpp"
#include "base/whole_number.hpp"

namespace accelopt::review {
namespace {

using base::ErrorCode;
using base::Json;
using base::Result;

constexpr auto kItemNames = std::to_array<base::Named<Item>>({{Item::behaviour, "behaviour"},
                                                              {Item::edge_cases, "edge_cases"},
                                                              {Item::state, "state"},
                                                              {Item::api, "api"},
                                                              {Item::simplicity, "simplicity"},
                                                              {Item::fit, "fit"}});
constexpr std::size_t kCorrectness = 4;  ///< of them, the first
constexpr std::size_t kShortestQuote = 4;
constexpr std::size_t kMostWhy = 2000;

/// The object in an answer: prose may stand before and after it.
Result<Json> object_in(std::string_view answer) {
  const std::size_t from = answer.find('{');
  const std::size_t to = answer.rfind('}');
  if (from == answer.npos || to == answer.npos || to < from)
    return base::fail(ErrorCode::parse, "the answer holds no JSON object");
  TRY_ASSIGN(Json object, base::parse_json(answer.substr(from, to - from + 1), "the answer's JSON object"));
  if (!object.is_object()) return base::fail(ErrorCode::parse, "the answer is no JSON object");
  return object;
}

/// A text as it is; anything else as JSON.
std::string text_or_json(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string why_of(const Json& object) {
  std::string why = base::text_at(object, "why");
  if (why.size() > kMostWhy) why.resize(kMostWhy);
  return why;
}

std::int64_t whole_at(const Json& object, const char* key, std::int64_t otherwise) {
  const auto found = object.find(key);
  return found != object.end() ? base::whole_number(*found).value_or(otherwise) : otherwise;
}

Result<Objection> read_objection(const Json& given) {
  if (!given.is_object()) return base::fail(ErrorCode::parse, "an input is no JSON object");
  Objection objection{.why = why_of(given), .probe = {}};
  int forms = 0;
  if (const auto cases = given.find("cases"); cases != given.end() && !cases->is_null()) {
    objection.probe.cases = text_or_json(*cases);
    ++forms;
  }
  if (const auto script = given.find("script"); script != given.end() && script->is_string()) {
    objection.probe.script = script->get<std::string>();
    ++forms;
  }
  if (const auto wanted = given.find("generate"); wanted != given.end() && wanted->is_object()) {
    constexpr std::int64_t kMostSize = 100'000;
    constexpr std::int64_t kMostCount = 1000;
    objection.probe.request = refactor::CaseRequest{
        .workload = base::text_at(*wanted, "workload"),
        .size = std::clamp<std::int64_t>(whole_at(*wanted, "size", 1), 0, kMostSize),
        .count = static_cast<int>(std::clamp<std::int64_t>(whole_at(*wanted, "count", 1), 1, kMostCount)),
        .seed = static_cast<std::uint64_t>(std::max<std::int64_t>(0, whole_at(*wanted, "seed", 1)))};
    ++forms;
  }
  if (forms != 1)
    return base::fail(ErrorCode::parse, "an input has exactly one of \"cases\", \"generate\" and \"script\"");
  return objection;
}

/// The first `most` of a list.
Result<std::vector<Objection>> objections_in(const Json& object, const char* list, std::size_t most) {
  std::vector<Objection> objections;
  const auto found = object.find(list);
  if (found == object.end() || found->is_null()) return objections;
  if (!found->is_array()) return base::fail(ErrorCode::parse, fmt::format("\"{}\" is no list", list));
  for (const Json& given : *found) {
    if (objections.size() == most) break;
    TRY_ASSIGN(Objection objection, read_objection(given));
    objections.push_back(std::move(objection));
  }
  return objections;
}

/// `text` without the marks that a diff's lines begin with.
std::string without_marks(std::string_view diff) {
  std::string text;
  while (!diff.empty()) {
    const std::string_view line = base::first_line(diff);
    const bool marked = !line.empty() && (line.front() == '+' || line.front() == '-' || line.front() == ' ');
    text += std::string(line.substr(marked ? 1 : 0)) + '\n';
    diff.remove_prefix(std::min(line.size() + 1, diff.size()));
  }
  return text;
}

}  // namespace

std::string_view to_string(Item item) {
  return base::name_in(kItemNames, item);
}

std::string_view to_string(Better better) {
  constexpr auto kNames = std::to_array<base::Named<Better>>(
      {{Better::first, "first"}, {Better::second, "second"}, {Better::equal, "equal"}});
  return base::name_in(kNames, better);
}

int Rubric::sum() const {
  int sum = 0;
  for (const Score& item : items) sum += item.holds ? item.score : 0;
  return sum;
}

bool Rubric::doubts(int most) const {
  return std::any_of(items.begin(), items.begin() + kCorrectness,
                     [&](const Score& item) { return item.holds && item.score <= most; });
}

bool occurs_in(std::string_view quote, std::string_view diff) {
  quote = base::trimmed(quote);
  if (quote.size() < kShortestQuote) return false;
  return diff.find(quote) != diff.npos || without_marks(diff).find(quote) != std::string::npos;
}

Result<Opinion> read_opinion(std::string_view answer, std::string_view diff) {
  TRY_ASSIGN(const Json object, object_in(answer));
  const auto rubric = object.find("rubric");
  if (rubric == object.end() || !rubric->is_object())
    return base::fail(ErrorCode::parse, "\"rubric\" is missing, or no object");
  Opinion opinion;
  for (std::size_t i = 0; i < kItems; ++i) {
    const std::string name(kItemNames.at(i).second);
    const auto item = rubric->find(name);
    if (item == rubric->end() || !item->is_object())
      return base::fail(ErrorCode::parse, fmt::format("the rubric's item \"{}\" is missing, or no object", name));
    const std::int64_t score = whole_at(*item, "score", -1);
    if (score < 0 || score > kHighestScore)
      return base::fail(ErrorCode::parse, fmt::format("the score of \"{}\" is no whole number from 0 to 4", name));
    Score& kept = opinion.rubric.items.at(i);
    kept.score = static_cast<int>(score);
    kept.quote = base::text_at(*item, "quote");
    kept.holds = occurs_in(kept.quote, diff);
  }
  TRY_ASSIGN(opinion.objections, objections_in(object, "objections", kMostObjections));
  return opinion;
}

Result<std::vector<Objection>> read_objections(std::string_view answer, const char* list, std::size_t most) {
  TRY_ASSIGN(const Json object, object_in(answer));
  if (!object.contains(list)) return base::fail(ErrorCode::parse, fmt::format("\"{}\" is missing", list));
  return objections_in(object, list, most);
}

Result<PairAnswer> read_pair(std::string_view answer, std::string_view first, std::string_view second) {
  TRY_ASSIGN(const Json object, object_in(answer));
  const std::string better(base::trimmed(base::text_at(object, "better")));
  PairAnswer pair{.better = Better::equal, .why = why_of(object)};
  if (better == first)
    pair.better = Better::first;
  else if (better == second)
    pair.better = Better::second;
  else if (better != "equal")
    return base::fail(ErrorCode::parse,
                      fmt::format("\"better\" is none of \"{}\", \"{}\" and \"equal\"", first, second));
  return pair;
}

}  // namespace accelopt::review
