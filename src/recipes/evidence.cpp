// SPDX-License-Identifier: Apache-2.0
#include "recipes/evidence.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace accelopt::recipes {
namespace {

/// Measurements that a recipe's mean is drawn back by, and those of one set of parameters within the recipe: two and
/// one that nobody saw and that surprised nobody.
constexpr double kUnseenOfRecipe = 2;
constexpr double kUnseenOfParameters = 1;
/// A surprise beyond this is the baseline's fault, or the measurement's.
const double kMostSurprise = std::log(8.0);
/// A promise, as a logarithm, over which a step is bold: such promises are off by shares of themselves.
constexpr double kBold = 0.25;
/// A correction of a modest step counts as far as it is over this: less than a noisy machine makes of nothing is not
/// worth another order.
constexpr double kTooSmall = 0.08;
/// Measurements that the mean over all modest steps is drawn back by.
constexpr double kUnseenAtAll = 8;
/// A surprise of a modest step with other parameters counts this much.
constexpr double kOfOtherParameters = 0.4;
/// What one set of parameters did better than another on loops of another shape counts this much.
constexpr double kOfOtherShape = 0.3;
/// Half of a measurement's weight is gone where its standard error, as a logarithm, is this.
constexpr double kWideError = 0.2;
/// Shapes that share no more than this of their words have nothing to say of each other.
constexpr double kAlikeFrom = 0.5;
/// How far a speed-up that nobody measured is thought to be from none, one standard deviation of a logarithm: that of a
/// bold step, and of a modest one.
constexpr double kBoldError = 0.3;
constexpr double kModestError = 0.1;
/// Experiences that a plan names, at most.
constexpr std::size_t kMostNamed = 16;
/// Attempts that nobody made and that did not fail: what failed once may do well the next time.
constexpr double kUnseenOfFailures = 1;
/// Others that say the same count up to this many: one store's runs are not independent.
constexpr int kMostAgreeing = 3;

/// Confirmed against refuted, beginning with one of each; 1 without credit, 0 to 2.
double credit_of(const model::Credit& credit) {
  const auto confirmed = static_cast<double>(std::max<std::int64_t>(0, credit.confirmed));
  const auto refuted = static_cast<double>(std::max<std::int64_t>(0, credit.refuted));
  return 2 * (1 + confirmed) / (2 + confirmed + refuted);
}

std::set<std::string_view> words_of_shape(std::string_view shape) {
  std::set<std::string_view> result;
  while (true) {
    const std::size_t dot = shape.find('.');
    result.insert(shape.substr(0, dot));
    if (dot == std::string_view::npos) return result;
    shape.remove_prefix(dot + 1);
  }
}

/// A logarithm, and how much it counts.
struct Weighed {
  double value = 0;
  double weight = 0;
};

/// Drawn towards `usual` by `unseen` measurements that nobody made.
double mean_of(const std::vector<Weighed>& all, double unseen, double usual) {
  double weights = unseen;
  double sum = unseen * usual;
  for (const Weighed& it : all) {
    weights += it.weight;
    sum += it.weight * it.value;
  }
  return sum / weights;
}

/// The mean, drawn towards none by `unseen` measurements that scatter by `error`, one standard error lower.
double low_end(const std::vector<Weighed>& all, double unseen, double error) {
  const double mean = mean_of(all, unseen, 0);
  double weights = unseen;
  double squares = unseen * error * error;
  for (const Weighed& it : all) {
    weights += it.weight;
    squares += it.weight * (it.value - mean) * (it.value - mean);
  }
  return mean - std::sqrt(squares) / weights;
}

/// What of a value lies outside of the zone around nought.
double beyond(double value, double zone) {
  return std::copysign(std::max(0.0, std::abs(value) - zone), value);
}

bool is_usable(const model::Interval& effect) {
  return std::isfinite(effect.estimate) && effect.estimate > 0 && effect.low > 0 && std::isfinite(effect.high) &&
         effect.high >= effect.low;
}

}  // namespace

double likeness(std::string_view shape, std::string_view other) {
  const std::set<std::string_view> own = words_of_shape(shape);
  const std::set<std::string_view> others = words_of_shape(other);
  const auto common = static_cast<double>(
      std::count_if(own.begin(), own.end(), [&](std::string_view word) { return others.contains(word); }));
  const double share = common / (static_cast<double>(own.size() + others.size()) - common);
  return share > kAlikeFrom ? share * share : 0;
}

double weight_of(const model::Experience& experience) {
  if (!experience.effect || !is_usable(*experience.effect)) return 0;
  constexpr double kErrorsInInterval = 4;  // 95 % of a normal distribution
  const double error = std::log(experience.effect->high / experience.effect->low) / kErrorsInInterval;
  const double sharpness = 1 / (1 + (error / kWideError) * (error / kWideError));
  return sharpness * credit_of(experience.credit) * (1 + std::clamp(experience.agreeing, 0, kMostAgreeing));
}

