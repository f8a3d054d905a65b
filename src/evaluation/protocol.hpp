// SPDX-License-Identifier: Apache-2.0
// The worker protocol: one JSON object a line. A request has `id`, `op` and the operation's arguments; an answer has
// the `id` and either `result` or `error` {`code`, `message`}, in any order; {`id`, `event`: "started"} says that
// measuring began;
// {`op`: "cancel", `id`} asks for the end of a request.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "base/result.hpp"

namespace accelopt::evaluation {

/// Reads lines from a descriptor that another thread may write to at the other end.
class LineReader {
 public:
  explicit LineReader(int descriptor) : descriptor_(descriptor) {}
  /// The next line without its end; none at the end of the input or when it failed.
  std::optional<std::string> next();

 private:
  int descriptor_;
  std::string buffer_;
  std::size_t searched_ = 0;
};

/// Writes the object as one line, whole. False: the other end is gone.
bool write_line(int descriptor, const base::Json& value);

base::Json error_to_json(const base::Error& error);
base::Error error_from_json(const base::Json& value);
/// The code of that name; internal for an unknown one.
base::ErrorCode parse_error_code(std::string_view name);

}  // namespace accelopt::evaluation
