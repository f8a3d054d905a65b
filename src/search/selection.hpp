// SPDX-License-Identifier: Apache-2.0
// The decisions of a search as pure functions of what was measured. Ties are settled by identity, never by arrival.
#pragma once

#include <vector>

#include "evaluation/entrants.hpp"
#include "search/candidate.hpp"
#include "search/settings.hpp"

namespace accelopt::search {

/// What decisions on the field of a play-off look at; an entry an outcome, which they point into.
std::vector<evaluation::RacedAttempt> as_raced(const std::vector<AttemptOutcome>& outcomes);

/// As evaluation::representatives; indices into the outcomes, which are in order of identity.
std::vector<std::size_t> representatives(const std::vector<AttemptOutcome>& outcomes);

/// A pair that is worth a summary.
struct TeachingPair {
  std::size_t outcome = 0;  ///< index of the child
  model::Polarity polarity = model::Polarity::improves;
};

/// Whether the child turned out to be the same program as its parent, in other words.
bool is_parents_program(const AttemptOutcome& outcome);

/// Positive representatives by effect, at most `memory_new` / 2; negative ones, worst first, fill up to `memory_new`;
/// failures that a fix mended take the places that are left, in order of identity. Standard rules ask a positive pair
/// to be certain; paper rules look at the estimate alone. With `memory_everything`
/// every representative teaches, and so does what turned out to be the same program as its parent; what is not positive
/// counts as negative.
std::vector<TeachingPair> teaching_pairs(const std::vector<AttemptOutcome>& outcomes,
                                         const std::vector<std::size_t>& chosen, const SearchSettings& settings);

/// An entrant of the beam's places: a parent or a child with its score of one play-off.
struct Entrant {
  std::size_t arm = 0;  ///< the caller's handle
  model::Identity identity;
  double score = 1;
  int parent = -1;          ///< place of its parent in the old beam; -1: it is a parent itself
  double parent_score = 0;  ///< of that parent in the same play-off
};

/// The arms that fill the beam, best first: parents, and children faster than their parent; at most one child a parent
/// until each parent with an eligible child has one.
std::vector<std::size_t> fill_beam(std::vector<Entrant> entrants, int places);

/// Paper rules. One branch's representative: its attempt of least latency; a failed attempt stands for its parent's
/// code with latency infinity.
struct PaperEntrant {
  std::size_t outcome = 0;  ///< index into the outcomes; meaningless when `is_parent_code`
  int parent = 0;           ///< place in the old beam
  bool is_parent_code = false;
  double latency_ns = 0;
};

/// Every branch's representative, sorted by latency (stable), the first `places`; parents do not compete.
std::vector<PaperEntrant> fill_beam_as_published(const std::vector<AttemptOutcome>& outcomes, int places);

/// The raced workloads' time of a measured candidate: geometric mean, nanoseconds; infinity if it was not measured.
double latency_ns(const model::Evaluation& evaluation);

}  // namespace accelopt::search
