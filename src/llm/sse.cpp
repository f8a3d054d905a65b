// SPDX-License-Identifier: Apache-2.0
#include "llm/sse.hpp"

#include <utility>

namespace accelopt::llm {

void SseReader::take_line(std::string_view line, std::vector<std::string>& events) {
  if (line.empty()) {
    if (has_data_) events.push_back(std::exchange(data_, {}));
    has_data_ = false;
    return;
  }
  constexpr std::string_view kField = "data:";
  if (!line.starts_with(kField)) return;
  line.remove_prefix(kField.size());
  if (line.starts_with(' ')) line.remove_prefix(1);
  if (has_data_) data_ += '\n';
  data_ += line;
  has_data_ = true;
}

std::vector<std::string> SseReader::feed(std::string_view piece) {
  std::vector<std::string> events;
  for (std::size_t end = 0; (end = piece.find_first_of("\r\n")) != std::string_view::npos;
       piece.remove_prefix(end + 1)) {
    const bool ends_again = piece[end] == '\n' && end == 0 && after_return_;  // "\r\n" is one end of a line
    after_return_ = piece[end] == '\r';
    if (ends_again) continue;
    if (rest_.empty()) {
      take_line(piece.substr(0, end), events);
    } else {
      rest_ += piece.substr(0, end);
      take_line(std::exchange(rest_, {}), events);
    }
  }
  if (!piece.empty()) after_return_ = false;
  rest_ += piece;
  return events;
}

std::vector<std::string> SseReader::finish() {
  return feed("\n\n");
}

}  // namespace accelopt::llm
