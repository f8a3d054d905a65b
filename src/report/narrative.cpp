// SPDX-License-Identifier: Apache-2.0
#include "report/narrative.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <set>

#include "base/text.hpp"

namespace accelopt::report {
namespace {

/// Most that a rounded number may differ from what it stands for: "2x" is not what 1.7 was.
constexpr double kMostRelative = 0.02;

constexpr auto kWords = std::to_array<std::pair<std::string_view, double>>(
    {{"three", 3},    {"four", 4},       {"five", 5},      {"six", 6},      {"seven", 7},     {"eight", 8},
     {"nine", 9},     {"ten", 10},       {"eleven", 11},   {"twelve", 12},  {"thirteen", 13}, {"fourteen", 14},
     {"fifteen", 15}, {"sixteen", 16},   {"twenty", 20},   {"thirty", 30},  {"forty", 40},    {"fifty", 50},
     {"sixty", 60},   {"seventy", 70},   {"eighty", 80},   {"ninety", 90},  {"hundred", 100}, {"thousand", 1000},
     {"tripled", 3},  {"quadrupled", 4}, {"threefold", 3}, {"fourfold", 4}, {"fivefold", 5},  {"tenfold", 10}});

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
};

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
    if (digits || letters) tokens.push_back({std::move(token), digits && letters});
  }
  return tokens;
}

/// "28.5x" is 28.5 times, "93us" 93 of a unit: a number with what it counts; "float16" is a name.
void split_unit(Token& token) {
  if (!token.is_name || !is_digit(token.text.front())) return;
  const auto end = std::ranges::find_if(token.text, is_letter);
  if (std::any_of(end, token.text.end(), is_digit)) return;  // "16x16", "2d3": a name
  token.text.erase(end, token.text.end());
  token.is_name = false;
}

void add_values(const base::Json& json, std::vector<double>& values) {
  if (json.is_number()) values.push_back(json.get<double>());
  if (json.is_structured()) {
    for (const base::Json& inner : json) add_values(inner, values);
    values.push_back(static_cast<double>(json.size()));  // "two steps", "eight attempts"
  }
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
    }
    add_values(record.values, values_);
    const std::size_t count = values_.size();
    for (std::size_t i = 0; i < count; ++i) values_.push_back(values_[i] * 100);
  }

  [[nodiscard]] bool has(const Token& token) const {
    if (words_.contains(token.text)) return true;
    if (token.is_name || !is_digit(token.text.front())) return false;
    std::string digits = token.text;
    std::erase(digits, ',');
    if (std::ranges::count(digits, '.') > 1) return false;
    const std::size_t point = digits.find('.');
    const int decimals = point == std::string::npos ? 0 : static_cast<int>(digits.size() - point - 1);
    return rounds(std::stod(digits), decimals, values_);
  }
  [[nodiscard]] bool has(double value) const { return rounds(value, 0, values_); }

 private:
  std::set<std::string> words_;
  std::vector<double> values_;
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
      if (!known.has(token) && !known.has(Token{whole, true})) add(whole);
      continue;
    }
    const std::string lower = base::lower(token.text);
    const auto word = std::ranges::find(kWords, std::string_view(lower), &std::pair<std::string_view, double>::first);
    if (word != kWords.end() && !known.has(token) && !known.has(word->second)) add(token.text);
  }
  return missing;
}

}  // namespace accelopt::report
