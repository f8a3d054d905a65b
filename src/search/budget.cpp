// SPDX-License-Identifier: Apache-2.0
#include "search/budget.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <fmt/format.h>

namespace accelopt::search {

using model::EndReason;

namespace {

/// Part of the time that is kept back at least for the last play-off and the confirmation, and at most: with less than
/// half of it nothing would be found that could be confirmed.
constexpr double kLeastKeptBack = 0.15;
constexpr double kMostKeptBack = 0.5;
/// Part of the tokens and dollars that the search itself may use where it ends with a review: three opinions and twelve
/// comparisons stand beside what a planner, three developers and their fixers ask in three iterations.
constexpr double kBeforeReview = 0.7;

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

Amounts sum(const Amounts& a, const Amounts& b) {
  return {a.tokens + b.tokens, a.usd + b.usd, a.device_seconds + b.device_seconds};
}

}  // namespace

Budget::Budget(const SearchSettings& settings, Clock clock, const journal::Spent& before)
    : settings_(settings), clock_(std::move(clock)), start_(clock_()), before_(before) {
  // Answers are filed as they are read from the record; what was asked in vain is not asked for again.
  for (const auto& [who, usage] : before_.unanswered) charge(who, usage);
}

double Budget::session_seconds() const {
  return std::chrono::duration<double>(clock_() - start_).count();
}

double Budget::elapsed_seconds() const {
  return before_.wall_seconds + session_seconds();
}

double Budget::kept_back(double whole) const {
  return std::clamp(conclusion_seconds_, kLeastKeptBack * whole, kMostKeptBack * whole);
}

Amounts Budget::spent() const {
  // Answers of agents that reserve nothing are known from what is charged alone.
  return {std::max(before_.usage.tokens() + used_.tokens, total_.tokens()),
          std::max(before_.usage.usd.value_or(0) + used_.usd, total_.usd.value_or(0)),
          before_.device_seconds + used_.device_seconds};
}

std::optional<EndReason> Budget::exceeded_by(Use use, const Amounts& amounts) const {
  const Amounts now = spent();
  const Amounts after = sum(now, amounts);
  const double share = use == Use::asking && settings_.developers > 0 ? kBeforeReview : 1;
  const auto used_up = [share](auto limit, auto before, auto then) {
    const double most = share * static_cast<double>(limit);
    return static_cast<double>(then) > most || static_cast<double>(before) >= most;
  };
  if (use == Use::reviewing && review_is_late()) return EndReason::max_seconds;
  // Where nothing is left, a work of no size does not fit either. What the device does takes its time of the wall, too.
  if (use != Use::reviewing && settings_.max_seconds) {
    const double left = *settings_.max_seconds - kept_back(*settings_.max_seconds) - elapsed_seconds();
    if (left <= 0 || (use == Use::measuring && amounts.device_seconds > left)) return EndReason::max_seconds;
  }
  if (use != Use::reviewing && settings_.max_device_seconds) {
    const double most = *settings_.max_device_seconds - kept_back(*settings_.max_device_seconds);
    if (after.device_seconds > most || now.device_seconds >= most) return EndReason::max_device_seconds;
  }
  if (use == Use::measuring) return std::nullopt;
  if (settings_.max_tokens && used_up(*settings_.max_tokens, now.tokens, after.tokens)) return EndReason::max_tokens;
  if (settings_.max_usd && used_up(*settings_.max_usd, now.usd, after.usd)) return EndReason::max_usd;
  return std::nullopt;
}

std::string Budget::advice(double whole, double used, const Amounts& wanted) const {
  if (before_.evaluations + taken_ > 0) return {};
  // The share that is kept back grows with the whole, up to what the conclusion takes.
  constexpr double kRoomForCandidates = 3;
  const double enough =
      std::max(whole, used + conclusion_seconds_) + kRoomForCandidates * (used + wanted.device_seconds);
  return ": none was left for a candidate; give at least " + number(std::ceil(enough)) + " s";
}

void Budget::end_by(EndReason limit, const Amounts& wanted) {
  ended_by_ = limit;
  const Amounts used = spent();
  const std::string kept = settings_.developers > 0 ? ", the rest is kept for the review" : "";
  if (limit == EndReason::max_seconds) {
    explanation_ = number(elapsed_seconds()) + " of " + number(*settings_.max_seconds) +
                   " s were used, and the rest is kept for the confirmation" +
                   advice(*settings_.max_seconds, elapsed_seconds(), wanted);
  } else if (limit == EndReason::max_tokens) {
    explanation_ = std::to_string(used.tokens) + " of " + std::to_string(*settings_.max_tokens) + " tokens were used" +
                   kept + ", and the next question may take " + std::to_string(wanted.tokens);
  } else if (limit == EndReason::max_usd) {
    explanation_ = "$" + number(used.usd) + " of $" + number(*settings_.max_usd) + " were used" + kept +
                   ", and the next question may cost $" + number(wanted.usd);
  } else if (limit == EndReason::max_device_seconds) {
    explanation_ = number(used.device_seconds) + " of " + number(*settings_.max_device_seconds) +
                   " s of the device were used, and the rest is kept for the confirmation" +
                   advice(*settings_.max_device_seconds, used.device_seconds, wanted);
  } else if (limit == EndReason::max_evaluations) {
    explanation_ = "all of " + std::to_string(*settings_.max_evaluations) + " evaluations were used";
  } else {
    explanation_ = "it was asked to end";
  }
  // What tokens or dollars in flight have paid for is worth waiting for; the rest could not be measured any more.
  if (limit != EndReason::max_tokens && limit != EndReason::max_usd) time_is_up_.request_stop();
  ++releases_;
  released_.notify_all();
}

bool Budget::review_is_late() const {
  if (!settings_.max_seconds) return false;
  return elapsed_seconds() >= *settings_.max_seconds - kept_back(*settings_.max_seconds) / 2;
}

void Budget::look_at_limits() {
  if (review_is_late()) time_of_review_is_up_.request_stop();
  if (measuring_ended()) return;
  if (const auto limit = exceeded_by(Use::measuring, {}))
    end_by(*limit, {});
  else if (const auto other = ended_by_ ? std::nullopt : exceeded_by(Use::asking, {}))
    end_by(*other, {});
}

bool Budget::measuring_ended() const {
  return ended_by_ && *ended_by_ != EndReason::max_tokens && *ended_by_ != EndReason::max_usd &&
         *ended_by_ != EndReason::max_evaluations;
}

bool Budget::may_ask() {
  const std::scoped_lock lock(mutex_);
  look_at_limits();
  return !ended_by_;
}

bool Budget::may_plan() {
  const std::scoped_lock lock(mutex_);
  look_at_limits();
  if (!ended_by_ && kept_ == 0 && all_taken_but(0)) end_by(EndReason::max_evaluations, {});
  return !ended_by_;
}

bool Budget::may_measure() {
  const std::scoped_lock lock(mutex_);
  look_at_limits();
  return !measuring_ended();
}

void Budget::tick() {
  const std::scoped_lock lock(mutex_);
  look_at_limits();
}

void Budget::end(EndReason reason) {
  const std::scoped_lock lock(mutex_);
  if (!measuring_ended()) end_by(reason, {});
}

bool Budget::take_evaluation(const std::string& source_id, OnRecord on_record) {
  const std::scoped_lock lock(mutex_);
  if (evaluated_.contains(source_id)) return true;
  if (on_record == OnRecord::no) {
    look_at_limits();
    if (measuring_ended()) return false;
    if (all_taken_but(0)) {
      if (!ended_by_) end_by(EndReason::max_evaluations, {});
      return false;
    }
    ++taken_;
  }
  evaluated_.insert(source_id);
  return true;
}

bool Budget::all_taken_but(int evaluations) const {
  const int taken = std::max(static_cast<int>(evaluated_.size()), before_.evaluations + taken_);
  return settings_.max_evaluations && taken + evaluations >= *settings_.max_evaluations;
}

base::Outcome<void> Budget::KeptEvaluation::keep(const std::stop_token& stop) {
  Budget& budget = budget_;
  if (kept_ || !budget.settings_.max_evaluations) return {};
  std::unique_lock lock(budget.mutex_);
  for (;;) {
    budget.look_at_limits();
    if (budget.ended_by_) return base::ending("nothing new is begun: " + budget.explanation_);
    if (stop.stop_requested()) return base::ending("stopped while waiting for the budget");
    if (!budget.all_taken_but(budget.kept_)) break;
    if (budget.kept_ == 0) {
      budget.end_by(EndReason::max_evaluations, {});
      continue;
    }
    budget.released_.wait(lock, stop, [&budget, seen = budget.releases_] { return budget.releases_ != seen; });
  }
  ++budget.kept_;
  kept_ = true;
  return {};
}

void Budget::KeptEvaluation::give_back() {
  if (!std::exchange(kept_, false)) return;
  const std::scoped_lock lock(budget_.mutex_);
  --budget_.kept_;
  ++budget_.releases_;
  budget_.released_.notify_all();
}

void Budget::count_put_off(int evaluations) {
  const std::scoped_lock lock(mutex_);
  taken_ += evaluations;
}

void Budget::charge(std::string_view role, const model::Usage& usage) {
  const std::scoped_lock lock(mutex_);
  by_role_[std::string(role)] += usage;
  total_ += usage;
}

base::Outcome<Budget::Reservation> Budget::reserve(const Amounts& amounts, const std::stop_token& stop) {
  return reserve_as(
      amounts.device_seconds > 0 ? Use::measuring : Use::asking, [&amounts] { return amounts; }, stop);
}

base::Outcome<Budget::Reservation> Budget::reserve(const Expected& expected, const std::stop_token& stop) {
  return reserve_as(Use::asking, expected, stop);
}

base::Outcome<Budget::Reservation> Budget::reserve_as(Use use, const Expected& expected, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  Amounts amounts;
  for (;;) {
    amounts = expected();
    look_at_limits();
    if (use == Use::measuring ? measuring_ended() : ended_by_.has_value())
      return base::ending("nothing new is begun: " + explanation_);
    if (stop.stop_requested()) return base::ending("stopped while waiting for the budget");
    if (const auto limit = exceeded_by(use, amounts)) {
      end_by(*limit, amounts);
      continue;
    }
    if (!exceeded_by(use, sum(amounts, reserved_))) break;
    released_.wait(lock, stop, [this, seen = releases_] { return releases_ != seen; });
  }
  reserved_ = sum(reserved_, amounts);
  return Reservation(*this, amounts);
}

base::Outcome<Budget::Reservation> Budget::reserve_for_review(const Expected& expected, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  Amounts amounts;
  for (;;) {
    amounts = expected();
    if (stop.stop_requested()) return base::ending("stopped while waiting for the budget");
    if (const auto limit = exceeded_by(Use::reviewing, amounts))
      return base::ending(fmt::format("the rest of {} does not suffice for a review", model::to_string(*limit)));
    if (!exceeded_by(Use::reviewing, sum(amounts, reserved_))) break;
    released_.wait(lock, stop, [this, seen = releases_] { return releases_ != seen; });
  }
  reserved_ = sum(reserved_, amounts);
  return Reservation(*this, amounts);
}

Budget::Reservation::~Reservation() {
  if (budget_ != nullptr) settle({});
}

bool Budget::Reservation::grow(const Amounts& used) {
  const std::scoped_lock lock(budget_->mutex_);
  amounts_ = sum(amounts_, used);
  budget_->reserved_ = sum(budget_->reserved_, used);
  return !budget_->exceeded_by(Use::asking, {budget_->reserved_.tokens, budget_->reserved_.usd, 0});
}

void Budget::Reservation::settle(const Amounts& used) {
  Budget& budget = *std::exchange(budget_, nullptr);
  const std::scoped_lock lock(budget.mutex_);
  budget.reserved_ = sum(budget.reserved_, {-amounts_.tokens, -amounts_.usd, -amounts_.device_seconds});
  budget.used_ = sum(budget.used_, used);
  ++budget.releases_;
  budget.released_.notify_all();
}

void Budget::spend(const Amounts& used) {
  const std::scoped_lock lock(mutex_);
  used_ = sum(used_, used);
}

void Budget::expect_conclusion(double seconds) {
  const std::scoped_lock lock(mutex_);
  conclusion_seconds_ = std::max(conclusion_seconds_, seconds);
}

int Budget::evaluations() const {
  const std::scoped_lock lock(mutex_);
  return static_cast<int>(evaluated_.size());
}

std::map<std::string, model::Usage> Budget::by_role() const {
  const std::scoped_lock lock(mutex_);
  return by_role_;
}

model::Usage Budget::total() const {
  const std::scoped_lock lock(mutex_);
  return total_;
}

double Budget::device_seconds() const {
  const std::scoped_lock lock(mutex_);
  return spent().device_seconds;
}

double Budget::session_device_seconds() const {
  const std::scoped_lock lock(mutex_);
  return used_.device_seconds;
}

bool Budget::exhausted() const {
  const std::scoped_lock lock(mutex_);
  return (settings_.max_seconds && elapsed_seconds() >= *settings_.max_seconds) ||
         (settings_.max_device_seconds && spent().device_seconds >= *settings_.max_device_seconds);
}

std::optional<EndReason> Budget::ended_by() const {
  const std::scoped_lock lock(mutex_);
  return ended_by_;
}

std::string Budget::explanation() const {
  const std::scoped_lock lock(mutex_);
  return explanation_;
}

}  // namespace accelopt::search
