// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

#include "agents/roles.hpp"
#include "search/budget.hpp"
#include "search/recorder.hpp"

namespace accelopt::search {

/// The agents as a search uses them: every answer recorded and never asked for twice, its cost charged. May be used
/// from many threads. What an answer lacks is as the agents say; ending: the budget allows no question more. A question
/// that is refused for good is lost where others were answered.
/// @error permission_denied: it is refused, and none was answered yet; unauthenticated: the key is; quota_exceeded: the
/// account has no credit left.
class Asker {
 public:
  /// All arguments outlive the asker.
  Asker(const agents::Team& team, Recorder& recorder, Budget& budget)
      : team_(team), recorder_(recorder), budget_(budget) {}

  /// Of what a plan depends on, as the record has it. Equal for all questions on one parent in one iteration.
  static std::string input_hash(const agents::PlanQuestion& question);
  base::Outcome<agents::Answer<model::Plan>> plan(const agents::PlanQuestion& question, const std::string& input_hash,
                                                  std::stop_token stop);
  /// Several plans from one question.
  base::Outcome<agents::Answer<std::vector<model::Plan>>> plans(const agents::PlanQuestion& question,
                                                                const std::string& input_hash, std::stop_token stop);
  /// `kept`: an evaluation is kept for the answer, unless that is on record; null: none is.
  base::Outcome<agents::Answer<model::Kernel>> execute(const agents::ExecuteQuestion& question, std::stop_token stop,
                                                       Budget::KeptEvaluation* kept = nullptr);
  base::Outcome<agents::Answer<model::Kernel>> fix(const agents::FixQuestion& question, std::stop_token stop,
                                                   Budget::KeptEvaluation* kept = nullptr);
  base::Outcome<agents::Answer<std::optional<agents::Lesson>>> summarize(const agents::SummarizeQuestion& question,
                                                                         std::stop_token stop);
  /// Lessons on several changes from one question; not empty.
  base::Outcome<agents::Answer<std::vector<std::optional<agents::Lesson>>>> summarize_all(
      const std::vector<agents::SummarizeQuestion>& questions, std::stop_token stop);

  /// Whether somebody is there who reads a profile with a question about a lesson: nobody is in a replay.
  [[nodiscard]] bool summarizer_reads_profiles() const {
    return team_.summarizer != nullptr && team_.summarizer->reads_profiles();
  }

  /// Before other threads ask on account of an answer that this one was given: waits until it is on record.
  base::Result<void> make_durable() { return recorder_.settle_own(); }
  /// What the calling thread asks from now on rests on no answer that it was given before, unless that is durable.
  void begin_attempt() { recorder_.begin_own(); }

  /// Questions that were put off for somebody elsewhere to answer.
  [[nodiscard]] int put_off() const { return put_off_; }

  /// Questions that got no answer since the last settle(), although everything was tried: the first one's reason.
  [[nodiscard]] std::optional<base::Error> unanswered() const;
  /// Records those questions as lost, so that a resumed run decides as this one did. To be called when the run goes on
  /// without them; when it cannot, they stay off the record and are asked again.
  base::Result<void> settle();

 private:
  struct LostQuestion {
    journal::StepKey key;
    std::string input_hash;
    std::string output;  ///< canonical JSON
    model::Usage usage;
    base::Error reason;
  };
  template <class T, class Ask>
  base::Outcome<agents::Answer<T>> ask(model::AgentRole role, const journal::StepKey& key,
                                       const std::string& input_hash, Ask&& ask);

  const agents::Team& team_;
  Recorder& recorder_;
  Budget& budget_;
  mutable std::mutex mutex_;
  std::vector<LostQuestion> lost_;
  std::atomic<int> put_off_ = 0;
  std::atomic<bool> answered_ = false;  ///< a question of this run was, in whatever session
};

/// Whether a model's failure is one question's bad luck (the attempt is lost, the run goes on) rather than the run's.
bool is_bad_luck(base::ErrorCode code);

}  // namespace accelopt::search
