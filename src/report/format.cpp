// SPDX-License-Identifier: Apache-2.0
#include "report/format.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/duration.hpp"

namespace accelopt::report {
namespace {

constexpr const char* kUnknown = "-";
constexpr int kMostRatioDecimals = 4;

/// The value with three significant digits and no exponent, for 0 <= value < 1000 or so.
std::string three_digits(double value) {
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}", value, decimals);
}

struct DisplayUnit {
  double size;
  const char* name;
};

/// The value in the largest unit of which it is at least one.
std::string in_units(double value, const DisplayUnit* first, const DisplayUnit* last, std::string (*digits)(double)) {
  const DisplayUnit* unit = first;
  // 999.6 would be written as 1000.
  while (unit + 1 != last && value >= unit[1].size * 0.9995) ++unit;
  return digits(value / unit->size) + " " + unit->name;
}

/// Decimals that a ratio of this size is written with when nothing is known of its spread.
int usual_decimals(double ratio) {
  return ratio < 9.995 ? 2 : ratio < 99.95 ? 1 : 0;
}

std::string fixed(double value, int decimals) {
  return fmt::format("{:.{}f}", value, decimals);
}

}  // namespace

std::string format_ns(double nanoseconds) {
  return base::duration_text(nanoseconds);
}

std::optional<double> nanoseconds_of(double value, const std::string& unit) {
  static const std::map<std::string, double> kNanoseconds{{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  const auto found = kNanoseconds.find(unit);
  return found == kNanoseconds.end() ? std::nullopt : std::optional(value * found->second);
}

std::string format_quantity(double value, const std::string& unit) {
  if (!std::isfinite(value)) return kUnknown;
  if (const auto time = nanoseconds_of(value, unit)) return format_ns(*time);
  const double size = std::abs(value);
  const int decimals = size >= 999.5 || value == std::round(value) ? 0 : size >= 99.95 ? 1 : size >= 9.995 ? 2 : 3;
  const std::string text = size >= 9999.5 && size < 1e18 ? format_count(static_cast<std::int64_t>(std::llround(value)))
                           : size > 0 && size < 0.0005   ? fmt::format("{:.3g}", value)
                                                         : fixed(value, decimals);
  return unit.empty() ? text : text + " " + unit;
}

std::string format_seconds(double seconds) {
  if (!std::isfinite(seconds)) return kUnknown;
  if (seconds < 59.95) return three_digits(std::max(seconds, 0.0)) + " s";
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{}m {:02}s", whole / 60, whole % 60);
  return fmt::format("{}h {:02}m", whole / 3600, whole % 3600 / 60);
}

std::string format_ratio(double ratio) {
  if (!std::isfinite(ratio)) return kUnknown;
  return fixed(ratio, usual_decimals(ratio)) + "x";
}

std::string format_ratio(const model::Interval& ratio) {
  if (!std::isfinite(ratio.estimate)) return kUnknown;
  if (!std::isfinite(ratio.low) || !std::isfinite(ratio.high)) return format_ratio(ratio.estimate);
  int decimals = usual_decimals(ratio.estimate);
  const double half_width = (ratio.high - ratio.low) / 2;
  if (half_width > 0) {
    decimals = std::max(decimals, static_cast<int>(std::ceil(-std::log10(half_width))));
    decimals = std::min(decimals, usual_decimals(ratio.estimate) + 1);
  }
  const auto looks_like_one = [&](double end) { return end != 1.0 && std::stod(fixed(end, decimals)) == 1.0; };
  while (decimals < kMostRatioDecimals && (looks_like_one(ratio.low) || looks_like_one(ratio.high))) ++decimals;
  return fmt::format("{}x [{}, {}]", fixed(ratio.estimate, decimals), fixed(ratio.low, decimals),
                     fixed(ratio.high, decimals));
}

std::string format_percent(double share) {
  if (!std::isfinite(share)) return kUnknown;
  const double percent = share * 100;
  const double size = std::abs(percent);
  return fixed(percent, size < 0.995 && size > 0 ? 2 : size < 9.95 ? 1 : 0) + " %";
}

std::string format_bytes(double bytes) {
  if (!std::isfinite(bytes)) return kUnknown;
  static constexpr std::array<DisplayUnit, 5> kUnits{
      {{1, "B"}, {0x1p10, "KiB"}, {0x1p20, "MiB"}, {0x1p30, "GiB"}, {0x1p40, "TiB"}}};
  const auto digits = [](double value) { return fixed(value, value < 9.95 ? 1 : 0); };
  if (bytes < 1023.5) return fmt::format("{:.0f} B", bytes);
  return in_units(bytes, kUnits.data(), kUnits.data() + kUnits.size(), digits);
}

std::string format_usd(double dollars) {
  if (!std::isfinite(dollars)) return kUnknown;
  const double size = std::abs(dollars);
  return "$" + fixed(dollars, size == 0 ? 2 : size < 0.0995 ? 4 : size < 99.5 ? 2 : 0);
}

std::string format_count(std::int64_t count) {
  std::string digits = std::to_string(count);
  const std::size_t sign = count < 0 ? 1 : 0;
  for (std::size_t place = digits.size(); place > sign + 3; place -= 3) digits.insert(place - 3, ",");
  return digits;
}

std::string format_amount(const model::WorkloadTiming& workload) {
  return workload.peak_bytes ? format_bytes(*workload.peak_bytes) : format_ns(workload.time_ns);
}

std::string format_reference(const model::WorkloadTiming& workload) {
  if (workload.peak_bytes) return workload.reference_peak_bytes ? format_bytes(*workload.reference_peak_bytes) : "-";
  return workload.reference_ns ? format_ns(*workload.reference_ns) : "-";
}

}  // namespace accelopt::report
