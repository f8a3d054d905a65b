// SPDX-License-Identifier: Apache-2.0
// Outcome<T>: a value, or why a step has none yet. A step may be put off, come after the end of its run, or be missing
// in the record that is replayed; only one that failed has an error (result.hpp).
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "base/result.hpp"

namespace accelopt::base {

/// Why a step has no value.
enum class Why {
  failed,         ///< it could not be found out
  put_off,        ///< somebody elsewhere answers; the step is done when the run is resumed with the answer
  ending,         ///< what it belongs to ends before it: a run that was stopped or has used up its budget, or a branch
  not_on_record,  ///< a replay does nothing, and the record ends before it
};

/// The half of an Outcome without a value. What goes on depends on `why` alone; `code` and `message` are for reports.
struct NotDone {
  Why why = Why::failed;
  ErrorCode code = ErrorCode::internal;
  std::string message;

  NotDone() = default;
  NotDone(Why reason, ErrorCode as_code, std::string text) : why(reason), code(as_code), message(std::move(text)) {}
  /// What was cancelled was stopped: the run is ending. Everything else failed. Implicit, so that TRY passes errors on.
  // NOLINTNEXTLINE(google-explicit-constructor)
  NotDone(Error error)
      : why(error.code == ErrorCode::cancelled ? Why::ending : Why::failed),
        code(error.code),
        message(std::move(error.message)) {}

  /// For those who know no other reason than errors: put_off and ending are `cancelled`, not_on_record is `not_found`.
  [[nodiscard]] Error as_error() const { return {code, message}; }
};

/// A value or the reason why there is none; dropping one is a compiler warning. A Result converts to it.
template <class T>
using Outcome = tl::expected<T, NotDone>;

/// Puts "context: " before the message; the reason stays.
inline NotDone with_context(NotDone reason, std::string_view context) {
  reason.message.insert(0, std::string(context) + ": ");
  return reason;
}

inline tl::unexpected<NotDone> put_off(std::string message) {
  return tl::make_unexpected(NotDone(Why::put_off, ErrorCode::cancelled, std::move(message)));
}
inline tl::unexpected<NotDone> ending(std::string message) {
  return tl::make_unexpected(NotDone(Why::ending, ErrorCode::cancelled, std::move(message)));
}
inline tl::unexpected<NotDone> not_on_record(std::string message) {
  return tl::make_unexpected(NotDone(Why::not_on_record, ErrorCode::not_found, std::move(message)));
}

/// For callers outside of a run, whom nothing is put off for.
template <class T>
Result<T> as_result(Outcome<T> outcome) {
  if (!outcome) return tl::make_unexpected(outcome.error().as_error());
  if constexpr (std::is_void_v<T>)
    return {};
  else
    return std::move(*outcome);
}

}  // namespace accelopt::base
