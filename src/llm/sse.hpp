// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace accelopt::llm {

/// Cuts a stream of server-sent events, arriving in pieces of any size, into the data of its events. Lines end
/// with "\n", "\r\n" or "\r". Comments and other fields are dropped.
class SseReader {
 public:
  /// The data of every event that this piece completes.
  std::vector<std::string> feed(std::string_view piece);
  /// The data of an event that the stream ended without completing by a blank line; none where there is none.
  std::vector<std::string> finish();

 private:
  void take_line(std::string_view line, std::vector<std::string>& events);

  std::string rest_;  ///< of an incomplete line
  std::string data_;  ///< of an incomplete event
  bool has_data_ = false;
  bool after_return_ = false;  ///< the latest byte was "\r"
};

}  // namespace accelopt::llm
