// SPDX-License-Identifier: Apache-2.0
#include "report/narrative.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <optional>
#include <set>

#include "base/text.hpp"

namespace accelopt::report {
namespace {

/// Most that a rounded number may differ from what it stands for: "2x" is not what 1.7 was.
constexpr double kMostRelative = 0.02;

constexpr auto kWords = std::to_array<std::pair<std::string_view, double>>(
    {{"two", 2},      {"three", 3},     {"four", 4},      {"five", 5},      {"six", 6},
     {"seven", 7},    {"eight", 8},     {"nine", 9},      {"ten", 10},      {"eleven", 11},
     {"twelve", 12},  {"thirteen", 13}, {"fourteen", 14}, {"fifteen", 15},  {"sixteen", 16},
     {"twenty", 20},  {"thirty", 30},   {"forty", 40},    {"fifty", 50},    {"sixty", 60},
     {"seventy", 70}, {"eighty", 80},   {"ninety", 90},   {"hundred", 100}, {"thousand", 1000}});
/// Words that compare: a ratio of the record has to be that large.
constexpr auto kRatioWords = std::to_array<std::pair<std::string_view, double>>({{"twice", 2},
                                                                                 {"double", 2},
                                                                                 {"doubled", 2},
                                                                                 {"doubles", 2},
                                                                                 {"half", 2},
                                                                                 {"halved", 2},
                                                                                 {"halves", 2},
                                                                                 {"twofold", 2},
                                                                                 {"triple", 3},
                                                                                 {"tripled", 3},
                                                                                 {"threefold", 3},
                                                                                 {"quadrupled", 4},
                                                                                 {"fourfold", 4},
                                                                                 {"fivefold", 5},
                                                                                 {"tenfold", 10}});
/// Units of time in nanoseconds.
constexpr auto kTimes = std::to_array<std::pair<std::string_view, double>>({{"ns", 1},
                                                                            {"nanoseconds", 1},
                                                                            {"us", 1e3},
                                                                            {"\u00b5s", 1e3},
                                                                            {"\u03bcs", 1e3},
                                                                            {"microseconds", 1e3},
                                                                            {"ms", 1e6},
                                                                            {"milliseconds", 1e6},
                                                                            {"s", 1e9},
                                                                            {"seconds", 1e9}});

/// What a number counts, where that is told behind it.
enum class Kind { plain, ratio, percent, time };
struct Unit {
  Kind kind = Kind::plain;
  double scale = 1;  ///< of a time, nanoseconds
};

template <class Table>
std::optional<double> value_in(const Table& table, std::string_view word) {
  const auto found = std::ranges::find(table, word, &std::pair<std::string_view, double>::first);
  return found == table.end() ? std::nullopt : std::optional(found->second);
}

bool is_digit(char character) {
  return std::isdigit(static_cast<unsigned char>(character)) != 0;
}
bool is_letter(char character) {
  return std::isalpha(static_cast<unsigned char>(character)) != 0 || character == '_';
}

/// A token that says a number: digits, a word, or a name with digits in it.
struct Token {
  std::string text;
  bool is_name = false;
  std::string_view after{};  ///< the text behind it
  Unit unit{};
};

Unit unit_named(std::string_view word) {
  if (word == "x" || word == "times" || word == "fold") return {Kind::ratio, 1};
  if (word == "percent") return {Kind::percent, 1};
  if (const auto scale = value_in(kTimes, word)) return {Kind::time, *scale};
  return {};
}

/// The unit that stands behind a number, with at most one blank or dash between.
Unit unit_behind(std::string_view after) {
  if (after.starts_with(' ') || after.starts_with('-')) after.remove_prefix(1);
  if (after.starts_with('%')) return {Kind::percent, 1};
  // Letters, and the bytes of a micro sign.
  const auto end = std::ranges::find_if(after, [](char c) {
    return std::isalpha(static_cast<unsigned char>(c)) == 0 && static_cast<unsigned char>(c) < 0x80;
  });
  return unit_named(after.substr(0, static_cast<std::size_t>(end - after.begin())));
}

/// Letters, digits, and what joins them: dots between two of them, and commas between digits.
std::vector<Token> tokens_of(std::string_view text) {
  std::vector<Token> tokens;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_digit(text[at]) && !is_letter(text[at])) {
      ++at;
      continue;
    }
    std::string token;
    bool digits = false;
    bool letters = false;
    for (; at < text.size(); ++at) {
      const bool joins =
          at + 1 < text.size() && !token.empty() &&
          ((text[at] == '.' && (is_digit(text[at + 1]) || is_letter(text[at + 1])) && is_digit(text[at - 1])) ||
           (text[at] == ',' && is_digit(text[at - 1]) && is_digit(text[at + 1])));
      if (!joins && !is_digit(text[at]) && !is_letter(text[at])) break;
      digits = digits || is_digit(text[at]);
      letters = letters || is_letter(text[at]);
      token += text[at];
    }
    if (digits || letters) tokens.push_back({std::move(token), digits && letters, text.substr(at)});
  }
  return tokens;
}

