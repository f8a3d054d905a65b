// SPDX-License-Identifier: Apache-2.0
// How the kernels of a run came about.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "agents/roles.hpp"
#include "search/candidate.hpp"

namespace accelopt::search {

/// Plans tried so far, by the kernel's source id.
using TriedPlans = std::map<std::string, std::vector<agents::TriedPlan>>;

/// The kernels that passed, each with the plan that made it and what it was made from. Used by one thread at a time.
class Ancestry {
 public:
  /// The first way in which a kernel came about counts.
  void add(const AttemptOutcome& outcome, const std::string& outcome_text);

  /// Where each member of the beam comes from, and what stands beside it.
  [[nodiscard]] std::vector<agents::Lineage> lineages(const std::vector<Candidate>& beam,
                                                      const TriedPlans& tried) const;

 private:
  struct Origin {
    agents::TriedPlan plan;  ///< with what the kernel now is as its title
    std::string planned;     ///< the plan's own title
    std::string parent;      ///< source id
  };
  std::map<std::string, Origin> origins_;
};

}  // namespace accelopt::search
