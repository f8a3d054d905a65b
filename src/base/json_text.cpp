// SPDX-License-Identifier: Apache-2.0
#include "base/json_text.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace accelopt::base {
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

}  // namespace

// What the library writes, in runs of plain characters and without an object for each number: most of what is written
// are sources and prompts, which the library decodes byte by byte.

void JsonText::add_json(const Json& value) {
  switch (value.type()) {
    case Json::value_t::object:
      return add_object(value.get_ref<const Json::object_t&>());
    case Json::value_t::array:
      return add_list(value.get_ref<const Json::array_t&>(), [this](const Json& inner) { add_json(inner); });
    case Json::value_t::string:
      return add_string(value.get_ref<const std::string&>());
    case Json::value_t::null:
      return add_null();
    case Json::value_t::boolean:
      return add(value.get<bool>());
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

void JsonText::add_object(const Json::object_t& object) {
  text_ += '{';
  bool first = true;
  for (const auto& [key, inner] : object) {
    if (!first) text_ += ',';
    first = false;
    add_string(key);
    text_ += ':';
    add_json(inner);
  }
  text_ += '}';
}

namespace {

template <class Whole>
void append_whole(std::string& text, Whole value) {
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  text.append(digits.data(), end);
}

}  // namespace

void JsonText::add_whole(std::int64_t value) {
  append_whole(text_, value);
}

void JsonText::add_whole(std::uint64_t value) {
  append_whole(text_, value);
}

void JsonText::add_real(double value) {
  if (!std::isfinite(value)) return add_null();
  // In the library's own digits: texts with these numbers have been hashed.
  std::array<char, 64> digits{};
  char* const end = nlohmann::detail::to_chars(digits.data(), digits.data() + digits.size(), value);
  text_.append(digits.data(), end);
}

void JsonText::add_string(std::string_view string) {
  const std::size_t begin = text_.size();
  text_ += '"';
  std::size_t plain = 0;  // from here on nothing was written yet
  for (std::size_t at = 0; at < string.size(); ++at) {
    while (string.size() - at > 8 && all_plain(string.data() + at)) at += 8;
    const auto byte = static_cast<unsigned char>(string[at]);
    if (byte >= 0x80) {  // UTF-8, right or wrong, is the library's
      text_.resize(begin);
      text_ += dumped(std::string(string));
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

void JsonText::add_escaped(unsigned char byte) {
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

void FieldText::begin(std::string_view name) {
  std::string& text = out_.text_;
  text += count_ == 0 ? '{' : ',';
  ACCELOPT_ASSERT(count_ < kMostFields, "a struct has more fields than are written in order");
  if (count_ > 0) {
    fields_[count_ - 1].end = text.size();
    in_order_ = in_order_ && fields_[count_ - 1].name < name;
  }
  fields_[count_++] = {name, text.size(), 0};
  text += '"';
  text += name;
  text += "\":";
}

void FieldText::end() {
  std::string& text = out_.text_;
  if (count_ == 0) text += '{';
  if (!in_order_) put_in_order();
  text += '}';
}

void FieldText::put_in_order() {
  std::string& text = out_.text_;
  text += ',';
  fields_[count_ - 1].end = text.size();
  Field* const last = fields_.data() + count_;
  // By insertion: they are few, mostly in order, and fields of one name stay as they came.
  for (Field* field = fields_.data() + 1; field != last; ++field) {
    Field* const place = std::upper_bound(fields_.data(), field, field->name,
                                          [](std::string_view name, const Field& other) { return name < other.name; });
    std::rotate(place, field, field + 1);
  }
  const std::size_t first = begin_ + 1;
  thread_local std::string scratch;
  scratch.assign(text, first);
  text.resize(first);
  for (const Field* field = fields_.data(); field != last; ++field) {
    // Of two of one name the later one counts, as in an object.
    if (field + 1 != last && field[1].name == field->name) continue;
    text.append(scratch, field->begin - first, field->end - field->begin);
  }
  text.pop_back();  // the last one's comma
}

}  // namespace accelopt::base
