// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them. What is not finite is "-".
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/evaluation.hpp"

namespace accelopt::report {

/// "820 ns", "1.24 us", "12.4 ms", "3.10 s": three digits.
std::string format_ns(double nanoseconds);

/// A time of that unit; none: it is no unit of time.
std::optional<double> nanoseconds_of(double value, const std::string& unit);

/// A value of a profile: "12.6 ms" of 12553 us, "5.313 GFLOP/s", "1,280,000 B". Never an exponent, except of tiny
/// values.
std::string format_quantity(double value, const std::string& unit);

/// "0.82 s", "12.4 s", "3m 05s", "1h 02m".
std::string format_seconds(double seconds);

/// "15.3x [15.1, 15.6]": as many decimals as the interval is known to, and enough to tell an end from 1.
std::string format_ratio(const model::Interval& ratio);

/// "15.3x", "1.04x".
std::string format_ratio(double ratio);

/// "0.42 %", "4.2 %", "15 %" of a share 0..1.
std::string format_percent(double share);

/// "512 B", "1.5 KiB", "24 MiB".
std::string format_bytes(double bytes);

/// What the workload takes, of what was compared: its time, or its peak of memory.
std::string format_amount(const model::WorkloadTiming& workload);
/// The same of what it was compared with; "-": with nothing.
std::string format_reference(const model::WorkloadTiming& workload);

/// "$0.0042", "$1.23", "$123".
std::string format_usd(double dollars);

/// "12,345,678".
std::string format_count(std::int64_t count);

}  // namespace accelopt::report
