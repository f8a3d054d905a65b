// SPDX-License-Identifier: Apache-2.0
#include "memory/sanitation.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "base/text.hpp"

namespace accelopt::memory {
namespace {

/// Characters that a note needs none of.
bool is_unwanted(char32_t c) {
  return base::is_control(c) || base::changes_direction(c) || base::is_invisible(c);
}

enum class Lines { one, many };

/// How many characters from there on are printable ASCII, at most `most`.
std::size_t plain_run(std::string_view text, std::size_t at, std::size_t most) {
  std::size_t end = at;
  while (end < text.size() && end - at < most && text[end] >= 0x20 && text[end] < 0x7f) ++end;
  return end - at;
}

void suspect(std::vector<std::string>& suspicions, std::string reason) {
  if (std::ranges::find(suspicions, reason) == suspicions.end()) suspicions.push_back(std::move(reason));
}

void fit(std::string& text, std::size_t longest, Lines lines, std::vector<std::string>& suspicions) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t plain = plain_run(text, at, longest - std::min(longest, out.size())); plain > 0) {
      out.append(text, at, plain);
      at += plain;
      continue;
    }
    const base::Character letter = base::first_character(std::string_view(text).substr(at));
    const bool line_end = letter.code == '\r' || letter.code == '\n';
    const std::size_t bytes = letter.bytes;
    if (!letter.valid || is_unwanted(letter.code)) {
      suspect(suspicions, letter.valid ? "control or invisible characters" : "bytes that are no text");
    } else if (out.size() + bytes > longest) {
      suspect(suspicions, "over " + std::to_string(longest) + " bytes: cut");
      break;
    } else if (line_end && lines == Lines::one) {
      out += ' ';
    } else if (letter.code != '\r') {
      out.append(text, at, bytes);
    }
    at += bytes;
  }
  text = std::move(out);
}

/// How many bytes of white space begin there: ASCII's, and the wider ones of Unicode.
std::size_t blank_at(std::string_view text, std::size_t at) {
  const char c = text[at];
  if (c == ' ' || (c >= '\t' && c <= '\r')) return 1;
  if (static_cast<unsigned char>(c) < 0x80) return 0;
  const base::Character letter = base::first_character(text.substr(at));
  const char32_t it = letter.code;
  const bool blank = it == 0x85 || it == 0xa0 || it == 0x1680 || (it >= 0x2000 && it <= 0x200a) || it == 0x2028 ||
                     it == 0x2029 || it == 0x202f || it == 0x205f || it == 0x3000;
  return letter.valid && blank ? letter.bytes : 0;
}

/// ASCII letters as small ones, whatever the locale, and each stretch of white space as one blank or, where it holds
/// one, as one line end; a line end before it all. Bulk insertions spend their time in functions like this.
std::string folded_of(std::string_view text) {
  std::string out(text.size() + 1, '\n');
  std::size_t end = 1;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    std::size_t bytes = c > ' ' && c < 0x7f ? 0 : blank_at(text, at);
    if (bytes == 0) {
      out[end++] = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      ++at;
      continue;
    }
    char blank = ' ';
    for (; at < text.size() && (bytes = blank_at(text, at)) > 0; at += bytes)
      if (text[at] == '\n' || text[at] == '\r') blank = '\n';
    out[end++] = blank;
  }
  out.resize(end);
  return out;
}

bool is_word_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// How orders to a model begin.
constexpr auto kOrders = std::to_array<std::string_view>({"ignore all previous",
                                                          "ignore previous",
                                                          "ignore the above",
                                                          "ignore all prior",
                                                          "ignore any previous",
                                                          "ignore your",
                                                          "disregard",
                                                          "forget everything",
                                                          "forget all",
                                                          "you are now",
                                                          "you must now",
                                                          "new instructions",
                                                          "system prompt",
                                                          "as an ai",
                                                          "do not tell",
                                                          "override your",
                                                          "instead, output",
                                                          "instead output",
                                                          "rm -rf",
                                                          "curl http",
                                                          "api key",
                                                          "api_key"});

/// Of C++ itself: what includes them is no message.
constexpr auto kHeaders = std::to_array<std::string_view>({"<system_error>", "<functional>"});

bool begins_with_any(std::string_view text, std::span<const std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return text.starts_with(word); });
}

/// Words by their first letter: most letters of a text begin none, the others few.
class WordsByLetter {
 public:
  explicit WordsByLetter(std::span<const std::string_view> words) {
    for (const std::string_view word : words) words_[static_cast<unsigned char>(word[0])].push_back(word);
  }

  /// Whether one of them begins a word there, or anywhere where it begins with no letter.
  [[nodiscard]] bool any_in(std::string_view text) const {
    for (std::size_t at = 0; at < text.size(); ++at) {
      const auto& words = words_[static_cast<unsigned char>(text[at])];
      if (words.empty()) continue;
      const bool inside = at > 0 && is_word_letter(text[at - 1]) && is_word_letter(text[at]);
      if (!inside && begins_with_any(text.substr(at), words) && !begins_with_any(text.substr(at), kHeaders))
        return true;
    }
    return false;
  }

 private:
  std::array<std::vector<std::string_view>, 256> words_;
};

}  // namespace

std::vector<std::string> suspicions_of(std::string_view text) {
  std::vector<std::string> found;
  std::string folded = folded_of(text);
  if (folded.find("```") != std::string::npos || folded.find("~~~") != std::string::npos)
    found.emplace_back("closes a code fence");
  static const WordsByLetter wrappers(base::kMessageMarks);
  static const WordsByLetter orders(kOrders);
  if (wrappers.any_in(folded)) found.emplace_back("begins or ends messages");
  std::ranges::replace(folded, '\n', ' ');
  if (orders.any_in(folded)) found.emplace_back("orders to a model");
  return found;
}

bool is_store_id(std::string_view id) {
  return id.size() == 16 && id.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Fit made_fit(const model::Experience& experience) {
  Fit result{experience, {}};
  model::Experience& it = result.experience;
  if (it.workloads.size() > kMostWorkloads) {
    suspect(result.suspicions, "over " + std::to_string(kMostWorkloads) + " workloads: cut");
    it.workloads.resize(kMostWorkloads);
  }
  const auto tell = [&](const std::string& text) {
    for (std::string& reason : suspicions_of(text)) suspect(result.suspicions, std::move(reason));
  };
  const auto fit_told = [&](std::string& text, std::size_t longest, Lines lines) {
    fit(text, longest, lines, result.suspicions);
    tell(text);
  };
  fit_told(it.title, kLongestTitle, Lines::one);
  for (std::string* word : {&it.language, &it.op_type, &it.target, &it.device, &it.bound, &it.task, &it.slow, &it.fast,
                            &it.run, &it.created, &it.model})
    fit_told(*word, kLongestWord, Lines::one);
  for (std::string* text : {&it.strategy, &it.before, &it.after}) fit_told(*text, kLongestText, Lines::many);
  fit_told(it.toolchain, kLongestToolchain, Lines::one);
  fit_told(it.diff, kLongestDiff, Lines::many);
  for (model::WorkloadEffect& effect : it.workloads) fit_told(effect.workload, kLongestWord, Lines::one);
  for (std::int64_t* count : {&it.credit.shown, &it.credit.used, &it.credit.confirmed, &it.credit.refuted})
    *count = std::clamp<std::int64_t>(*count, 0, kMostCredit);
  it.agreeing = 0;
  it.contradicting = 0;
  if (!is_store_id(it.id)) it.id = model::content_id(it);
  return result;
}

}  // namespace accelopt::memory
