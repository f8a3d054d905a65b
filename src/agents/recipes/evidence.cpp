// SPDX-License-Identifier: Apache-2.0
#include "agents/recipes/evidence.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace accelopt::agents::recipes {
namespace {

/// Measurements that a recipe's mean is drawn back by, and those of one set of parameters within the recipe: two and
/// one that nobody saw and that surprised nobody.
constexpr double kUnseenOfRecipe = 2;
constexpr double kUnseenOfParameters = 1;
/// A surprise beyond this is the baseline's fault, or the measurement's.
const double kMostSurprise = std::log(8.0);
/// Half of a measurement's weight is gone where its standard error, as a logarithm, is this.
constexpr double kWideError = 0.2;
/// Shapes that share no more than this of their words have nothing to say of each other.
constexpr double kAlikeFrom = 0.5;
/// Measurements that a certainty needs.
constexpr std::size_t kLeastCertain = 4;
/// Experiences that a plan names, at most.
constexpr std::size_t kMostNamed = 16;
/// Others that say the same count up to this many: one store's runs are not independent.
constexpr int kMostAgreeing = 3;

/// Confirmed against refuted, beginning with one of each; 1 without credit, 0 to 2.
double credit_of(const model::Credit& credit) {
  const auto confirmed = static_cast<double>(std::max<std::int64_t>(0, credit.confirmed));
  const auto refuted = static_cast<double>(std::max<std::int64_t>(0, credit.refuted));
  return 2 * (1 + confirmed) / (2 + confirmed + refuted);
}

/// Whether the mean is over nothing by twice its standard error.
bool is_certainly_positive(const std::vector<double>& values) {
  if (values.size() < kLeastCertain) return false;
  const auto count = static_cast<double>(values.size());
  double mean = 0;
  for (const double value : values) mean += value / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return mean > 2 * std::sqrt(squares / (count - 1) / count);
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
  compare_with_siblings();
}

void Evidence::compare_with_siblings() {
  struct Sum {
    double effect = 0;
    double surprise = 0;
    int count = 0;
  };
  std::map<std::string, Sum> sums;  // by kernel
  for (const auto& [recipe, all] : seen_) {
    for (const Measured& measured : all) {
      if (measured.kernel.empty() || !measured.known) continue;
      Sum& sum = sums[measured.kernel];
      sum.effect += measured.effect;
      sum.surprise += measured.effect - measured.expected;
      ++sum.count;
    }
  }
  for (auto& [recipe, all] : seen_) {
    for (Measured& measured : all) {
      const auto found = sums.find(measured.kernel);
      if (found == sums.end() || !measured.known || found->second.count < 2) continue;
      measured.siblings = found->second.count;
      measured.beside = found->second.surprise / found->second.count;
      measured.advantage = measured.effect - found->second.effect / found->second.count;
    }
  }
}

void Evidence::add(const model::Experience& experience) {
  const double weight = weight_of(experience);
  const std::vector<Application> steps = route_from_text(experience.strategy);
  // A mended candidate's speed says little of the recipe that failed first.
  if (weight <= 0 || steps.empty() || experience.polarity == model::Polarity::mends) return;
  const auto count = static_cast<double>(steps.size());
  const bool known = std::all_of(steps.begin(), steps.end(), [](const Application& step) { return step.prior > 0; });
  if (!known && steps.size() > 1) return;
  // Of several steps that were measured together, each has its share of the surprise.
  double expected = 0;
  for (const Application& step : steps) expected += known ? std::log(step.prior) : 0;
  const double effect = std::log(experience.effect->estimate);
  // The child is the slow one where the change made it slower.
  const std::string& kernel = experience.polarity == model::Polarity::regresses ? experience.fast : experience.slow;
  for (const Application& step : steps) {
    const double own = known ? std::log(step.prior) : 0;
    seen_[step.recipe].push_back({.id = experience.id,
                                  .shape = step.shape,
                                  .parameters = step.parameters,
                                  .effect = known ? own + (effect - expected) / count : effect,
                                  .expected = own,
                                  .known = known,
                                  .weight = weight / count,
                                  .kernel = steps.size() == 1 ? kernel : ""});
  }
}

double Evidence::surprise(const Measured& measured, const Application& application) {
  const double expected = measured.known ? measured.expected : std::log(application.prior);
  return std::clamp(measured.effect - expected - measured.beside, -kMostSurprise, kMostSurprise);
}

Judgement Evidence::judge(const Application& application) const {
  Judgement result{.weight = application.prior, .seen = 0, .rests_on = {}};
  const auto found = seen_.find(application.recipe);
  if (found == seen_.end()) return result;
  std::vector<std::pair<const Measured*, double>> alike;
  double sum = 0;
  for (const Measured& measured : found->second) {
    const double weight = measured.weight * likeness(measured.shape, application.shape);
    if (weight <= 0) continue;
    alike.emplace_back(&measured, weight);
    sum += weight * surprise(measured, application);
    result.seen += weight;
  }
  const double of_recipe = sum / (result.seen + kUnseenOfRecipe);
  double beyond = 0;
  double same = 0;
  for (const auto& [measured, weight] : alike) {
    if (result.rests_on.size() < kMostNamed) result.rests_on.push_back(measured->id);
    if (measured->parameters != application.parameters) continue;
    beyond += weight * (surprise(*measured, application) - of_recipe);
    same += weight;
  }
  result.weight *= std::exp(of_recipe + beyond / (same + kUnseenOfParameters));
  std::vector<double> advantages;
  std::vector<double> effects;
  for (const auto& [measured, weight] : alike) {
    if (measured->siblings < 2) continue;
    advantages.push_back(measured->advantage);
    effects.push_back(measured->effect);
  }
  result.stands_out = is_certainly_positive(advantages) && is_certainly_positive(effects);
  return result;
}

}  // namespace accelopt::agents::recipes
