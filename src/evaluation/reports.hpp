// SPDX-License-Identifier: Apache-2.0
// How a run measures, and what is reported of a device, a baseline and a play-off.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/evaluation.hpp"
#include "model/kernel.hpp"
#include "model/output_check.hpp"
#include "model/task.hpp"
#include "model/vocabulary.hpp"

namespace accelopt::evaluation {

/// The rate of fused multiply-adds in vectors of one width.
struct VectorPeak {
  std::string dtype;  ///< "float32", "float64"
  int bits = 0;       ///< of a vector; the dtype's own width: one value at a time
  double flops_per_second = 0;
};

/// The machine as measured once and cached: one core of a CPU, or a whole accelerator.
struct Peaks {
  double flops_per_second = 0;  ///< FMA, float32
  double flops_per_second_float64 = 0;
  double bytes_per_second = 0;             ///< of memory: the best of triads, copies and sums
  double last_level_bytes_per_second = 0;  ///< triad over arrays that the last-level cache holds; 0: not measured
  std::vector<VectorPeak> by_width{};      ///< narrowest first
  std::string measured{};                  ///< when, "2026-11-21"
  double tensor_flops_per_second = 0;      ///< of matrix units, 16-bit types; 0: there are none
  double tensor_tf32_flops_per_second = 0;
};

/// How a run measures. Every number is a limit or a schedule that the design names.
struct MeasureSettings {
  std::uint64_t seed = 0;               ///< secret to the run: inputs are drawn from it
  int slots = 9;                        ///< input sets a workload: one to warm up, and the eight blocks of FASTER
  double max_seconds_per_workload = 2;  ///< triage gives up after this much measuring, seconds
  double max_tuning_seconds = 60;       ///< a race of configurations takes its leader after this much measuring
  int playoff_min_blocks = 12;
  int playoff_max_blocks = 48;
  int confirm_min_blocks = 32;
  int confirm_max_blocks = 100;
  int confirm_restarts = 8;
  double confirm_half_width = 0.01;  ///< of the 95 % interval, relative
  double allow_regression = 0.05;    ///< most that one workload may certainly be slower
  double call_limit_seconds = 10;    ///< hard watchdog a call
  model::Protocol protocol = model::Protocol::blocks;
  model::OutputCheck outputs = model::OutputCheck::places;
  bool host_run = false;  ///< profiles call a kernel's own host function, too
  /// That the run has seen on this device elsewhere: of each peak the larger one holds. None: only its own.
  std::optional<Peaks> known_peaks{};
  /// What opening this task found on this device before, in another process: where the baseline's machine code, the
  /// device and its driver are the same it is taken over, and the baseline not measured again. None: it is measured.
  std::optional<model::Evaluation> known_baseline{};
};

struct DeviceInfo {
  std::string name;     ///< CPU model
  std::string summary;  ///< one line for prompts: cores, vector width, caches, peaks
  std::string compiler;
  std::string isolation;
  Peaks peaks;
};

/// A family on which the reference built as float is not finite where the double one is: the slot was drawn as
/// declared.
struct DroppedFamily {
  std::string workload;
  std::string family;
};
/// What happened, and what to do.
std::string describe(const DroppedFamily& dropped);

/// The baseline verified and measured.
struct OpenReport {
  DeviceInfo device;
  model::Evaluation baseline;  ///< its own evaluation; status says whether the run may begin
  std::string task_header;     ///< the generated task.h
  std::vector<DroppedFamily> dropped_families;
  std::vector<std::string> loose_bounds;  ///< for people: where wrong results may pass, and what to change
};

/// One arm of a play-off. The first is the baseline.
struct Arm {
  model::Kernel kernel;
};

struct ArmScore {
  bool measured = false;  ///< false: it failed while running; `reason` says why
  bool dropped = false;   ///< certainly out of the first places before the end
  std::string reason;
  model::Interval score;  ///< baseline time / its time
  std::vector<model::WorkloadTiming> workloads;
  int blocks = 0;
};

/// One block of a play-off: every arm's times on the same slot.
struct PlayoffSample {
  std::vector<std::vector<double>> times_ns;  ///< an entry an arm, of the raced workloads; empty: it did not run
  std::vector<int> failed{};                  ///< arms that left the race in this block; before it, if it is the first
  int slot = 0;
  bool disturbed = false;
};

struct PlayoffReport {
  std::vector<ArmScore> arms;  ///< as asked
  int blocks = 0;
  bool separated = false;                ///< places B and B + 1 came apart
  std::vector<std::string> notes;        ///< what a person should know of it
  std::vector<PlayoffSample> samples{};  ///< all blocks; empty: they were not kept
};

}  // namespace accelopt::evaluation
