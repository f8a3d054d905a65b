// SPDX-License-Identifier: Apache-2.0
// What experiences say of a recipe: how far the static cost model was off where the same recipe was measured on loops
// of the same shape. Operators' names play no part, so that what one operator taught holds for another. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/experience.hpp"
#include "recipes/engine.hpp"

namespace accelopt::recipes {

/// An application as the memory sees it.
struct Judgement {
  double weight = 1;                  ///< expected speed-up: the prior, corrected by what was measured
  double low = 1;                     ///< the speed-up that it had on such loops, drawn to 1, one standard error lower
  double seen = 0;                    ///< measurements behind the correction, each counted by how sure it is; 0: none
  std::vector<std::string> rests_on;  ///< ids of the experiences
};

class Evidence {
 public:
  explicit Evidence(const std::vector<model::Experience>& memory);

  /// The prior times the mean surprise, ln(measured / expected), of the recipe on loops of this shape (of one like it
  /// for less), and what the same parameters did better than others wherever both were measured. As long as little was
  /// seen the first is drawn towards none (towards the mean of all recipes where little is promised: such promises are
  /// hopes), the second towards none. What promised much was off by shares of that: it moves a smaller promise by less.
  /// Where the same parameters failed on such loops, the gain counts as far as it is probable that they do not.
  [[nodiscard]] Judgement judge(const Application& application) const;
  [[nodiscard]] bool empty() const { return seen_.empty(); }

 private:
  /// One measured step. Surprises are natural logarithms.
  struct Measured {
    std::string id;
    std::string shape;
    std::map<std::string, std::string> parameters;
    double effect = 0;    ///< ln of the speed-up that is put down to this step
    double expected = 0;  ///< ln of the speed-up that was expected; 0 where it is not known
    bool known = false;   ///< what was expected is
    double weight = 1;
    double apart = 0;              ///< surprise less the recipe's on loops of that shape, which is drawn to none
    double apart_from_others = 0;  ///< the same, of what was measured alone
  };
  /// One step that did not build or was wrong.
  struct Failed {
    std::string shape;
    std::map<std::string, std::string> parameters;
    double weight = 1;  ///< its share, of several steps that failed together
  };
  void compare_parameters();
  void add(const model::Experience& experience);
  /// What counts of a surprise where less was promised than then, 0 to 1.
  [[nodiscard]] static double share_of(const Measured& measured, const Application& application);
  /// How probable it is that the application fails, 0 to under 1, beside `worked` measurements of the same parameters.
  [[nodiscard]] double failing(const Application& application, double worked) const;
  [[nodiscard]] static double surprise(const Measured& measured, const Application& application);

  std::map<std::string, std::vector<Measured>> seen_;  ///< by recipe
  std::map<std::string, std::vector<Failed>> failed_;  ///< by recipe
  double usual_ = 0;                                   ///< mean surprise of all that promised little
};

/// What two shapes ("d1.reduction.unit.calls") have in common, 0 to 1: the square of the share of their words that both
/// have; 0 where that is half or less.
double likeness(std::string_view shape, std::string_view other);

/// How much a measurement counts: 1 for a sharp one without credit; less where its interval is wide or plans that
/// rested on it failed; more where others say the same.
double weight_of(const model::Experience& experience);

}  // namespace accelopt::recipes
