// SPDX-License-Identifier: Apache-2.0
#include "evaluation/build_ahead.hpp"

#include <algorithm>

namespace accelopt::evaluation {

BuildAhead::BuildAhead(Target& target, std::stop_token stop) : target_(target), stop_(std::move(stop)) {}

BuildAhead::~BuildAhead() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

std::size_t BuildAhead::add(const model::Solution& solution) {
  const std::lock_guard lock(mutex_);
  jobs_.push_back({solution, std::nullopt});
  const auto wanted = static_cast<std::size_t>(std::max(target_.build_threads(), 1));
  if (threads_.size() < std::min(wanted, jobs_.size())) threads_.emplace_back([this] { serve(); });
  changed_.notify_all();
  return jobs_.size() - 1;
}

base::Result<model::BuildReport> BuildAhead::wait(std::size_t number) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return jobs_[number].report.has_value(); });
  return *jobs_[number].report;
}

void BuildAhead::serve() {
  target_.settle_helper_thread();
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return closed_ || begun_ < jobs_.size(); });
    if (closed_) return;
    Job& job = jobs_[begun_++];
    lock.unlock();
    auto report = target_.build(job.solution, stop_);
    lock.lock();
    job.report = std::move(report);
    changed_.notify_all();
  }
}

}  // namespace accelopt::evaluation
