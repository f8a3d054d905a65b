// SPDX-License-Identifier: Apache-2.0
#include "base/result.hpp"

#include <cstdio>
#include <cstdlib>

namespace accelopt::base {

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
      return "invalid_argument";
    case ErrorCode::parse:
      return "parse";
    case ErrorCode::not_found:
      return "not_found";
    case ErrorCode::already_exists:
      return "already_exists";
    case ErrorCode::permission_denied:
      return "permission_denied";
    case ErrorCode::unauthenticated:
      return "unauthenticated";
    case ErrorCode::unavailable:
      return "unavailable";
    case ErrorCode::rate_limited:
      return "rate_limited";
    case ErrorCode::timed_out:
      return "timed_out";
    case ErrorCode::cancelled:
      return "cancelled";
    case ErrorCode::exhausted:
      return "exhausted";
    case ErrorCode::corrupt:
      return "corrupt";
    case ErrorCode::unsupported:
      return "unsupported";
    case ErrorCode::io:
      return "io";
    case ErrorCode::internal:
      return "internal";
  }
  return "internal";
}

void assertion_failed(const char* condition, const char* file, int line, std::string_view message) {
  std::fprintf(stderr, "accelopt: a bug in accelopt: %.*s (%s, %s:%d); please report it\n",
               static_cast<int>(message.size()), message.data(), condition, file, line);
  std::abort();
}

}  // namespace accelopt::base
