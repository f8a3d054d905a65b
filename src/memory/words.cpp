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

}  // namespace

std::vector<std::string> words_of(std::string_view text, std::size_t most) {
  std::vector<std::string> words;
  std::set<std::string, std::less<>> known;
  std::string word;
  const auto finish = [&] {
    const bool fits = word.size() >= kShortest && word.size() <= kLongest && words.size() < most;
    const bool common = std::ranges::find(kCommon, std::string_view(word)) != kCommon.end();
    const bool number = std::isdigit(static_cast<unsigned char>(word.empty() ? '0' : word[0])) != 0;
    if (fits && !common && !number && known.insert(word).second) words.push_back(word);
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

std::string indexed_text(const model::Experience& experience) {
  std::string text;
  for (const std::string* part : {&experience.title, &experience.strategy, &experience.before, &experience.after,
                                  &experience.op_type, &experience.task, &experience.bound})
    text += *part + '\n';
  return text;
}

}  // namespace accelopt::memory
