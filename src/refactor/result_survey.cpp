// SPDX-License-Identifier: Apache-2.0
#include "refactor/result_survey.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/json.hpp"
#include "base/text.hpp"
#include "refactor/laziness.hpp"

namespace accelopt::refactor {
namespace {

using base::Json;

constexpr double kManyErrors = 0.5;  ///< of all results
constexpr std::size_t kShownResult = 200;
constexpr std::size_t kMostDistinct = 2;  ///< more of them are not kept

/// A list's elements, or lines.
struct Entries {
  std::vector<std::string> texts;
  std::vector<Json> values;  ///< as many; empty: lines that are no JSON
};

Entries entries_of(std::string_view text) {
  Entries entries;
  if (auto whole = base::parse_json(text, "entries"); whole && whole->is_array()) {
    for (Json& element : *whole) {
      entries.texts.push_back(base::canonical(element));
      entries.values.push_back(std::move(element));
    }
    return entries;
  }
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    entries.texts.emplace_back(base::trimmed(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return entries;
}

/// "error KIND": not a result like "error 404".
bool begins_as_error(std::string_view text) {
  if (text == "error" || text == "panic") return true;
  if (!text.starts_with("error ") && !text.starts_with("panic ")) return false;
  text = base::trimmed(text.substr(5));
  return text.empty() || std::isdigit(static_cast<unsigned char>(text.front())) == 0;
}

/// As the drivers of `refactor init` write it: {"error": KIND}, or a line "error KIND" or "panic WHAT".
bool is_error(const Entries& results, std::size_t at) {
  if (results.values.empty()) return begins_as_error(results.texts[at]);
  const Json& value = results.values[at];
  if (value.is_object()) {
    if (base::text_at(value, "error").empty() || value.contains("value")) return false;
    // An iterator may have given something before its error: {"gave": {"generator": [1, 2]}}.
    const auto gave = value.find("gave");
    return gave == value.end() || !gave->is_object() || gave->empty() || gave->begin()->empty();
  }
  return value.is_array() && !value.empty() && value[0].is_string() &&
         begins_as_error(value[0].get_ref<const std::string&>());
}

/// As the same drivers write it: {"value": {"generator": [1, 2]}}.
bool is_iterator(const Json& result) {
  const auto value = result.is_object() ? result.find("value") : result.end();
  return value != result.end() && value->is_object() && (value->contains("generator") || value->contains("iterator"));
}

/// A value as the cases have it: the drivers of `refactor init` write {"a": 1} as {"dict": [["a", 1]]}, or "Object".
Json as_given(const Json& value) {
  if (value.is_array()) {
    Json list = Json::array();
    for (const Json& one : value) list.push_back(as_given(one));
    return list;
  }
  if (!value.is_object() || value.size() != 1 || !value.begin()->is_array()) return value;
  if (value.begin().key() != "dict" && value.begin().key() != "Object") return value;
  Json object = Json::object();
  for (const Json& pair : *value.begin()) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string()) return value;
    object[pair[0].get<std::string>()] = as_given(pair[1]);
  }
  return object;
}

/// A result without the arguments, where they are what was given.
std::string told_by(const Entries& results, const Entries& cases, std::size_t at) {
  if (cases.texts.size() != results.texts.size()) return results.texts[at];
  const std::string& given = cases.texts[at];
  if (results.values.empty()) {
    std::string_view text = results.texts[at];
    if (text.ends_with(given)) text.remove_suffix(given.size());
    return std::string(base::trimmed(text));
  }
  Json rest = results.values[at];
  if (rest.is_object() && rest.contains("arguments") && base::canonical(as_given(rest["arguments"])) == given)
    rest.erase("arguments");
  return base::canonical(rest);
}

void keep_some(std::set<std::string>& kept, std::string text) {
  if (kept.size() < kMostDistinct) kept.insert(std::move(text));
}

}  // namespace

void ResultSurvey::add(std::string_view cases, std::string_view results, std::string_view printed,
                       std::string_view said) {
  tells_reads_ = tells_reads_ || tells_reads(said);
  has_output_ = has_output_ || !base::trimmed(results).empty() || !base::trimmed(printed).empty();
  const Entries given = entries_of(cases);
  const Entries gave = entries_of(results);
  for (std::size_t at = 0; at < gave.texts.size(); ++at) {
    ++results_;
    if (is_error(gave, at)) {
      if (++errors_ == 1) first_error_ = gave.texts[at];
    }
    has_iterators_ = has_iterators_ || (!gave.values.empty() && is_iterator(gave.values[at]));
    keep_some(distinct_results_, told_by(gave, given, at));
  }
  if (!base::trimmed(printed).empty()) keep_some(distinct_results_, "printed " + std::string(printed));
  for (const std::string& one : given.texts) keep_some(distinct_cases_, one);
  if (given.texts.size() < 2) return;
  ++files_of_several_;
  if (std::ranges::adjacent_find(given.texts, std::not_equal_to<>()) == given.texts.end()) ++files_of_one_;
}

std::string ResultSurvey::refusal() const {
  if (results_ == 0 || errors_ < results_) return "";
  return fmt::format("each of {} results of the old code is an error, so that nothing is compared; the first: {}",
                     results_, base::ascii_line(first_error_, kShownResult));
}

std::string ResultSurvey::constant() const {
  if (results_ < 2 || distinct_cases_.size() < 2 || distinct_results_.size() != 1) return "";
  return fmt::format("each of {} results is the same, whatever the case, so that they tell nothing: {}", results_,
                     base::ascii_line(*distinct_results_.begin(), kShownResult));
}

std::vector<std::string> ResultSurvey::warnings() const {
  std::vector<std::string> lines;
  if (!has_output_) lines.emplace_back("the driver writes no results, so that nothing is compared");
  if (errors_ > 0 && errors_ >= kManyErrors * results_) {
    lines.push_back(fmt::format("{} of {} results of the old code are errors; the first: {}", errors_, results_,
                                base::ascii_line(first_error_, kShownResult)));
  }
  if (std::string line = constant(); !line.empty()) lines.push_back(std::move(line));
  if (has_iterators_ && !tells_reads_) {
    lines.emplace_back(
        "results are iterators; laziness is not compared: the driver does not tell when they read their input, or they "
        "read no list once and in order");
  }
  if (files_of_several_ > 0 && files_of_one_ == files_of_several_)
    lines.emplace_back("all cases of a file are the same input; draw each of them");
  return lines;
}

}  // namespace accelopt::refactor
