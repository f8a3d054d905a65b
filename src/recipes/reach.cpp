// SPDX-License-Identifier: Apache-2.0
#include "recipes/reach.hpp"

#include <cstdlib>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "model/c_tokens.hpp"

namespace accelopt::recipes {
namespace {

using Tokens = std::vector<std::string>;
/// Each two neighbouring tokens with how often they stand together.
using Pairs = std::map<std::pair<std::string, std::string>, int>;

Pairs pairs_of(const Tokens& tokens) {
  Pairs pairs;
  for (std::size_t i = 1; i < tokens.size(); ++i) ++pairs[{tokens[i - 1], tokens[i]}];
  return pairs;
}

/// How many pairs one has and the other has not.
int distance(const Pairs& wanted, const Tokens& tokens) {
  Pairs left = wanted;
  int total = 0;
  for (const auto& [pair, count] : pairs_of(tokens)) left[pair] -= count;
  for (const auto& [pair, count] : left) total += std::abs(count);
  return total;
}

struct Reached {
  KernelSource kernel;
  std::vector<Application> route;
};

class RouteSearch {
 public:
  RouteSearch(const syntax::Clang& clang, const std::string& to, const ReachLimits& limits)
      : clang_(clang), limits_(limits), wanted_(model::canonical_tokens(to)), wanted_pairs_(pairs_of(wanted_)) {}

  std::optional<std::vector<Application>> from(const KernelSource& start) {
    const Tokens tokens = model::canonical_tokens(start.source);
    if (tokens == wanted_) return std::vector<Application>();
    met_.insert(tokens);
    add({start, {}}, tokens);
    while (!open_.empty() && made_ < limits_.kernels) {
      const Reached nearest = std::move(open_.extract(open_.begin()).mapped());
      if (auto route = step_from(nearest)) return route;
    }
    return std::nullopt;
  }

 private:
  void add(Reached reached, const Tokens& tokens) {
    open_.emplace(std::tuple(distance(wanted_pairs_, tokens), reached.route.size(), number_++), std::move(reached));
  }

  /// Makes what is one recipe further; the route, where that is what is wanted.
  std::optional<std::vector<Application>> step_from(const Reached& reached) {
    const auto applications = enumerate(clang_, reached.kernel);
    if (!applications) return std::nullopt;  // what recipes cannot read they cannot change
    for (const Application& application : *applications) {
      // The recipes of the start are made whatever the limit: one alone is the common case.
      if (made_ >= limits_.kernels && !reached.route.empty()) return std::nullopt;
      const auto text = apply(clang_, reached.kernel, application);
      ++made_;
      if (!text) continue;
      Tokens tokens = model::canonical_tokens(*text);
      Reached next = reached;
      next.route.push_back(application);
      if (tokens == wanted_) return next.route;
      if (next.route.size() == limits_.steps || !met_.insert(tokens).second) continue;
      next.kernel.source = *text;
      add(std::move(next), tokens);
    }
    return std::nullopt;
  }

  const syntax::Clang& clang_;
  const ReachLimits limits_;
  const Tokens wanted_;
  const Pairs wanted_pairs_;
  std::set<Tokens> met_;
  std::map<std::tuple<int, std::size_t, std::size_t>, Reached> open_;  ///< nearest first
  std::size_t number_ = 0;
  std::size_t made_ = 0;
};

}  // namespace

std::optional<std::vector<Application>> route_between(const syntax::Clang& clang, const KernelSource& from,
                                                      const std::string& to, const ReachLimits& limits) {
  return RouteSearch(clang, to, limits).from(from);
}

}  // namespace accelopt::recipes
