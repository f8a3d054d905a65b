// SPDX-License-Identifier: Apache-2.0
#include "worker/protocol.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/json_fields.hpp"

namespace accelopt::worker {

using base::ErrorCode;
using base::Json;

namespace {

/// Keys are written in order, so every hello begins with this.
constexpr std::string_view kHelloStart = R"({"accelopt":"worker")";

}  // namespace

ACCELOPT_JSON(Hello) {
  if constexpr (!Field::kReads) field.required("accelopt", std::string("worker"));
  field.required("protocol", it.protocol);
  field.optional("version", it.version, "target", it.target, "device", it.device, "host", it.host, "system", it.system,
                 "machine", it.machine, "cores", it.cores);
}

std::optional<Hello> find_hello(std::string_view line) {
  const auto at = line.find(kHelloStart);
  if (at == std::string_view::npos) return std::nullopt;
  const auto end = line.find_last_of('}');  // a terminal in between may end lines with a carriage return
  if (end == std::string_view::npos || end < at) return std::nullopt;
  const auto json = base::parse_json(line.substr(at, end + 1 - at), "hello");
  if (!json) return std::nullopt;
  const auto hello = base::decode<Hello>(*json, "hello");
  return hello ? std::optional(*hello) : std::nullopt;
}

std::optional<std::string> LineBuffer::next() {
  const auto end = buffer_.find('\n', searched_);
  if (end == std::string::npos) {
    searched_ = buffer_.size();
    return std::nullopt;
  }
  std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  searched_ = 0;
  return line;
}

std::optional<std::string> LineReader::next() {
  while (true) {
    if (auto line = lines_.next()) return line;
    std::array<char, 65536> chunk;
    const ssize_t got = read(descriptor_, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    lines_.add({chunk.data(), static_cast<std::size_t>(got)});
  }
}

bool write_line(int descriptor, const Json& value) {
  const std::string line = base::canonical(value) + "\n";
  std::size_t at = 0;
  bool is_socket = true;
  while (at < line.size()) {
    // On a socket a dead reader must not end this process with a signal.
    const ssize_t put = is_socket ? send(descriptor, line.data() + at, line.size() - at, MSG_NOSIGNAL)
                                  : write(descriptor, line.data() + at, line.size() - at);
    if (put >= 0) {
      at += static_cast<std::size_t>(put);
    } else if (errno == ENOTSOCK) {
      is_socket = false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

Json error_to_json(const base::Error& error) {
  return {{"code", std::string(base::to_string(error.code))}, {"message", error.message}};
}

ErrorCode parse_error_code(std::string_view name) {
  for (const ErrorCode code :
       {ErrorCode::invalid_argument, ErrorCode::parse, ErrorCode::not_found, ErrorCode::already_exists,
        ErrorCode::permission_denied, ErrorCode::unauthenticated, ErrorCode::unavailable, ErrorCode::rate_limited,
        ErrorCode::quota_exceeded, ErrorCode::timed_out, ErrorCode::cancelled, ErrorCode::exhausted, ErrorCode::corrupt,
        ErrorCode::unsupported, ErrorCode::io}) {
    if (base::to_string(code) == name) return code;
  }
  return ErrorCode::internal;
}

base::Error error_from_json(const Json& value) {
  base::Error error;
  if (!value.is_object()) return {ErrorCode::internal, "the worker sent an error without a code"};
  error.code = parse_error_code(base::text_at(value, "code"));
  error.message = base::text_at(value, "message");
  if (error.message.empty()) error.message = "the worker sent an error that says nothing";
  return error;
}

}  // namespace accelopt::worker
