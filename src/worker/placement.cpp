// SPDX-License-Identifier: Apache-2.0
#include "worker/placement.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "base/result.hpp"

namespace accelopt::worker {

Placement::Placement(std::size_t workers, std::size_t side_by_side) : side_by_side_(side_by_side), loads_(workers) {
  ACCELOPT_ASSERT(workers > 0 && side_by_side > 0, "somebody measures, for somebody");
}

std::vector<std::size_t> Placement::find_home() {
  const std::lock_guard lock(mutex_);
  std::vector<std::size_t> order(loads_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
    const auto rank = [this](std::size_t worker) {
      const Load& load = loads_[worker];
      return std::make_tuple(load.failed, load.homes, load.opening + load.measuring);
    };
    return rank(a) < rank(b);
  });
  order.resize(std::max<std::size_t>(1, loads_.size() / side_by_side_));
  ++loads_[order.front()].homes;
  return order;
}

void Placement::leave_home(std::size_t worker) {
  const std::lock_guard lock(mutex_);
  --loads_[worker].homes;
}

void Placement::begin_opening(std::size_t worker) {
  const std::lock_guard lock(mutex_);
  ++loads_[worker].opening;
}

void Placement::fail(std::size_t worker) {
  const std::lock_guard lock(mutex_);
  loads_[worker].failed = true;
}

void Placement::fail_opening(std::size_t worker) {
  fail(worker);
  end_opening(worker, {}, std::nullopt);
}

void Placement::end_opening(std::size_t worker, const std::string& tasks, const std::optional<DeviceKind>& kind) {
  {
    const std::lock_guard lock(mutex_);
    --loads_[worker].opening;
    if (kind) {
      loads_[worker].failed = false;
      said_[tasks].insert_or_assign(worker, *kind);
    }
  }
  changed_.notify_all();
}

void Placement::begin_measuring(std::size_t worker) {
  const std::lock_guard lock(mutex_);
  ++loads_[worker].measuring;
}

void Placement::end_measuring(std::size_t worker) {
  const std::lock_guard lock(mutex_);
  --loads_[worker].measuring;
}

int Placement::in_flight(std::size_t worker) const {
  const std::lock_guard lock(mutex_);
  return loads_[worker].opening + loads_[worker].measuring;
}

bool Placement::is_idle(std::size_t worker) const {
  const std::lock_guard lock(mutex_);
  const Load& load = loads_[worker];
  return !load.failed && load.opening + load.measuring == 0;
}

std::optional<Placement::Settled> Placement::settle(std::size_t worker, const std::string& tasks,
                                                    const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const auto known = [&] {
    return settled_.contains(tasks) ||
           std::none_of(loads_.begin(), loads_.begin() + static_cast<std::ptrdiff_t>(worker),
                        [](const Load& load) { return load.opening > 0; });
  };
  if (!changed_.wait(lock, stop, known)) return std::nullopt;
  if (const auto settled = settled_.find(tasks); settled != settled_.end()) return settled->second;
  const auto& said = said_[tasks];
  if (said.empty()) return std::nullopt;
  const Settled settled{said.begin()->second, said.begin()->first};
  settled_.emplace(tasks, settled);
  changed_.notify_all();
  return settled;
}

void IdleWaiting::note(Time now, int waiting, int idle) {
  if (since_ && now > *since_) waited_ += together_ * std::chrono::duration<double>(now - *since_);
  since_ = now;
  together_ = std::max(0, std::min(waiting, idle));
}

}  // namespace accelopt::worker
