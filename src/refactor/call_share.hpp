// SPDX-License-Identifier: Apache-2.0
// The calls' share of a driver's time: reading inputs and writing results grow with the size as well, and no change
// makes them faster.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace accelopt::refactor {

/// Set in a run of the old code alone, whose results are not used: the driver then ends with a line "seconds of calls:
/// 0.25" on standard error. Drivers that know no such variable ignore it.
inline constexpr std::string_view kTimeCalls = "ACCELOPT_TIME_CALLS";

/// What the last line of standard error says; none: it says something else.
std::optional<double> seconds_of_calls(std::string_view errors);

/// Of the driver's processor time besides start-up, in seconds, at most 1; none: it is not known.
std::optional<double> call_share(std::optional<double> calls, double driver);

/// "the function has 6 % of the driver's time".
std::string describe_call_share(double share);

/// What a person should change where the function has less than half; empty: it has more.
std::string call_share_advice(double share);

}  // namespace accelopt::refactor
