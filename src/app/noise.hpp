// SPDX-License-Identifier: Apache-2.0
// How small a difference this machine can tell: races of a kernel with itself, and with copies of itself that wait.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/device.hpp"
#include "base/json.hpp"
#include "base/result.hpp"

namespace accelopt::app {

/// The races against a copy that is slower by a known share.
struct NoiseLevel {
  double difference = 0;  ///< share of the call that the copy waits, 0.02: 2 %
  int races = 0;
  int found = 0;  ///< races that called the kernel faster than its copy
};

struct NoiseReport {
  std::string device;
  std::string measured;                  ///< UTC, ISO 8601
  double block_sd = 0;                   ///< standard deviation of a block's log-ratio between identical kernels
  double delayed_sd = 0;                 ///< the same between a kernel and its copies that wait
  double disturbed = 0;                  ///< share of the blocks in which something else ran
  int races = 0;                         ///< of identical kernels
  int false_finds = 0;                   ///< of them, that called one faster or slower
  std::vector<NoiseLevel> levels;        ///< smallest difference first
  std::optional<double> smallest_found;  ///< smallest difference that this and every greater one was found with
  double seconds = 0;
};

void to_json(base::Json& out, const NoiseReport& value);

/// Takes under a minute. @error unsupported: no compiler, or a processor without a counter of cycles; cancelled; as the
/// evaluator.
base::Result<NoiseReport> measure_noise(const Shell& shell, const DeviceFlags& device, const std::stop_token& stop);

/// The name under which a workspace keeps the last report (journal::Control::fact).
inline constexpr const char* kNoiseFact = "noise";

/// "a block varies by 0.8 %; differences from 2 % on are found".
std::string describe_noise(const base::Json& report);
/// Whether the machine is quiet enough for small gains.
bool is_quiet(const base::Json& report);

}  // namespace accelopt::app
