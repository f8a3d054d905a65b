// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "base/outcome.hpp"
#include "journal/control.hpp"
#include "model/usage.hpp"
#include "model/vocabulary.hpp"
#include "search/settings.hpp"

namespace accelopt::search {

/// Whether something was done and paid for before.
enum class OnRecord { no, yes };

/// What a piece of work uses, or is expected to use.
struct Amounts {
  std::int64_t tokens = 0;
  double usd = 0;
  double device_seconds = 0;
};

/// What a run may still spend, and what it has spent. What is about to be spent is reserved first, so that work in
/// flight cannot exceed a limit together. May be used from many threads.
///
/// Any limit that is reached ends the asking. What was answered is still measured, unless it was time or device time
/// that ran out, or the run was asked to end. A share of both is kept back for the last play-off and the confirmation,
/// which are never refused. A search that ends with a review keeps back a share of tokens and dollars for it, and gives
/// it half of that time.
class Budget {
 public:
  using Clock = std::function<std::chrono::steady_clock::time_point()>;
  /// `before`: what earlier sessions of the run have used.
  explicit Budget(const SearchSettings& settings, Clock clock = std::chrono::steady_clock::now,
                  const journal::Spent& before = {});

  /// Whether another question may be asked. False from the first limit on that is reached.
  bool may_ask();
  /// The same of a question for plans, which need evaluations: it ends the budget where none is left.
  bool may_plan();
  /// Whether another candidate may be measured.
  bool may_measure();
  /// Takes the evaluation of a source off the budget; false, and nothing taken, when there is none left. One that is on
  /// record was paid for already and is only counted. Each source is built once and counts once, however many attempts
  /// give it.
  bool take_evaluation(const std::string& source_id, OnRecord on_record = OnRecord::no);

  /// One of the evaluations that are left, kept for an answer to come, so that none is asked for in vain. Given back at
  /// its end. Must not outlive the budget.
  class KeptEvaluation {
   public:
    explicit KeptEvaluation(Budget& budget) : budget_(budget) {}
    KeptEvaluation(const KeptEvaluation&) = delete;
    KeptEvaluation& operator=(const KeptEvaluation&) = delete;
    ~KeptEvaluation() { give_back(); }
    /// Waits while all that are left are kept for others, and ends the budget where none is left.
    /// Ending: the budget is used up, or `stop` was asked for.
    base::Outcome<void> keep(const std::stop_token& stop);
    /// Once the answer has taken an evaluation, or needs none.
    void give_back();

   private:
    Budget& budget_;
    bool kept_ = false;
  };

  /// Evaluations that an earlier part of the run took and that are not on record yet: put off, their results to come.
  void count_put_off(int evaluations);
  /// Files what an answer used.
  void charge(model::AgentRole role, const model::Usage& usage) { charge(to_string(role), usage); }
  /// The same of one who is no role of the search, such as a reviewer.
  void charge(std::string_view role, const model::Usage& usage);

  /// Amounts that nobody else may use meanwhile; given back at its end. Must not outlive the budget.
  class Reservation {
   public:
    Reservation(Budget& budget, const Amounts& amounts) : budget_(&budget), amounts_(amounts) {}
    Reservation(Reservation&& other) noexcept
        : budget_(std::exchange(other.budget_, nullptr)), amounts_(other.amounts_) {}
    Reservation& operator=(Reservation&&) = delete;
    Reservation(const Reservation&) = delete;
    Reservation& operator=(const Reservation&) = delete;
    ~Reservation();
    /// Adds what a part of the work has used that has to be done again. False: with all that is reserved, that
    /// exceeds a limit, and it should not be.
    [[nodiscard]] bool grow(const Amounts& used);
    /// Puts what was really used in its place.
    void settle(const Amounts& used);

