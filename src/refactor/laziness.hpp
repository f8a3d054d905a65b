// SPDX-License-Identifier: Apache-2.0
// When an iterator reads its input: code that reads all of it before its first result gives the same results, but not
// to callers who take a few, or whose input is endless.
#pragma once

#include <string>
#include <string_view>

namespace accelopt::refactor {

/// Set in runs that nobody times: the driver then writes a line to standard error, "reads before results: [...]",
/// of each call that gave an iterator, null or of each list in its arguments [length, read before the first result,
/// read before the second, whether it was read in order]. Drivers that know no such variable ignore it.
inline constexpr std::string_view kWatchReads = "ACCELOPT_WATCH_READS";

/// What the new code reads too early, by what both wrote on standard error: all of a list of which the old code, as of
/// an iterator, had read no more than half. Empty: nothing, or it is not known. To read less is no difference.
std::string eager_reads(std::string_view old_errors, std::string_view new_errors);

/// Whether lists are compared so by what the old code wrote there.
bool tells_reads(std::string_view errors);

}  // namespace accelopt::refactor