Evidence::Evidence(const std::vector<model::Experience>& memory) {
  for (const model::Experience& experience : memory) add(experience);
  compare_parameters();
  std::vector<Weighed> modest;
  for (const auto& [recipe, all] : seen_) {
    for (const Measured& measured : all) {
      if (measured.known && measured.expected <= kBold)
        modest.push_back({measured.effect - measured.expected, measured.weight});
    }
  }
  usual_ = mean_of(modest, kUnseenAtAll, 0);
}

void Evidence::compare_parameters() {
  for (auto& [recipe, all] : seen_) {
    std::map<std::string, std::vector<Weighed>> shapes;
    for (const Measured& measured : all) {
      if (measured.known) shapes[measured.shape].push_back({measured.effect - measured.expected, measured.weight});
    }
    for (Measured& measured : all) {
      if (!measured.known) continue;
      const double surprise = measured.effect - measured.expected;
      measured.apart = surprise - mean_of(shapes[measured.shape], kUnseenOfRecipe, 0);
      measured.apart_from_others = surprise - mean_of(shapes[measured.shape], 0, 0);
    }
  }
}

void Evidence::add(const model::Experience& experience) {
  const double weight = weight_of(experience);
  const std::vector<Application> steps = route_from_text(experience.strategy);
  if (weight <= 0 || steps.empty()) return;
  const auto count = static_cast<double>(steps.size());
  if (experience.polarity == model::Polarity::mends) {
    // Its lines are those of what failed, and its speed is the mend's, which has an experience of its own.
    const int agreeing = std::clamp(experience.agreeing, 0, kMostAgreeing);
    for (const Application& step : steps)
      failed_[step.recipe].push_back({step.shape, step.parameters, (1 + agreeing) / count});
    return;
  }
  const bool known = std::all_of(steps.begin(), steps.end(), [](const Application& step) { return step.prior > 0; });
  if (!known && steps.size() > 1) return;
  // Of several steps that were measured together, each has its share of the surprise.
  double expected = 0;
  for (const Application& step : steps) expected += known ? std::log(step.prior) : 0;
  const double effect = std::log(experience.effect->estimate);
  for (const Application& step : steps) {
    const double own = known ? std::log(step.prior) : 0;
    seen_[step.recipe].push_back({.id = experience.id,
                                  .shape = step.shape,
                                  .parameters = step.parameters,
                                  .effect = known ? own + (effect - expected) / count : effect,
                                  .expected = own,
                                  .known = known,
                                  .weight = weight / count});
  }
}

double Evidence::share_of(const Measured& measured, const Application& application) {
  const double expected = std::log(application.prior);
  const double then = measured.known ? measured.expected : expected;
  return std::min(1.0, std::max(expected, kBold) / std::max(then, kBold));
}

double Evidence::surprise(const Measured& measured, const Application& application) {
  const double then = measured.known ? measured.expected : std::log(application.prior);
  return std::clamp(measured.effect - then, -kMostSurprise, kMostSurprise) * share_of(measured, application);
}

double Evidence::failing(const Application& application, double worked) const {
  const auto found = failed_.find(application.recipe);
  if (found == failed_.end()) return 0;
  double failures = 0;
  for (const Failed& failed : found->second) {
    if (failed.parameters == application.parameters)
      failures += failed.weight * likeness(failed.shape, application.shape);
  }
  return failures / (failures + worked + kUnseenOfFailures);
}

Judgement Evidence::judge(const Application& application) const {
  Judgement result{.weight = application.prior, .low = 1, .seen = 0, .rests_on = {}};
  const bool bold = std::log(application.prior) > kBold;
  std::vector<Weighed> surprises;
  std::vector<Weighed> effects;
  std::vector<Weighed> apart;
  double worked = 0;  // measurements of the same parameters
  if (const auto found = seen_.find(application.recipe); found != seen_.end()) {
    for (const Measured& measured : found->second) {
      const double alike = likeness(measured.shape, application.shape);
      const bool same = measured.known && measured.parameters == application.parameters;
      if (measured.parameters == application.parameters) worked += measured.weight * alike;
      if (same && alike <= 0)
        apart.push_back(
            {measured.apart_from_others * share_of(measured, application), measured.weight * kOfOtherShape});
      if (alike <= 0) continue;
      if (same) apart.push_back({measured.apart * share_of(measured, application), measured.weight * alike});
      const double other = bold || measured.parameters == application.parameters ? 1 : kOfOtherParameters;
      surprises.push_back({surprise(measured, application), measured.weight * alike * other});
      effects.push_back({measured.effect, measured.weight * alike});
      result.seen += measured.weight * alike;
      if (result.rests_on.size() < kMostNamed) result.rests_on.push_back(measured.id);
    }
  }
  const double correction =
      mean_of(surprises, kUnseenOfRecipe, bold ? 0 : usual_) + mean_of(apart, kUnseenOfParameters, 0);
  result.weight *= std::exp(bold ? correction : beyond(correction, kTooSmall));
  if (result.weight > 1) result.weight = 1 + (result.weight - 1) * (1 - failing(application, worked));
  result.low = std::exp(low_end(effects, kUnseenOfRecipe, bold ? kBoldError : kModestError));
  return result;
}

}  // namespace accelopt::recipes
