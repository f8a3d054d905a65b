// SPDX-License-Identifier: Apache-2.0
#include "sandbox/seen_time.hpp"

namespace accelopt::sandbox {
namespace {

/// Fifty times what a turn waits: a process that is merely kept from the processor by others comes sooner.
constexpr std::chrono::seconds kLongestTurn{1};

}  // namespace

void SeenTime::turn(std::chrono::nanoseconds since_began) {
  const auto taken = since_began - last_;
  last_ = since_began;
  if (taken > kLongestTurn) missed_ += taken;
}

}  // namespace accelopt::sandbox
