// SPDX-License-Identifier: Apache-2.0
#include "search/budget.hpp"

namespace accelopt::search {
namespace {

/// Part of the wall time that is kept back for the last play-off and the confirmation.
constexpr double kConfirmationShare = 0.15;

}  // namespace

Budget::Budget(const SearchSettings& settings, Clock clock)
    : settings_(settings), clock_(std::move(clock)), start_(clock_()) {}

double Budget::elapsed_seconds() const {
  return std::chrono::duration<double>(clock_() - start_).count();
}

std::optional<std::string> Budget::limit_reached() const {
  if (settings_.max_seconds && elapsed_seconds() >= *settings_.max_seconds * (1 - kConfirmationShare))
    return "max_seconds";
  if (settings_.max_tokens && total_.input_tokens + total_.output_tokens >= *settings_.max_tokens) return "max_tokens";
  if (settings_.max_usd && total_.usd.value_or(0) >= *settings_.max_usd) return "max_usd";
  return std::nullopt;
}

bool Budget::may_ask() {
  const std::scoped_lock lock(mutex_);
  if (!ended_by_) ended_by_ = limit_reached();
  return !ended_by_;
}

bool Budget::take_evaluation(OnRecord on_record) {
  const std::scoped_lock lock(mutex_);
  if (on_record == OnRecord::yes) {
    ++evaluations_;
    return true;
  }
  if (!ended_by_) ended_by_ = limit_reached();
  if (!ended_by_ && settings_.max_evaluations && evaluations_ >= *settings_.max_evaluations)
    ended_by_ = "max_evaluations";
  if (ended_by_) return false;
  ++evaluations_;
  return true;
}

void Budget::charge(const std::string& role, const model::Usage& usage) {
  const std::scoped_lock lock(mutex_);
  by_role_[role] += usage;
  total_ += usage;
}

int Budget::evaluations() const {
  const std::scoped_lock lock(mutex_);
  return evaluations_;
}

std::map<std::string, model::Usage> Budget::by_role() const {
  const std::scoped_lock lock(mutex_);
  return by_role_;
}

model::Usage Budget::total() const {
  const std::scoped_lock lock(mutex_);
  return total_;
}

std::optional<std::string> Budget::ended_by() const {
  const std::scoped_lock lock(mutex_);
  return ended_by_;
}

}  // namespace accelopt::search