/// "28.5x" is 28.5 times, "93us" 93 of a unit: a number with what it counts; "float16" is a name.
void split_unit(Token& token) {
  if (!token.is_name) {
    token.unit = unit_behind(token.after);
    return;
  }
  if (!is_digit(token.text.front())) return;
  const auto end = std::ranges::find_if(token.text, is_letter);
  if (std::any_of(end, token.text.end(), is_digit)) return;  // "16x16", "2d3": a name
  token.unit = unit_named(std::string_view(end, token.text.end()));
  token.text.erase(end, token.text.end());
  token.is_name = false;
}

struct Number {
  double value = 0;
  int decimals = 0;
};
/// None: a name, or a version with two points.
std::optional<Number> number_of(const Token& token) {
  if (token.is_name || !is_digit(token.text.front())) return std::nullopt;
  std::string digits = token.text;
  std::erase(digits, ',');
  if (std::ranges::count(digits, '.') > 1) return std::nullopt;
  const std::size_t point = digits.find('.');
  return Number{std::stod(digits), point == std::string::npos ? 0 : static_cast<int>(digits.size() - point - 1)};
}

/// A record's values by what they count.
struct Values {
  std::vector<double> all;
  std::vector<double> ratios;
  std::vector<double> percents;
  std::vector<double> times_ns;
};

bool names_a_ratio(std::string_view key) {
  constexpr auto kKeys = std::to_array<std::string_view>({"estimate", "low", "high", "ratio", "speedup", "score"});
  return std::ranges::find(kKeys, key) != kKeys.end();
}

void add_values(const base::Json& json, std::string_view key, Values& values) {
  if (json.is_number()) {
    const auto value = json.get<double>();
    values.all.push_back(value);
    if (names_a_ratio(key)) values.ratios.push_back(value);
    if (value >= 0 && value <= 1) values.percents.push_back(value * 100);
    if (key.ends_with("_ns")) values.times_ns.push_back(value);
  }
  if (json.is_array()) {
    for (const base::Json& inner : json) add_values(inner, key, values);
  }
  if (json.is_object()) {
    for (const auto& [name, inner] : json.items()) add_values(inner, name, values);
  }
  if (json.is_structured()) values.all.push_back(static_cast<double>(json.size()));  // "seven steps"
}

/// Whether one of the values is what the number with that many decimals rounds.
bool rounds(double number, int decimals, const std::vector<double>& values) {
  const double half = 0.5 * std::pow(10, -decimals) * (1 + 1e-9);
  return std::ranges::any_of(values, [&](double value) {
    return std::abs(value - number) <= std::min(half, kMostRelative * std::abs(value)) || value == number;
  });
}

class Record {
 public:
  explicit Record(const NumberRecord& record) {
    for (Token& token : tokens_of(record.text)) {
      words_.insert(token.text);
      split_unit(token);
      words_.insert(token.text);
      const auto number = number_of(token);
      if (!number) continue;
      if (token.unit.kind == Kind::ratio) values_.ratios.push_back(number->value);
      if (token.unit.kind == Kind::percent) values_.percents.push_back(number->value);
      if (token.unit.kind == Kind::time) values_.times_ns.push_back(number->value * token.unit.scale);
    }
    add_values(record.values, "", values_);
  }

  [[nodiscard]] bool has_word(const std::string& word) const { return words_.contains(word); }

  /// What a number counts has to be what the record's counts.
  [[nodiscard]] bool has(const Number& number, const Unit& unit) const {
    switch (unit.kind) {
      case Kind::ratio:
        return rounds(number.value, number.decimals, values_.ratios);
      case Kind::percent:
        return rounds(number.value, number.decimals, values_.percents);
      case Kind::time: {
        std::vector<double> scaled;
        for (const double time : values_.times_ns) scaled.push_back(time / unit.scale);
        return rounds(number.value, number.decimals, scaled);
      }
      case Kind::plain:
        return rounds(number.value, number.decimals, values_.all);
    }
    return false;
  }
  [[nodiscard]] bool has(const Token& token) const {
    const auto number = number_of(token);
    if (!number) return has_word(token.text);
    return (token.unit.kind == Kind::plain && has_word(token.text)) || has(*number, token.unit);
  }

 private:
  std::set<std::string> words_;
  Values values_;
};

}  // namespace

std::vector<std::string> numbers_off_record(std::string_view prose, const NumberRecord& record) {
  const Record known(record);
  std::vector<std::string> missing;
  const auto add = [&](const std::string& text) {
    if (std::ranges::find(missing, text) == missing.end()) missing.push_back(text);
  };
  for (Token& token : tokens_of(prose)) {
    if (std::ranges::any_of(token.text, is_digit)) {
      const std::string whole = token.text;
      split_unit(token);
      if (!known.has(token)) add(whole);
      continue;
    }
    const std::string lower = base::lower(token.text);
    if (const auto ratio = value_in(kRatioWords, lower)) {
      if (!known.has_word(token.text) && !known.has({*ratio, 0}, {Kind::ratio, 1})) add(token.text);
    } else if (const auto count = value_in(kWords, lower)) {
      const Unit unit = unit_behind(token.after);
      if (!(unit.kind == Kind::plain && known.has_word(token.text)) && !known.has({*count, 0}, unit)) add(token.text);
    }
  }
  return missing;
}

}  // namespace accelopt::report
