// SPDX-License-Identifier: Apache-2.0
#include "search/flow.hpp"

#include <array>
#include <string>
#include <utility>

#include "base/names.hpp"

namespace accelopt::search {
namespace {

constexpr auto kSchedules = std::to_array<base::Named<Schedule>>(
    {{Schedule::pipeline, "pipeline"}, {Schedule::stages, "stages"}, {Schedule::serial, "serial"}});

}  // namespace

std::string_view to_string(Schedule schedule) {
  return base::name_in(kSchedules, schedule);
}

base::Result<Schedule> parse_schedule(std::string_view name) {
  if (const auto schedule = base::value_in(kSchedules, name)) return *schedule;
  return base::fail(base::ErrorCode::invalid_argument,
                    "unknown schedule \"" + std::string(name) + "\"; known are pipeline, stages and serial");
}

Flow::Flow(Schedule schedule, FlowLimits limits, int attempts) : schedule_(schedule), limits_(limits) {
  in_stage_[Stage::plan().number] = attempts;
}

void Flow::admit(int attempts) {
  // Under `stages` an attempt that is not let in would hold up all others; one branch alone is always let in.
  std::unique_lock lock(mutex_);
  admitting_.wait(lock, [&] {
    return schedule_ == Schedule::stages || in_flight_ == 0 || in_flight_ + attempts <= limits_.attempts;
  });
  in_flight_ += attempts;
}

void Flow::release(int attempts) {
  {
    const std::scoped_lock lock(mutex_);
    in_flight_ -= attempts;
  }
  admitting_.notify_all();
}

void Flow::before_question(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  if (waiting_ < limits_.waiting) return;
  judged_.wait(lock, stop, [&] { return waiting_ < limits_.waiting; });
}

void Flow::move(int from, int to) {
  {
    const std::scoped_lock lock(mutex_);
    if (--in_stage_[from] == 0) in_stage_.erase(from);
    if (to >= 0) ++in_stage_[to];
  }
  if (schedule_ == Schedule::stages) left_.notify_all();
}

Flow::Seat::~Seat() {
  flow_.move(at_, -1);
}

void Flow::Seat::enter(Stage stage) {
  flow_.move(at_, stage.number);
  at_ = stage.number;
  if (flow_.schedule_ != Schedule::stages) return;
  std::unique_lock lock(flow_.mutex_);
  flow_.left_.wait(lock, [&] { return flow_.in_stage_.begin()->first >= stage.number; });
}

Flow::Judging::Judging(Flow& flow) : flow_(flow) {
  if (flow_.schedule_ == Schedule::stages) alone_ = std::unique_lock(flow_.evaluating_);
  const std::scoped_lock lock(flow_.mutex_);
  ++flow_.waiting_;
}

Flow::Judging::~Judging() {
  bool were_many = false;
  {
    const std::scoped_lock lock(flow_.mutex_);
    were_many = flow_.waiting_-- >= flow_.limits_.waiting;
  }
  if (were_many) flow_.judged_.notify_all();
}

}  // namespace accelopt::search
