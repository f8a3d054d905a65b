// SPDX-License-Identifier: Apache-2.0
// One search of the recipes agents over a table of measured candidates, and how soon it found what it was to find.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agents/roles.hpp"
#include "syntax/clang.hpp"
#include "transfer_table.hpp"

namespace accelopt::bench {

/// In which order a search's planner gives its plans.
enum class Order {
  cost_model,  ///< the static one: no memory
  memory,      ///< the static one, moved by what other operators' runs taught
  random
};

struct Search {
  std::string run;
  Order order = Order::cost_model;
  std::uint64_t seed = 0;
  int evaluations = 0;                            ///< most
  std::optional<double> until{};                  ///< ends as soon as a candidate has this speed-up over the baseline
  std::optional<std::filesystem::path> events{};  ///< file for its events, JSON lines
  std::optional<std::filesystem::path> store{};   ///< knowledge store that it learns into and recalls from
};

/// A candidate in the order of evaluation.
struct Step {
  std::string source_id;
  double speedup = 0;  ///< over the baseline, from all of its blocks; 0: it failed, or fails on the held-out workloads
  model::Solution solution{};
};

/// The first evaluation, from 1, that gave a candidate with this speed-up; none did: one more than there were.
int evaluations_until(const std::vector<Step>& steps, double speedup, int most);
double best_of(const std::vector<Step>& steps);

/// The recipes agents, which all runs share: their answers depend on the question alone, and are kept.
class RecipesTeam {
 public:
  explicit RecipesTeam(const syntax::Clang& clang);
  ~RecipesTeam();
  RecipesTeam(const RecipesTeam&) = delete;
  RecipesTeam& operator=(const RecipesTeam&) = delete;

  /// Runs the search as `accelopt run` would with these settings; the table measures what it does not know.
  /// @error as run_search.
  base::Result<std::vector<Step>> search(Table& table, const Search& search);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace accelopt::bench
