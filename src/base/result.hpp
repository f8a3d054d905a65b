// SPDX-License-Identifier: Apache-2.0
// Result<T>: a value, or the reason why it could not be found out. A bad candidate is not an error (see
// model/evaluation.hpp); a bug is an assertion (ACCELOPT_ASSERT).
#pragma once

#include <string>
#include <string_view>
#include <utility>

// Must precede <tl/expected.hpp>: Debian's 1.0.0 does not declare its class [[nodiscard]].
namespace tl {
template <class T, class E>
class [[nodiscard]] expected;
}
#include <tl/expected.hpp>

namespace accelopt::base {

/// What kind of thing went wrong. Code branches on this, never on the message.
enum class ErrorCode {
  invalid_argument,   ///< the caller or the user gave something that cannot be used
  parse,              ///< a text does not have the form that it must have
  not_found,          ///< the thing is not there
  already_exists,     ///< the thing is there and must not be
  permission_denied,  ///< refused by the operating system or a server
  unauthenticated,    ///< a key is missing or was refused
  unavailable,        ///< try again later: network, overload, a worker that died
  rate_limited,       ///< a server asked us to slow down
  quota_exceeded,     ///< an account has no credit left; waiting does not help
  timed_out,          ///< a time limit passed
  cancelled,          ///< a stop was asked for
  exhausted,          ///< disk, memory or a budget is used up
  corrupt,            ///< stored data is damaged or of an unknown version
  unsupported,        ///< this machine or build cannot do it
  io,                 ///< the operating system failed a file or process operation
  internal,           ///< a library failed in a way that nothing above describes
};

/// The code's name as written here, e.g. "not_found".
std::string_view to_string(ErrorCode code);

/// Why something could not be found out. The message names the thing, the reason and the next step.
struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;
};

/// A value or an Error; dropping one is a compiler warning.
template <class T>
using Result = tl::expected<T, Error>;

/// The failing half of a Result: `return fail(ErrorCode::not_found, "task.toml: no such file; ...");`
inline tl::unexpected<Error> fail(ErrorCode code, std::string message) {
  return tl::make_unexpected(Error{code, std::move(message)});
}

/// Puts "context: " before an error's message; the code stays. One layer adds at most one context.
inline Error with_context(Error error, std::string_view context) {
  error.message.insert(0, std::string(context) + ": ");
  return error;
}

/// Ends the program after printing the message: a bug in accelopt, never a consequence of input.
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line, std::string_view message);

}  // namespace accelopt::base

#define ACCELOPT_CONCAT_INNER(a, b) a##b
#define ACCELOPT_CONCAT(a, b) ACCELOPT_CONCAT_INNER(a, b)

/// Alive in release builds.
#define ACCELOPT_ASSERT(condition, message) \
  ((condition) ? static_cast<void>(0) : ::accelopt::base::assertion_failed(#condition, __FILE__, __LINE__, (message)))

/// Returns the error of a Result expression to the caller; drops its value.
#define TRY(expression)                                                                              \
  do {                                                                                               \
    if (auto try_result = (expression); !try_result) return tl::make_unexpected(try_result.error()); \
  } while (false)

/// `TRY_ASSIGN(auto text, read_file(path));` declares or assigns the value, or returns the error to the caller.
#define TRY_ASSIGN(target, expression) TRY_ASSIGN_IMPL(ACCELOPT_CONCAT(try_result_, __LINE__), target, expression)
#define TRY_ASSIGN_IMPL(name, target, expression)                 \
  auto name = (expression);                                       \
  if (!name) return tl::make_unexpected(std::move(name).error()); \
  target = std::move(name).value()
