// SPDX-License-Identifier: Apache-2.0
// What a kernel computes at places of its outputs that are drawn anew each time, without the rest: of kernels that are
// too large to be executed as a whole.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "targets/trainium/program.hpp"

namespace accelopt::targets::trainium {

/// Elements of an output that lie behind each other.
struct Stretch {
  std::size_t output = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// `count` stretches of up to a few hundred elements, anywhere in the outputs.
std::vector<Stretch> draw_stretches(const Program& program, int count, std::uint64_t seed);

/// By instruction: whether those elements may depend on it.
std::vector<bool> needed_for(const Program& program, const std::vector<Stretch>& stretches);

struct Freed {
  void operator()(float* memory) const;
};
/// A large tensor of which a few pages are written.
using Pages = std::unique_ptr<float[], Freed>;

/// The outputs as far as the stretches go, and zeros elsewhere. @error cancelled, exhausted.
base::Result<std::vector<Pages>> outputs_of(const Program& program, const std::vector<Stretch>& stretches,
                                            const std::vector<std::span<const float>>& inputs,
                                            const std::stop_token& stop);

/// Executes what both programs need for the same stretches, on the same inputs. Why the first one's results are not
/// the second one's; "": they are. @error cancelled.
base::Result<std::string> spot_check(const Program& candidate, const Program& baseline,
                                     const std::vector<std::span<const float>>& inputs, std::uint64_t seed,
                                     const std::stop_token& stop);

}  // namespace accelopt::targets::trainium
