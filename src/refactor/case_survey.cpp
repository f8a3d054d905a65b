// SPDX-License-Identifier: Apache-2.0
#include "refactor/case_survey.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"

namespace accelopt::refactor {
namespace {

using base::Json;

constexpr int kSmallSizes = 6;     ///< 0 to 5 are compared always
constexpr int kCasesPerSize = 20;  ///< small ones are cheap
/// A whole number over 2^53 is none that a double holds: 16 digits and more.
constexpr double kLargestWhole = 9007199254740992.0;
constexpr std::ptrdiff_t kManyDigitsFrom = 16;

bool has_many_digits(std::string_view text) {
  const auto is_digit = [](char letter) { return letter >= '0' && letter <= '9'; };
  for (auto at = text.begin(); at != text.end();) {
    at = std::find_if(at, text.end(), is_digit);
    const auto end = std::find_if_not(at, text.end(), is_digit);
    if (end - at >= kManyDigitsFrom) return true;
    at = end;
  }
  return false;
}

}  // namespace

std::vector<std::int64_t> compared_sizes(const Workload& workload) {
  std::vector<std::int64_t> sizes;
  for (int size = 0; size < kSmallSizes; ++size) sizes.push_back(size);
  sizes.push_back(17);  // odd, and no power of two
  if (workload.role == Role::check)
    sizes.insert(sizes.end(), workload.sizes.begin(), workload.sizes.end());
  else
    sizes.push_back(workload.sizes.front());
  return sizes;
}

int compared_count(const Workload& workload, std::int64_t size) {
  return size < 20 ? kCasesPerSize : workload.count;
}

std::string repeated_cases(std::string_view cases) {
  std::set<std::string> seen;
  std::size_t count = 0;
  const auto whole = base::parse_json(cases, "cases");
  if (whole && whole->is_array()) {
    for (const Json& one : *whole) seen.insert(base::canonical(one));
    count = whole->size();
  } else {
    while (!cases.empty()) {
      const std::string_view line = base::first_line(cases);
      cases.remove_prefix(std::min(line.size() + 1, cases.size()));
      if (base::trimmed(line).empty()) continue;
      seen.emplace(line);
      ++count;
    }
  }
  if (seen.size() == count) return "";
  return fmt::format(
      "{} of {} cases of a file are equal to earlier ones, so that keeping results gains on them alone; "
      "draw each of them",
      count - seen.size(), count);
}

void CaseSurvey::add(std::string_view cases) {
  ++files_;
  if (const auto whole = base::parse_json(cases, "cases")) return look_at(*whole);
  while (!cases.empty()) {
    const std::size_t end = std::min(cases.find('\n'), cases.size());
    const std::string_view line = cases.substr(0, end);
    cases.remove_prefix(std::min(end + 1, cases.size()));
    if (line.empty()) continue;
    if (const auto value = base::parse_json(line, "a case"))
      look_at(*value);
    else
      look_at_text(line);
  }
}

void CaseSurvey::look_at(const Json& value) {
  if (value.is_number()) {
    const double number = value.get<double>();
    note(numbers);
    if (number < 0) note(negative);
    if (number == 0) note(zero);
    if (std::abs(number) > kLargestWhole) note(large);
  } else if (value.is_string()) {
    look_at_text(value.get_ref<const std::string&>());
  } else if (value.is_array()) {
    note(lists);
    if (value.empty()) note(empty_list);
    if (value.size() == 1) note(list_of_one);
    std::set<std::string> elements;
    for (const Json& element : value) {
      look_at(element);
      if (!seen_[repeated] && !elements.insert(base::canonical(element)).second) note(repeated);
    }
  } else if (value.is_object()) {
    for (const auto& [key, member] : value.items()) {
      look_at_text(key);
      look_at(member);
    }
  }
}

void CaseSurvey::look_at_text(std::string_view text) {
  note(texts);
  if (text.empty()) note(empty_text);
  if (std::ranges::any_of(text, [](char letter) { return static_cast<unsigned char>(letter) > 0x7f; }))
    note(outside_ascii);
  if (text.find('\n') != text.npos) note(line_break);
  if (has_many_digits(text)) note(many_digits);
}

std::vector<std::string> CaseSurvey::missing() const {
  std::vector<std::string> names;
  const auto tell = [&](Trait kind, Trait trait, const char* name) {
    if (seen_[kind] && !seen_[trait]) names.emplace_back(name);
  };
  tell(numbers, negative, "a negative number");
  tell(numbers, zero, "zero");
  tell(numbers, large, "a number over 2^53");
  tell(texts, empty_text, "an empty text");
  tell(texts, outside_ascii, "a text outside of ASCII");
  tell(texts, line_break, "a text of several lines");
  tell(texts, many_digits, "a text with over 15 digits in a row");
  tell(lists, empty_list, "an empty list");
  tell(lists, list_of_one, "a list of one");
  tell(lists, repeated, "a list with equal elements");
  return names;
}

}  // namespace accelopt::refactor
