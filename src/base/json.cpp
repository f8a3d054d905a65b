// SPDX-License-Identifier: Apache-2.0
#include "base/json.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace accelopt::base {

Result<Json> parse_json(std::string_view text, std::string_view what) {
  try {
    return Json::parse(text);
  } catch (const nlohmann::json::exception& problem) {
    return fail(ErrorCode::parse, std::string(what) + ": " + problem.what());
  }
}

namespace {

std::string dumped(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Whether each of 8 characters stands in JSON as it is: ASCII, no control character, no quote, no backslash.
bool all_plain(const char* characters) {
  constexpr std::uint64_t kOnes = 0x0101010101010101U;
  constexpr std::uint64_t kHighBits = 0x8080808080808080U;
  std::uint64_t word = 0;
  std::memcpy(&word, characters, sizeof word);
  // The highest bit of a byte below n, for n up to 128; wrong at worst above one that is below it as well.
  const auto below = [](std::uint64_t value, std::uint64_t n) { return (value - kOnes * n) & ~value; };
  const std::uint64_t quotes = below(word ^ (kOnes * '"'), 1);
  const std::uint64_t backslashes = below(word ^ (kOnes * '\\'), 1);
  return ((word | below(word, 0x20) | quotes | backslashes) & kHighBits) == 0;
}

/// What the library writes, in runs of plain characters and without an object for each number: most of what is written
/// are sources and prompts, which the library decodes byte by byte.
class CanonicalText {
 public:
  void add(const Json& value) {
    switch (value.type()) {
      case Json::value_t::object:
        return add_object(value);
      case Json::value_t::array:
        return add_array(value);
      case Json::value_t::string:
        return add_string(value.get_ref<const std::string&>());
      case Json::value_t::null:
        text_ += "null";
        return;
      case Json::value_t::boolean:
        text_ += value.get<bool>() ? "true" : "false";
        return;
      case Json::value_t::number_integer:
        return add_whole(value.get<std::int64_t>());
      case Json::value_t::number_unsigned:
        return add_whole(value.get<std::uint64_t>());
      case Json::value_t::number_float:
        return add_real(value.get<double>());
      default:
        text_ += dumped(value);
    }
  }
  std::string take() { return std::move(text_); }

 private:
  template <class Whole>
  void add_whole(Whole value) {
    std::array<char, 24> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    text_.append(digits.data(), end);
  }

  /// In the library's own digits: texts with these numbers have been hashed.
  void add_real(double value) {
    if (!std::isfinite(value)) {
      text_ += "null";
      return;
    }
    std::array<char, 64> digits{};
    char* const end = nlohmann::detail::to_chars(digits.data(), digits.data() + digits.size(), value);
    text_.append(digits.data(), end);
  }

  void add_object(const Json& value) {
    text_ += '{';
    bool first = true;
    for (const auto& [key, inner] : value.get_ref<const Json::object_t&>()) {
      if (!first) text_ += ',';
      first = false;
      add_string(key);
      text_ += ':';
      add(inner);
    }
    text_ += '}';
  }

  void add_array(const Json& value) {
    text_ += '[';
    bool first = true;
    for (const Json& inner : value) {
      if (!first) text_ += ',';
      first = false;
      add(inner);
    }
    text_ += ']';
  }

  void add_string(const std::string& string) {
    const std::size_t begin = text_.size();
    text_ += '"';
    std::size_t plain = 0;  // from here on nothing was written yet
    for (std::size_t at = 0; at < string.size(); ++at) {
      while (string.size() - at > 8 && all_plain(string.data() + at)) at += 8;
      const auto byte = static_cast<unsigned char>(string[at]);
      if (byte >= 0x80) {  // UTF-8, right or wrong, is the library's
        text_.resize(begin);
        text_ += dumped(string);
        return;
      }
      if (byte >= 0x20 && byte != '"' && byte != '\\') continue;
      text_.append(string, plain, at - plain);
      plain = at + 1;
      add_escaped(byte);
    }
    text_.append(string, plain);
    text_ += '"';
  }

  void add_escaped(unsigned char byte) {
    constexpr std::string_view kSpecial = "\"\\\b\f\n\r\t";
    constexpr std::string_view kLetters = "\"\\bfnrt";
    constexpr std::string_view kDigits = "0123456789abcdef";
    text_ += '\\';
    if (const auto place = kSpecial.find(static_cast<char>(byte)); place != std::string_view::npos) {
      text_ += kLetters[place];
      return;
    }
    text_ += "u00";
    text_ += kDigits[byte >> 4U];
    text_ += kDigits[byte & 0xFU];
  }

  std::string text_;
};

}  // namespace

std::string canonical(const Json& value) {
  CanonicalText text;
  text.add(value);
  return text.take();
}

std::string text_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace accelopt::base
