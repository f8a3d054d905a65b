// SPDX-License-Identifier: Apache-2.0
#include "base/result.hpp"

#include <cstdio>
#include <cstdlib>

#include "base/names.hpp"

namespace accelopt::base {

constexpr auto kErrorCodeNames = std::to_array<Named<ErrorCode>>({{ErrorCode::invalid_argument, "invalid_argument"},
                                                                  {ErrorCode::parse, "parse"},
                                                                  {ErrorCode::not_found, "not_found"},
                                                                  {ErrorCode::already_exists, "already_exists"},
                                                                  {ErrorCode::permission_denied, "permission_denied"},
                                                                  {ErrorCode::unauthenticated, "unauthenticated"},
                                                                  {ErrorCode::unavailable, "unavailable"},
                                                                  {ErrorCode::rate_limited, "rate_limited"},
                                                                  {ErrorCode::quota_exceeded, "quota_exceeded"},
                                                                  {ErrorCode::timed_out, "timed_out"},
                                                                  {ErrorCode::cancelled, "cancelled"},
                                                                  {ErrorCode::exhausted, "exhausted"},
                                                                  {ErrorCode::corrupt, "corrupt"},
                                                                  {ErrorCode::unsupported, "unsupported"},
                                                                  {ErrorCode::io, "io"},
                                                                  {ErrorCode::internal, "internal"}});

std::string_view to_string(ErrorCode code) {
  return name_in(kErrorCodeNames, code);
}

void assertion_failed(const char* condition, const char* file, int line, std::string_view message) {
  std::fprintf(stderr, "accelopt: a bug in accelopt: %.*s (%s, %s:%d); please report it\n",
               static_cast<int>(message.size()), message.data(), condition, file, line);
  std::abort();
}

}  // namespace accelopt::base
