// SPDX-License-Identifier: Apache-2.0
#include "base/json.hpp"

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

/// What the library writes, in runs of plain characters: most of what is written are sources and prompts, which the
/// library decodes byte by byte.
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
      default:
        text_ += dumped(value);
    }
  }
  std::string take() { return std::move(text_); }

 private:
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
