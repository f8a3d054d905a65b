// SPDX-License-Identifier: Apache-2.0
// What a kernel computes at places of its outputs that are drawn anew each time, without the rest: of kernels that are
// too large to be executed as a whole.
#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "targets/trainium/slices.hpp"

namespace accelopt::targets::trainium {

/// `count` stretches of up to a few hundred elements, anywhere in the outputs.
std::vector<Stretch> draw_stretches(const Program& program, int count, std::uint64_t seed);

/// What the program computes there, stretch by stretch, from the instructions that it takes alone. Large kernels are
/// computed by several threads. @error cancelled, exhausted.
base::Result<std::vector<std::vector<float>>> values_at(const Program& program, const std::vector<Stretch>& stretches,
                                                        const std::vector<std::span<const float>>& inputs,
                                                        const std::stop_token& stop);

/// Executes what both programs need for the same stretches, on the same inputs. Why the first one's results are not
/// the second one's; "": they are, but for what rounding explains, which is measured on the second one with inputs that
/// differ in their last bits. @error cancelled, exhausted.
base::Result<std::string> spot_check(const Program& candidate, const Program& baseline,
                                     const std::vector<std::span<const float>>& inputs, std::uint64_t seed,
                                     const std::stop_token& stop);

/// The same at places all over the outputs, on inputs of sizes that are seldom met, where roundings may differ much:
/// the first one is at fault where it is not finite and the second one is, or differs by a hundredth of the values'
/// size and more than rounding explains. @error cancelled, exhausted.
base::Result<std::string> rough_check(const Program& candidate, const Program& baseline,
                                      const std::vector<std::span<const float>>& inputs, std::uint64_t seed,
                                      const std::stop_token& stop);

}  // namespace accelopt::targets::trainium
