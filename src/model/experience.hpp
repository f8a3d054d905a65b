// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
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

/// What the change did on one workload.
struct WorkloadEffect {
  std::string workload;
  Interval ratio;
};

/// What became of an experience: how often planners were shown it, plans rested on it, and such a plan's best attempt
/// was faster than its parent (confirmed) or none was (refuted).
struct Credit {
  std::int64_t shown = 0;
  std::int64_t used = 0;
  std::int64_t confirmed = 0;
  std::int64_t refuted = 0;
};

/// A slow-fast (or fast-slow) pair with the strategy that it teaches and the effect that was measured.
struct Experience {
  std::string id;  ///< in a run short: "e12"; in a knowledge store its content id
  std::string title;
  std::string strategy;  ///< the general rule: when it applies, what to change, why it helps
  std::string before;    ///< pseudo-code, free of the kernel's names
  std::string after;
  std::string diff;  ///< unified
  Polarity polarity = Polarity::improves;
  std::optional<Interval> effect;  ///< speed-up of the child over its parent (of the mended child, where it mends);
                                   ///< none: another tool wrote it and did not say; of_unknown_width(): it said no more
  std::vector<WorkloadEffect> workloads;
  std::string language;
  std::string op_type;
  std::string target;
  std::string device;
  std::string bound;  ///< what bounded the slow kernel: "compute", "memory", "" unknown
  std::string task;   ///< name of the definition that it was seen on
  std::string slow;   ///< source ids
  std::string fast;
  std::string run;
  int iteration = 0;
  std::string created;  ///< UTC, ISO 8601
  std::string model;
  std::string toolchain;  ///< compiler and flags
  Credit credit;
  // Of a retrieval: how many others of the same strategy say the same, and how many of the same kind of kernel say the
  // opposite.
  int agreeing = 0;
  int contradicting = 0;
};

/// The effect of the change that it teaches. None: it is unknown; or it mends, where `effect` is the speed of the
/// kernel that works in the end, and not the mend's doing.
std::optional<Interval> taught_effect(const Experience& experience);

/// A speed-up of which nobody told how sure it is: its interval leaves everything open, from 0 to infinity.
Interval of_unknown_width(double estimate);
bool has_unknown_width(const Interval& interval);

/// The id of an experience in every store: of what it says and where it comes from. Its id in the run, the time and the
/// credit are no part of it, so that the same experience has the same id however often and wherever it is written.
std::string content_id(const Experience& experience);

void to_json(base::Json& out, const Plan& value);
void from_json(const base::Json& in, Plan& value);
void write_json(base::JsonText& out, const Plan& value);
void to_json(base::Json& out, const WorkloadEffect& value);
void from_json(const base::Json& in, WorkloadEffect& value);
void to_json(base::Json& out, const Experience& value);
void from_json(const base::Json& in, Experience& value);

}  // namespace accelopt::model
