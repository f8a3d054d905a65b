// SPDX-License-Identifier: Apache-2.0
#include "evaluation/build_ahead.hpp"

#include <algorithm>

namespace accelopt::evaluation {

bool CompileBudget::spent() const {
  const std::lock_guard lock(mutex_);
  return left_ <= 0;
}

bool CompileBudget::permits(const model::Kernel& configuration) const {
  const std::lock_guard lock(mutex_);
  return left_ > 0 || charged_.contains(configuration.id());
}

void CompileBudget::charge(const model::Kernel& configuration, double seconds) {
  const std::lock_guard lock(mutex_);
  if (charged_.insert(configuration.id()).second) left_ -= seconds;
}

std::string CompileBudget::text() const {
  return "the compilers of all configurations together have had their " +
         std::to_string(static_cast<std::int64_t>(limit_)) + " s";
}

std::shared_ptr<CompileBudget> CompileBudgets::of(const model::Kernel& open, double seconds) {
  const std::lock_guard lock(mutex_);
  auto& budget = by_source_[open.id()];
  if (!budget) budget = std::make_shared<CompileBudget>(seconds);
  return budget;
}

BuildAhead::BuildAhead(Toolchain& toolchain, std::shared_ptr<CompileBudget> budget, std::stop_token stop)
    : toolchain_(toolchain), budget_(std::move(budget)), stop_(std::move(stop)) {}

BuildAhead::~BuildAhead() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

std::size_t BuildAhead::add(const model::Kernel& kernel) {
  const std::lock_guard lock(mutex_);
  jobs_.push_back({kernel, std::nullopt});
  const auto wanted = static_cast<std::size_t>(std::max(toolchain_.build_threads(), 1));
  if (threads_.size() < std::min(wanted, jobs_.size())) threads_.emplace_back([this] { serve(); });
  changed_.notify_all();
  return jobs_.size() - 1;
}

base::Result<model::BuildReport> BuildAhead::wait(std::size_t number) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return jobs_[number].report.has_value(); });
  return *jobs_[number].report;
}

base::Result<model::BuildReport> BuildAhead::build(const model::Kernel& kernel) {
  if (!budget_->permits(kernel)) {
    model::BuildReport report;
    report.diagnostics = "not compiled: " + budget_->text();
    return report;
  }
  auto report = toolchain_.build(kernel, stop_);
  if (report) budget_->charge(kernel, report->seconds);
  return report;
}

void BuildAhead::serve() {
  toolchain_.settle_helper_thread();
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return closed_ || begun_ < jobs_.size(); });
    if (closed_) return;
    Job& job = jobs_[begun_++];
    lock.unlock();
    auto report = build(job.kernel);
    lock.lock();
    job.report = std::move(report);
    changed_.notify_all();
  }
}

}  // namespace accelopt::evaluation
