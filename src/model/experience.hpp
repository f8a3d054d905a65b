// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "model/evaluation.hpp"
#include "model/identity.hpp"

namespace accelopt::model {

/// A written optimization strategy for one solution.
struct Plan {
  std::string title;                  ///< one line
  std::vector<std::string> rests_on;  ///< ids of experiences
  std::string text;
};

/// What an experience shows: a change that helps, one to avoid, or how a solution that failed was mended.
enum class Polarity { improves, regresses, mends };
std::string_view to_string(Polarity polarity);
/// "improves" for any other word.
Polarity parse_polarity(std::string_view name);

/// A slow-fast (or fast-slow) pair with the strategy that it teaches and the effect that was measured.
struct Experience {
  std::string id;  ///< short, unique in the run: "e12"
  std::string title;
  std::string strategy;  ///< the general rule: when it applies, what to change, why it helps
  std::string before;    ///< pseudo-code, free of the kernel's names
  std::string after;
  std::string diff;  ///< unified
  Polarity polarity = Polarity::improves;
  Interval effect;  ///< speed-up of the child over its parent (of the mended child, where it mends)
  std::string language;
  std::string op_type;
  std::string target;
  std::string device;
  std::string bound;  ///< what bounded the slow kernel: "compute", "memory", "" unknown
  std::string slow;   ///< source ids
  std::string fast;
  std::string run;
  int iteration = 0;
  std::string model;
};

void to_json(base::Json& out, const Plan& value);
void from_json(const base::Json& in, Plan& value);
void to_json(base::Json& out, const Experience& value);
void from_json(const base::Json& in, Experience& value);

}  // namespace accelopt::model
