// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fstream>

namespace accelopt::base {
namespace {

bool is_hex_of(std::string_view digits, std::size_t count, char byte) {
  unsigned value = 0;
  if (digits.size() < count) return false;
  const char* end = digits.data() + count;
  const auto [read, problem] = std::from_chars(digits.data(), end, value, 16);
  return problem == std::errc() && read == end && value == static_cast<unsigned char>(byte);
}

/// How many bytes at the head of the text mean this byte: itself, "\u002f", "\/" or "%2f"; 0: they mean another one.
std::size_t length_of_byte(std::string_view text, char byte) {
  constexpr std::size_t kMostBackslashes = 3;  // JSON in a string of JSON
  const std::string_view head = text.substr(0, kMostBackslashes);
  const std::size_t slashes = std::min(head.find_first_not_of('\\'), head.size());
  if (slashes > 0) {
    const std::string_view rest = text.substr(slashes);
    if (rest.starts_with('u') && is_hex_of(rest.substr(1), 4, byte)) return slashes + 5;
    if (byte == '\\' && slashes >= 2) return 2;
    if (byte != '\\' && rest.starts_with(byte)) return slashes + 1;
  }
  if (text.starts_with('%') && is_hex_of(text.substr(1), 2, byte)) return 3;
  return text.starts_with(byte) ? 1 : 0;
}

/// How many bytes of the text the secret takes that it begins with; 0: it does not.
std::size_t length_of_secret(std::string_view text, std::string_view secret) {
  if (text.starts_with(secret)) return secret.size();
  std::size_t at = 0;
  for (const char byte : secret) {
    const std::size_t length = length_of_byte(text.substr(at), byte);
    if (length == 0) return 0;
    at += length;
  }
  return at;
}

/// The text with "[key]" wherever a server shows the head or the tail of the secret around a mask: "sk-proj-****WXYZ",
/// "sk-...WXYZ".
std::string without_masked(std::string_view text, std::string_view secret) {
  constexpr std::size_t kShortestMasked = 16;  // a shorter one is a placeholder, or shown whole
  constexpr std::size_t kShortestMask = 3;
  constexpr std::size_t kShortestShown = 4;
  std::string out;
  if (secret.size() < kShortestMasked) return std::string(text);
  const auto is_shown = [](char c) { return is_word(c) || c == '-'; };
  for (std::size_t at = 0; at < text.size();) {
    const char mark = text[at];
    const std::size_t end = mark == '*' || mark == '.' ? std::min(text.find_first_not_of(mark, at), text.size()) : at;
    if (end - at < kShortestMask) {
      out += mark;
      ++at;
      continue;
    }
    const auto shown_until = std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(end), text.end(), is_shown);
    const auto until = static_cast<std::size_t>(shown_until - text.begin());
    const auto head = static_cast<std::size_t>(std::find_if_not(out.rbegin(), out.rend(), is_shown) - out.rbegin());
    const std::string_view tail = text.substr(end, until - end);
    const bool begins = head >= kShortestShown && secret.starts_with(std::string_view(out).substr(out.size() - head));
    const bool ends = tail.size() >= kShortestShown && secret.ends_with(tail);
    if (begins || ends) out.resize(out.size() - head);
    out += begins || ends ? std::string_view("[key]") : text.substr(at, end - at);
    at = begins || ends ? until : end;
  }
  return out;
}

}  // namespace

Character first_character(std::string_view text) {
  const auto byte = [&text](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t length = lead >= 0xf0 && lead < 0xf5   ? 4
                             : lead >= 0xe0 && lead < 0xf0 ? 3
                             : lead >= 0xc2 && lead < 0xe0 ? 2
                                                           : 0;
  if (length == 0 || text.size() < length) return {};
  std::uint32_t code = lead & (0xffU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return {};
    code = (code << 6U) | (byte(i) & 0x3fU);
  }
  constexpr std::array<std::uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};  // by length: no overlong forms
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < kLeast[length] || surrogate || code > 0x10ffff) return {};
  return {code, length, true};
}

bool is_control(char32_t c) {
  return (c < 0x20 && c != '\t' && c != '\n' && c != '\r') || (c >= 0x7f && c < 0xa0);
}

bool changes_direction(char32_t c) {
  return c == 0x061c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

bool is_invisible(char32_t c) {
  return c == 0x00ad || (c >= 0x200b && c <= 0x200d) || (c >= 0x2028 && c <= 0x2029) || (c >= 0x2060 && c <= 0x2064) ||
         c == 0xfeff || (c >= 0xfe00 && c <= 0xfe0f) || (c >= 0xe0000 && c <= 0xe0fff);
}

std::string_view trimmed(std::string_view text, std::string_view blanks) {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  for (text = trimmed(text); !text.empty(); text = trimmed(text)) {
    words.push_back(text.substr(0, text.find_first_of(kBlanks)));
    text.remove_prefix(words.back().size());
  }
  return words;
}

bool has_word(std::string_view text, std::string_view word) {
  const std::vector<std::string_view> words = split_words(text);
  return std::ranges::find(words, word) != words.end();
}

std::string quoted_list(const std::vector<std::string>& texts) {
  return "[" + joined(texts, ", ", [](const std::string& text) { return "\"" + text + "\""; }) + "]";
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return out;
}

std::string_view first_line(std::string_view text, std::size_t most) {
  return text.substr(0, std::min(text.find('\n'), most));
}

std::string first_line_of_file(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

std::string with_line_ends_of(std::string_view model, std::string text) {
  const auto all = [](std::string_view lines) { return std::ranges::count(lines, '\n'); };
  const auto of_two = [](std::string_view lines) {
    std::ptrdiff_t found = 0;
    for (std::size_t at = lines.find("\r\n"); at != lines.npos; at = lines.find("\r\n", at + 2)) ++found;
    return found;
  };
  if (all(text) == 0 || all(model) == 0) return text;
  const bool shortens = of_two(text) == all(text) && of_two(model) == 0;
  const bool lengthens = of_two(text) == 0 && of_two(model) == all(model);
  if (!shortens && !lengthens) return text;
  std::string out;
  for (const char c : text) {
    if (c == '\n' && lengthens) out += '\r';
    if (c == '\n' && shortens) out.pop_back();
    out += c;
  }
  return out;
}

std::string ascii_line(std::string_view text, std::size_t most, char instead) {
  std::string out(text.substr(0, most));
  std::ranges::replace_if(
      out, [](char c) { return c < ' ' || c > '~'; }, instead);
  return out;
}

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const char c : text) {
    if (is_word(c) || c == '-' || c == '.' || c == '~') {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += kDigits[byte >> 4U];
    out += kDigits[byte & 0xFU];
  }
  return out;
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    const char* const digits = text.data() + i + 1;
    if (text[i] == '%' && i + 2 < text.size() && std::from_chars(digits, digits + 2, value, 16).ptr == digits + 2) {
      out += static_cast<char>(value);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string without_secret(std::string_view text, std::string_view secret) {
  constexpr std::size_t kShortestSecret = 3;
  if (secret.size() < kShortestSecret) return std::string(text);
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = length_of_secret(text.substr(at), secret);
    out += length > 0 ? std::string_view("[key]") : text.substr(at, 1);
    at += std::max<std::size_t>(length, 1);
  }
  return without_masked(out, secret);
}

}  // namespace accelopt::base
