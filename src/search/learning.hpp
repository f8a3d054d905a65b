// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "search/attempt.hpp"
#include "search/candidate.hpp"
#include "search/settings.hpp"

namespace accelopt::search {

/// What the summaries of one iteration work with. Everything outlives it.
struct Learning {
  const model::Task& task;
  const evaluation::OpenReport& opened;
  const SearchSettings& settings;
  const std::string& run;
  std::uint64_t seed = 0;
  int iteration = 0;
  const std::vector<Candidate>& beam;
  Asker& asker;
  Measurer& measurer;
  model::EventSink& events;
  Stops stops;
  Schedule schedule = Schedule::pipeline;
};

/// What the telling pairs of an iteration taught.
struct Lessons {
  std::vector<model::Experience> experiences;
  int asked = 0;         ///< pairs
  int none = 0;          ///< pairs that the summarizer saw no optimization in
  int lost = 0;          ///< answers that could not be had or read
  bool put_off = false;  ///< whether some wait for somebody elsewhere
};

/// Profiles each telling pair and asks the summarizer about it (about a parent's pairs in one question where the
/// settings say so), all at once unless everything is done one by one, and gives what it taught: improvements by effect
/// first, ids from "e<known + 1>" on. A summarizer that sees no optimization teaches nothing; that, and an answer that
/// was lost, is told as a note and counted.
/// @error as Asker::summarize and Measurer::profile, ending runs apart.
base::Result<Lessons> summarize_pairs(const Learning& learning, const std::vector<AttemptOutcome>& outcomes, int known);

}  // namespace accelopt::search
