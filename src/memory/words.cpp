// SPDX-License-Identifier: Apache-2.0
#include "memory/words.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

namespace accelopt::memory {
namespace {

constexpr std::size_t kShortest = 3;
constexpr std::size_t kLongest = 40;

/// Words that tell no kernel from another.
constexpr auto kCommon = std::to_array<std::string_view>(
    {"and",      "auto",     "break",     "char", "const",   "continue", "double",   "else",   "extern",
     "float",    "for",      "from",      "have", "include", "inline",   "int",      "int64",  "into",
     "kernel",   "long",     "namespace", "not",  "null",    "nullptr",  "restrict", "return", "short",
     "size",     "sizeof",   "static",    "std",  "struct",  "template", "that",     "the",    "this",
     "typename", "unsigned", "using",     "void", "when",    "where",    "while",    "with"});

bool is_common(std::string_view word) {
  return std::ranges::find(kCommon, word) != kCommon.end();
}

/// Capitals and their small letters, as far apart as `step`: @source Unicode, blocks of simple case pairs.
struct Capitals {
  unsigned int first = 0;
  unsigned int last = 0;
  unsigned int step = 0;
};
constexpr auto kCapitals = std::to_array<Capitals>({{0x41, 0x5a, 32},
                                                    {0xc0, 0xd6, 32},
                                                    {0xd8, 0xde, 32},
                                                    {0x391, 0x3a1, 32},
                                                    {0x3a3, 0x3a9, 32},
                                                    {0x400, 0x40f, 80},
                                                    {0x410, 0x42f, 32}});

enum class Case { small, capital };

unsigned int in_case(unsigned int letter, Case wanted) {
  for (const Capitals& range : kCapitals) {
    if (wanted == Case::small && letter >= range.first && letter <= range.last) return letter + range.step;
    const bool is_small = letter >= range.first + range.step && letter <= range.last + range.step;
    if (wanted == Case::capital && is_small) return letter - range.step;
  }
  return letter;
}

/// The text with the case of its letters changed, the first `most` of them; the rest is kept. Letters of two bytes at
/// most have a case here.
std::string with_case(std::string_view text, Case wanted, std::size_t most) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); --most) {
    if (most == 0) return out += text.substr(at);
    const auto lead = static_cast<unsigned char>(text[at]);
    const auto next = static_cast<unsigned char>(at + 1 < text.size() ? text[at + 1] : 0);
    if (lead < 0x80) {
      out += static_cast<char>(in_case(lead, wanted));
      ++at;
    } else if (lead >= 0xc2 && lead < 0xe0 && (next & 0xc0U) == 0x80U) {
      const unsigned int letter = in_case(((lead & 0x1fU) << 6U) | (next & 0x3fU), wanted);
      out += static_cast<char>(0xc0U | (letter >> 6U));
      out += static_cast<char>(0x80U | (letter & 0x3fU));
      at += 2;
    } else {
      out += text[at++];
    }
  }
  return out;
}

constexpr std::size_t kAllLetters = std::string_view::npos;

enum class Numbers { left_out, kept };

std::vector<std::string> words_of(std::string_view text, std::size_t most, Numbers numbers) {
  std::vector<std::string> words;
  std::set<std::string, std::less<>> known;
  std::string word;
  const auto finish = [&] {
    const bool number = !word.empty() && std::isdigit(static_cast<unsigned char>(word[0])) != 0;
    const bool counts = number ? numbers == Numbers::kept : word.size() >= kShortest && !is_common(word);
    const bool fits = word.size() <= kLongest && words.size() < most;
    if (counts && fits && known.insert(word).second) words.push_back(word);
    word.clear();
  };
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) {
      if (word.size() <= kLongest) word += static_cast<char>(std::tolower(byte));
    } else {
      finish();
      if (words.size() >= most) break;
    }
  }
  finish();
  return words;
}

}  // namespace

std::vector<std::string> words_of(std::string_view text, std::size_t most) {
  return words_of(text, most, Numbers::left_out);
}

std::vector<std::string> words_and_numbers_of(std::string_view text, std::size_t most) {
  return words_of(text, most, Numbers::kept);
}

bool is_ascii(std::string_view word) {
  return std::ranges::all_of(word, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

std::vector<std::string> spelled_words(std::string_view text, std::size_t most) {
  std::vector<std::string> words;
  std::set<std::string, std::less<>> known;
  const auto is_letter = [](char c) {
    return static_cast<unsigned char>(c) >= 0x80 || std::isalnum(static_cast<unsigned char>(c)) != 0;
  };
  for (std::size_t at = 0; at < text.size() && words.size() < most;) {
    std::size_t end = at;
    while (end < text.size() && is_letter(text[end])) ++end;
    if (end > at) {
      std::string word = with_case(text.substr(at, end - at), Case::small, kAllLetters);
      if (known.insert(word).second) words.push_back(std::move(word));
    }
    at = end + 1;
  }
  return words;
}

std::vector<std::string> search_words(std::string_view text, std::size_t most) {
  std::vector<std::string> words = spelled_words(text, most);
  if (!std::ranges::all_of(words, is_common)) std::erase_if(words, is_common);
  return words;
}

std::vector<std::string> spellings_of(std::string_view word) {
  const std::string small = with_case(word, Case::small, kAllLetters);
  return {small, with_case(small, Case::capital, kAllLetters), with_case(small, Case::capital, 1)};
}

std::string indexed_text(const model::Experience& experience) {
  std::string text;
  for (const std::string* part : {&experience.title, &experience.strategy, &experience.before, &experience.after,
                                  &experience.op_type, &experience.task, &experience.bound})
    text += *part + '\n';
  return text;
}

}  // namespace accelopt::memory
