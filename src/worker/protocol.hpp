// SPDX-License-Identifier: Apache-2.0
// The worker protocol: one JSON object a line. A worker begins with its hello. A request has `id`, `op` and the
// operation's arguments; an answer has the `id` and either `result` or `error` {`code`, `message`}, in any order;
// {`id`, `event`: "started"} says that measuring began, {`id`, `event`: "waiting", `wait`} who is waited for
// (model::DeviceWait), {`id`, `event`: "progress", `share`} how far it is (model::StepShare; some workers never say it,
// and it may be passed over), and an answer has `waited_seconds` where that was long; {`op`: "cancel", `id`} asks for
// the end of a request, and
// {`op`: "stop_waiting", `id`} for its end if it waits for the device.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "base/result.hpp"

namespace accelopt::worker {

/// Of the messages between coordinator and worker; both must speak the same one.
inline constexpr int kProtocolVersion = 1;

// What else `op` may be than a request's (model::Operation).
inline constexpr std::string_view kCancel = "cancel";
inline constexpr std::string_view kStopWaiting = "stop_waiting";

/// A worker's first line: what it speaks, what it is, and what it measures on.
struct Hello {
  int protocol = kProtocolVersion;
  std::string version;  ///< of the program, "0.1.0"
  std::string target;   ///< "cpu"; empty: not said
  std::string device;   ///< as it was given, "cpu:1"
  std::string host;
  std::string system;   ///< "Linux 6.1.0 x86_64"
  std::string machine;  ///< processor or accelerator, as its maker names it
  int cores = 0;        ///< logical processors; 0: not said
};

void to_json(base::Json& out, const Hello& value);
void from_json(const base::Json& in, Hello& value);

/// The hello in a line; what stands before it on the line (a prompt, a banner without an end) is dropped. None: this
/// line is no hello.
std::optional<Hello> find_hello(std::string_view line);

/// Bytes to lines.
class LineBuffer {
 public:
  void add(std::string_view bytes) { buffer_.append(bytes); }
  /// The next whole line without its end.
  std::optional<std::string> next();
  /// Bytes that are no whole line yet, once next() gave none.
  [[nodiscard]] const std::string& rest() const { return buffer_; }

 private:
  std::string buffer_;
  std::size_t searched_ = 0;
};

/// Reads lines from a descriptor that another thread may write to at the other end.
class LineReader {
 public:
  explicit LineReader(int descriptor) : descriptor_(descriptor) {}
  /// The next line without its end; none at the end of the input or when it failed.
  std::optional<std::string> next();

 private:
  int descriptor_;
  LineBuffer lines_;
};

/// Writes the object as one line, whole. False: the other end is gone.
bool write_line(int descriptor, const base::Json& value);

base::Json error_to_json(const base::Error& error);
base::Error error_from_json(const base::Json& value);
/// The code of that name; internal for an unknown one.
base::ErrorCode parse_error_code(std::string_view name);

}  // namespace accelopt::worker
