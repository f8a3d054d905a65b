// SPDX-License-Identifier: Apache-2.0
// The verdict on a solution and the measurements that it rests on. Times are nanoseconds (`_ns`); ratios are baseline
// time / candidate time (triage: parent time / candidate time), so over 1 is faster.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "model/vocabulary.hpp"

namespace accelopt::model {

enum class Status {
  passed,
  compile_error,
  runtime_error,
  timeout,
  incorrect_shape,
  incorrect_dtype,
  incorrect_numerical,
  reward_hack,
  not_measured
};
/// "PASSED", "COMPILE_ERROR", ...
std::string_view to_string(Status status);
Status parse_status(std::string_view name);

enum class Verdict { none, faster, slower, tie, undecided };
/// "FASTER", "SLOWER", "TIE", "UNDECIDED", "NONE".
std::string_view to_string(Verdict verdict);
Verdict parse_verdict(std::string_view name);
void to_json(base::Json& json, Verdict verdict);
void from_json(const base::Json& json, Verdict& verdict);
void write_json(base::JsonText& out, Verdict verdict);

/// A ratio with its 95 % interval.
struct Interval {
  double estimate = 1;
  double low = 1;
  double high = 1;
};

struct StageTime {
  Stage stage = Stage::other;
  double seconds = 0;
};

/// One value of a profile for the planner.
struct ProfileItem {
  std::string name;
  double value = 0;
  std::string unit;
  std::string meaning;  ///< one line
};

struct Profile {
  std::vector<ProfileItem> items;
  std::vector<std::string>
      remarks;  ///< the compiler's, on the candidate's own lines: "line 12: loop vectorized using 32 byte vectors"
  std::vector<std::string> notes{};  ///< for people: what the profile could not hold, and why
  /// A kernel that passed until now and failed in a call that was to be profiled: it did not pass. None: it did.
  Status failed_as = Status::passed;
  std::string failure{};
};

/// Where a workload stands against the machine's measured peaks.
struct RooflinePoint {
  double floor_ns = 0;  ///< least possible time
  double fraction = 0;  ///< floor / measured time, 0..1
  std::string bound;    ///< "compute" or "memory"
};

/// One timed workload of one arm.
struct WorkloadTiming {
  std::string name;
  Role role = Role::race;
  double time_ns = 0;                  ///< median of the calls
  std::optional<double> reference_ns;  ///< the opponent's median in the same blocks (parent or baseline)
  std::optional<Interval> ratio;
  std::optional<RooflinePoint> roofline;
  // Where memory is what is compared: its peak less start-up; none: time is.
  std::optional<double> peak_bytes{};
  std::optional<double> reference_peak_bytes{};
};

/// One block: the paired times of two arms (opponent first) on every raced workload, in the task's order.
struct BlockSample {
  std::vector<double> reference_ns;
  std::vector<double> candidate_ns;
  int slot = 0;
  bool disturbed = false;
  std::vector<double> shifted_ns{};  ///< of a confirmation: the candidate's copy whose code lies elsewhere
  // Of a device that tells them; empty: unknown, as on a processor.
  std::vector<double> reference_mhz{};  ///< the device's clock right after the call
  std::vector<double> candidate_mhz{};
  std::vector<double> shifted_mhz{};
  std::vector<double> reference_lag_ns{};  ///< the host's clock around the call less the device's own, a call
  std::vector<double> candidate_lag_ns{};
  std::vector<double> shifted_lag_ns{};
};

/// What the fixer may know of a wrong result.
struct Mismatch {
  std::string workload;
  std::string family;
  std::string output;
  std::int64_t index = 0;  ///< flat, of the first bad element
  double expected = 0;
  double actual = 0;
  double normwise_error = 0;
  double normwise_bound = 0;
};

/// The machine and settings that a measurement belongs to.
struct Environment {
  std::string device;    ///< CPU model
  std::string compiler;  ///< name and version
  std::string flags;
  std::string isolation;  ///< layers that this machine allowed, e.g. "namespaces+seccomp+rlimits"
  std::uint64_t seed = 0;
  bool noisy = false;
  std::string clock{};   ///< kDeterministicClock, kModelledClock; empty: times scatter
  std::string worker{};  ///< of a run's several, the one that measured; empty: there was one
};
/// Of a device that counts: a call takes the same time again.
inline constexpr std::string_view kDeterministicClock = "deterministic";
/// Of a modelled device: no device took the times.
inline constexpr std::string_view kModelledClock = "modelled";

struct BuildReport {
  bool built = false;
  std::string diagnostics;  ///< trimmed to the candidate's own lines, no paths
  std::string build_id;
  std::string machine_code_id;
  std::int64_t code_bytes = 0;
  std::vector<std::string> remarks;
  double seconds = 0;
};

/// One configuration of a tuned kernel that was tried, and how far it got.
struct TunedConfiguration {
  std::vector<std::int64_t> values;  ///< in the order of Tuning::names
  TunedFate fate = TunedFate::unfinished;
  Status status = Status::passed;  ///< of a failed one
  std::string reason;              ///< why it failed
  int blocks = 0;                  ///< that it was timed in
  std::optional<Interval> ratio;   ///< the chosen one's time / its time: under 1 is slower than the chosen one
};

/// Configurations that ran side by side.
struct TuningHeat {
  int rung = 0;
  std::vector<int> arms;                        ///< indices into Tuning::field; the others are compared with the first
  double offset = 0;                            ///< log-ratio of the first arm to the field's first reference
  std::vector<std::vector<double>> log_ratios;  ///< by arm, by block: log(the first arm's time / its time)
};

/// What became of `//@ tune`: the values that were chosen, and the field that lost.
struct Tuning {
  std::string source_id;  ///< of the source with its sets open
  std::vector<std::string> names;
  std::vector<std::vector<std::int64_t>> sets;  ///< by name
  std::int64_t combinations = 0;                ///< of the sets
  std::int64_t configurations = 0;              ///< that `//@ require` leaves
  std::optional<std::vector<std::int64_t>> chosen;
  std::vector<TunedConfiguration> field;  ///< those that were tried, in order
  std::vector<TuningHeat> heats;          ///< what the decisions rest on
  double seconds = 0;                     ///< builds and races
};

/// How samples are judged now. 1: intervals of confirmations by blocks; 2: by how far restarts lie apart, too.
inline constexpr int kStatistics = 2;

struct Evaluation {
  Status status = Status::not_measured;
  std::string reason;  ///< for people and for the fixer: diagnostics, or what was wrong where
  std::optional<Mismatch> mismatch;
  Verdict verdict = Verdict::none;
  std::optional<Interval> ratio;  ///< against the opponent
  std::string opponent;           ///< source id of the parent or the baseline
  EvaluationKind kind = EvaluationKind::none;
  DecidedBy decided_by = DecidedBy::none;
  int blocks = 0;
  std::vector<WorkloadTiming> workloads;
  std::vector<StageTime> stages;
  std::vector<std::string> notes;  ///< of a confirmation: what was checked besides results, and what could not be
  std::vector<BlockSample> samples;
  int statistics = 1;  ///< of a confirmation: the version of the rules by which its samples were judged
  std::optional<Profile> profile;
  std::optional<Tuning> tuning;  ///< of a kernel that left values open; `source_id` is that of the chosen one
  Environment environment;
  base::Json details{};  ///< what the evaluator found besides, in a form of its own; null: nothing
  std::string trust;     ///< how the target keeps a candidate apart, in its own word: "device-code", "isolated"
  std::string source_id;
  std::string machine_code_id;
  std::optional<std::string> duplicate_of;  ///< identity of the evaluation that this one copies
};

/// Whether it failed in a call that was to be profiled.
bool failed_in_profile(const Evaluation& evaluation);
/// Makes such an evaluation a failure: no verdict and no ratio are left of it.
void take_failure(Evaluation& evaluation);

void to_json(base::Json& out, const Interval& value);
void from_json(const base::Json& in, Interval& value);
void write_json(base::JsonText& out, const Interval& value);
void to_json(base::Json& out, const WorkloadTiming& value);
void from_json(const base::Json& in, WorkloadTiming& value);
void write_json(base::JsonText& out, const WorkloadTiming& value);
void to_json(base::Json& out, const Profile& value);
void from_json(const base::Json& in, Profile& value);
void write_json(base::JsonText& out, const Profile& value);
void to_json(base::Json& out, const BuildReport& value);
void from_json(const base::Json& in, BuildReport& value);
void write_json(base::JsonText& out, const BuildReport& value);
void to_json(base::Json& out, const BlockSample& value);
void from_json(const base::Json& in, BlockSample& value);
void write_json(base::JsonText& out, const BlockSample& value);
void to_json(base::Json& out, const Tuning& value);
void from_json(const base::Json& in, Tuning& value);
void write_json(base::JsonText& out, const Tuning& value);
void to_json(base::Json& out, const Environment& value);
void from_json(const base::Json& in, Environment& value);
void write_json(base::JsonText& out, const Environment& value);
void to_json(base::Json& out, const Evaluation& value);
void from_json(const base::Json& in, Evaluation& value);
void write_json(base::JsonText& out, const Evaluation& value);

}  // namespace accelopt::model
