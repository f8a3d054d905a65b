// SPDX-License-Identifier: Apache-2.0
// What a run takes from the knowledge store, and what it gives back.
#pragma once

#include <string>
#include <vector>

#include "memory/knowledge.hpp"
#include "memory/queue.hpp"
#include "search/candidate.hpp"
#include "search/recorder.hpp"
#include "search/settings.hpp"

namespace accelopt::search {

/// The run's side of the knowledge store. What was recalled is a recorded step, so that a resumed run and a replay
/// decide as the run did whatever became of the store. Used by one thread at a time; all arguments outlive it.
class Recollection {
 public:
  /// `knowledge` may be null: then a planner is shown the run's own experiences alone, and nothing is given back.
  Recollection(memory::Knowledge* knowledge, Recorder& recorder, const model::Task& task,
               const SearchSettings& settings)
      : knowledge_(knowledge), recorder_(recorder), task_(task), settings_(settings) {}

  /// What the planner is shown for each kernel of the beam: the run's own newest first; in the places that are left,
  /// with ranked retrieval, the best of the store for that kernel. @error as the journal's.
  base::Outcome<std::vector<memory::Queue>> shown(int iteration, const std::vector<Candidate>& beam,
                                                  const memory::Queue& own);

  /// Gives the store what the iteration taught: its experiences, the solutions that they speak of, and what became of
  /// the ones that its planners were shown. @error as the journal's.
  base::Result<void> contribute(int iteration, const std::vector<model::Experience>& fresh,
                                const std::vector<AttemptOutcome>& outcomes, const std::vector<Candidate>& parents,
                                const std::vector<memory::Queue>& shown);

 private:
  base::Outcome<memory::Queue> recall(int iteration, int parent, const Candidate& candidate, const memory::Queue& own);
  [[nodiscard]] memory::Query query_for(const Candidate& candidate) const;

  memory::Knowledge* knowledge_;
  Recorder& recorder_;
  const model::Task& task_;
  const SearchSettings& settings_;
};

/// What becomes of what is shown: a model reads it; the recipes weigh hundreds, of which those that a plan names count
/// as shown.
enum class Showing { read, weighed };

/// What the iteration's outcomes say of the experiences that its plans rest on, and which ones its planners were shown;
/// those of other runs have their ids in the store.
/// A plan's experiences are confirmed when one of its attempts is certainly faster than its parent, refuted when
/// attempts were measured or failed and none is; where nothing was built and judged nothing is said, nor where a
/// model's attempt became its parent's own program.
std::vector<memory::CreditEvent> credit_of(const std::string& run, int iteration,
                                           const std::vector<AttemptOutcome>& outcomes,
                                           const std::vector<memory::Queue>& shown, Showing showing = Showing::read);

}  // namespace accelopt::search
