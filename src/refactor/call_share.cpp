// SPDX-License-Identifier: Apache-2.0
#include "refactor/call_share.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "base/text.hpp"

namespace accelopt::refactor {
namespace {

constexpr std::string_view kSecondsMark = "seconds of calls: ";
/// From here on a gain of 2x shows as 1.33x or more.
constexpr double kShareToTell = 0.5;

}  // namespace

std::optional<double> seconds_of_calls(std::string_view errors) {
  errors = base::trimmed(errors);
  const std::size_t end = errors.rfind('\n');
  std::string_view line = end == errors.npos ? errors : errors.substr(end + 1);
  if (!line.starts_with(kSecondsMark)) return std::nullopt;
  line.remove_prefix(kSecondsMark.size());
  double seconds = 0;
  const auto [after, error] = std::from_chars(line.data(), line.data() + line.size(), seconds);
  if (error != std::errc() || after != line.data() + line.size() || !std::isfinite(seconds) || seconds < 0)
    return std::nullopt;
  return seconds;
}

std::optional<double> call_share(std::optional<double> calls, double driver) {
  if (!calls || driver <= 0) return std::nullopt;
  return std::min(*calls / driver, 1.0);
}

std::string describe_call_share(double share) {
  return fmt::format("the function has {:.0f} % of the driver's time", share * 100);
}

std::string call_share_advice(double share) {
  if (share >= kShareToTell) return "";
  return fmt::format(
      "{}: a gain of 2x would show as {:.2f}x; let the driver do more calls for each input it reads, or use inputs on "
      "which a call takes longer",
      describe_call_share(share), 1 / (1 - share / 2));
}

}  // namespace accelopt::refactor
