// SPDX-License-Identifier: Apache-2.0
#include "llm/wire_json.hpp"

#include <algorithm>

#include "llm/rate_headers.hpp"

namespace accelopt::llm {
namespace {

constexpr std::size_t kLongestServerWords = 300;

base::Json parse_or_null(std::string_view text) {
  base::Json value = base::json_or_discarded(text);
  if (value.is_discarded()) return {};
  // Some servers put a streamed answer's error into a list.
  if (value.is_array() && !value.empty()) return value.front();
  return value;
}

}  // namespace

const base::Json& member(const base::Json& object, const char* key) {
  static const base::Json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(key);
  return found == object.end() ? kNull : *found;
}

std::int64_t count_of(const base::Json& value) {
  if (!value.is_number()) return 0;
  constexpr double kMost = 1e15;
  const double number = value.get<double>();
  if (!(number > 0)) return 0;
  return static_cast<std::int64_t>(std::min(number, kMost));
}

std::string text_of(const base::Json& content) {
  if (content.is_string()) return content.get<std::string>();
  std::string text;
  if (content.is_array()) {
    for (const base::Json& part : content) {
      if (const base::Json& piece = member(part, "text"); piece.is_string())
        text += piece.get_ref<const std::string&>();
    }
  }
  return text;
}

std::string quoted(std::string_view words, const Secret& key) {
  std::string out;
  for (const char c : blotted(words, key)) {
    if (out.size() >= kLongestServerWords) return out + "...";
    const bool printable = c >= ' ' && c <= '~';
    const char shown = printable ? c : (c == '\n' || c == '\t' || c == '\r' ? ' ' : '?');
    if (shown == ' ' && (out.empty() || out.back() == ' ')) continue;
    out += shown;
  }
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

std::string error_text(const base::Json& value) {
  const base::Json& error = member(value, "error");
  for (const base::Json* candidate :
       {&member(error, "message"), &error, &member(value, "message"), &member(value, "detail")}) {
    if (candidate->is_string()) return candidate->get_ref<const std::string&>();
  }
  // FastAPI's `detail`, and whatever else is structured.
  for (const base::Json* candidate : {&error, &member(value, "detail")}) {
    if (!candidate->is_null()) return base::canonical(*candidate);
  }
  return {};
}

int status_of(const base::Json& error) {
  for (const char* key : {"code", "status"}) {
    const base::Json& status = member(error, key);
    if (status.is_number_integer() && status >= 400 && status <= 599) return status.get<int>();
  }
  return 0;
}

std::string server_words(std::string_view body, const Secret& key) {
  const std::string words = error_text(parse_or_null(body));
  return quoted(words.empty() ? body : words, key);
}

std::string server_code(std::string_view body) {
  const base::Json value = parse_or_null(body);
  const base::Json& error = member(value, "error");
  for (const char* key : {"code", "type", "status"}) {
    if (const base::Json& code = member(error, key); code.is_string()) return code.get_ref<const std::string&>();
  }
  return {};
}

std::optional<std::chrono::milliseconds> server_patience(std::string_view body) {
  const base::Json value = parse_or_null(body);
  const base::Json& details = member(member(value, "error"), "details");
  if (!details.is_array()) return std::nullopt;
  for (const base::Json& detail : details) {
    if (const base::Json& delay = member(detail, "retryDelay"); delay.is_string()) {
      return parse_reset_duration(delay.get_ref<const std::string&>());
    }
  }
  return std::nullopt;
}

}  // namespace accelopt::llm
