// SPDX-License-Identifier: Apache-2.0
// What of an iteration may go on at the same time, and how much of it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <stop_token>
#include <string_view>

#include "base/result.hpp"

namespace accelopt::search {

/// pipeline: the model calls, builds and measurements of different attempts overlap. The other two are controls.
/// stages: as the published system, the calls of a stage at once, the stages one after the other, one evaluation at a
/// time. serial: one thing at a time. The decisions are the same under each.
enum class Schedule { pipeline, stages, serial };

std::string_view to_string(Schedule schedule);
/// @error invalid_argument: unknown name; the message lists the known ones.
base::Result<Schedule> parse_schedule(std::string_view name);

/// How much of a pipeline may be under way. Every number bounds something that would grow with the settings.
struct FlowLimits {
  int attempts = 512;  ///< in flight, each on a thread of its own
  int waiting = 64;    ///< solutions on their way through build and device; with more, no new question is asked
  /// How long a failed attempt waits to hear whether an earlier one gave the very same solution before it pays for a
  /// fix.
  std::chrono::milliseconds equal_answers{1000};
};

/// The traffic of one iteration's attempts. May be used from many threads.
class Flow {
 public:
  /// What an attempt does next, in the order of the stages: an attempt with n fixes passes plan, execute, judge(0),
  /// fix(1), judge(1), ...
  struct Stage {
    int number = 0;
    static Stage plan() { return {0}; }
    static Stage execute() { return {1}; }
    static Stage judge(int fix) { return {2 + 2 * fix}; }
    static Stage fix(int fix) { return {1 + 2 * fix}; }
  };

  Flow(Schedule schedule, FlowLimits limits, int attempts);
  Flow(const Flow&) = delete;
  Flow& operator=(const Flow&) = delete;

  [[nodiscard]] Schedule schedule() const { return schedule_; }
  [[nodiscard]] const FlowLimits& limits() const { return limits_; }

  /// Waits until so many more attempts may be in flight; gives them back at `release`.
  void admit(int attempts);
  void release(int attempts);

  /// Waits until few enough solutions wait for the device, or for a stop.
  void before_question(const std::stop_token& stop);

  /// One attempt's way through the stages, from its plan to its end.
  class Seat {
   public:
    explicit Seat(Flow& flow) : flow_(flow) {}
    Seat(const Seat&) = delete;
    Seat& operator=(const Seat&) = delete;
    ~Seat();
    /// Under `stages`, waits until no attempt is in an earlier stage.
    void enter(Stage stage);

   private:
    Flow& flow_;
    int at_ = 0;
  };

  /// A solution between its answer and its verdict; under `stages` the only one.
  class Judging {
   public:
    explicit Judging(Flow& flow);
    Judging(const Judging&) = delete;
    Judging& operator=(const Judging&) = delete;
    ~Judging();

   private:
    Flow& flow_;
    std::unique_lock<std::mutex> alone_;
  };

 private:
  void move(int from, int to);

  const Schedule schedule_;
  const FlowLimits limits_;
  std::mutex evaluating_;  ///< under `stages`: one evaluation at a time
  std::mutex mutex_;
  std::condition_variable admitting_;   ///< fewer are in flight
  std::condition_variable_any judged_;  ///< fewer solutions wait for the device
  std::condition_variable left_;        ///< under `stages`: a stage has one attempt less
  int in_flight_ = 0;
  int waiting_ = 0;
  std::map<int, int> in_stage_;  ///< attempts by the stage that they are in or wait for
};

}  // namespace accelopt::search