   private:
    Budget* budget_;
    Amounts amounts_;
  };
  /// Waits while only other reservations stand in the way, and ends the budget when the amounts do not fit without
  /// them.
  /// Ending: the budget is used up, or `stop` was asked for.
  base::Outcome<Reservation> reserve(const Amounts& amounts, const std::stop_token& stop);
  /// What is expected to be used, as known by now. It asks nothing of the budget.
  using Expected = std::function<Amounts()>;
  /// The same of tokens and dollars: whoever has waited expects what is known by then.
  base::Outcome<Reservation> reserve(const Expected& expected, const std::stop_token& stop);
  /// For a question of the review, which may use the tokens and dollars that are kept back; ends nothing.
  base::Outcome<Reservation> reserve_for_review(const Expected& expected, const std::stop_token& stop);

  /// Adds what could not be reserved: the work that concludes a run.
  void spend(const Amounts& used);
  /// What play-off and confirmation are expected to take, seconds of the device; the greatest estimate counts.
  void expect_conclusion(double seconds);

  /// Begins nothing new from now on; what there is will be raced and confirmed. `reason` becomes the run's.
  void end(model::EndReason reason);
  /// Looks at the clock; to be called now and then while a limit on time could be reached by waiting.
  void tick();
  /// Requested when the time is up or the run was asked to end: whoever waits for a model should wait no longer.
  [[nodiscard]] std::stop_token time_is_up() const { return time_is_up_.get_token(); }
  /// The same for the review, which has half of the time that is kept back; the rest is the confirmation's.
  [[nodiscard]] std::stop_token time_of_review_is_up() const { return time_of_review_is_up_.get_token(); }

  [[nodiscard]] int evaluations() const;
  [[nodiscard]] std::map<std::string, model::Usage> by_role() const;
  [[nodiscard]] model::Usage total() const;
  /// Of all sessions, seconds.
  [[nodiscard]] double elapsed_seconds() const;
  [[nodiscard]] double session_seconds() const;
  /// Of all sessions, and of this one, seconds that the device was measuring.
  [[nodiscard]] double device_seconds() const;
  [[nodiscard]] double session_device_seconds() const;
  /// Whether the whole of a limit on time or device time is used, the share for the confirmation included.
  [[nodiscard]] bool exhausted() const;
  /// The limit that ended it, once one did.
  [[nodiscard]] std::optional<model::EndReason> ended_by() const;
  /// The same for people, with the numbers; empty while it has not ended.
  [[nodiscard]] std::string explanation() const;

 private:
  enum class Use { asking, measuring, reviewing };

  // All of these under the lock.
  [[nodiscard]] Amounts spent() const;
  /// The limit that these amounts, on top of what is spent, would exceed.
  [[nodiscard]] std::optional<model::EndReason> exceeded_by(Use use, const Amounts& amounts) const;
  [[nodiscard]] double kept_back(double whole) const;
  [[nodiscard]] bool review_is_late() const;
  /// Where a limit on time ends a run that measured no candidate: what would have been enough; else empty.
  [[nodiscard]] std::string advice(double whole, double used, const Amounts& wanted) const;
  void look_at_limits();
  base::Outcome<Reservation> reserve_as(Use use, const Expected& expected, const std::stop_token& stop);
  void end_by(model::EndReason limit, const Amounts& wanted);
  [[nodiscard]] bool measuring_ended() const;
  /// Whether all evaluations but so many are taken.
  [[nodiscard]] bool all_taken_but(int evaluations) const;

  const SearchSettings settings_;
  const Clock clock_;
  const std::chrono::steady_clock::time_point start_;
  const journal::Spent before_;
  std::stop_source time_is_up_;
  std::stop_source time_of_review_is_up_;

  mutable std::mutex mutex_;  ///< guards all that follows
  std::condition_variable_any released_;
  std::map<std::string, model::Usage> by_role_;
  model::Usage total_;
  Amounts used_;      ///< in this session
  Amounts reserved_;  ///< in flight
  std::uint64_t releases_ = 0;
  std::set<std::string> evaluated_;  ///< source ids
  int taken_ = 0;                    ///< evaluations that were not on record
  int kept_ = 0;                     ///< evaluations for answers to come
  double conclusion_seconds_ = 0;
  std::optional<model::EndReason> ended_by_;
  std::string explanation_;
};

}  // namespace accelopt::search
