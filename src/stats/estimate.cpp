// SPDX-License-Identifier: Apache-2.0
#include "stats/estimate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/result.hpp"

namespace accelopt::stats {
namespace {

/// Resamples of a bootstrap: the 2.5 % points then rest on 50 values each.
constexpr int kResamples = 2000;

Interval widest(double estimate) {
  return {estimate, -std::log(kWidestRatio), std::log(kWidestRatio)};
}

/// Continued fraction of the incomplete beta function (Lentz), for x < (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  constexpr int kMostTerms = 10000;
  double c = 1;
  double d = 1 - (a + b) * x / (a + 1);
  d = 1 / (std::abs(d) < kTiny ? kTiny : d);
  double fraction = d;
  for (int m = 1; m <= kMostTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 + even * d;
    c = 1 + even / c;
    d = 1 / (std::abs(d) < kTiny ? kTiny : d);
    c = std::abs(c) < kTiny ? kTiny : c;
    fraction *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 + odd * d;
    c = 1 + odd / c;
    d = 1 / (std::abs(d) < kTiny ? kTiny : d);
    c = std::abs(c) < kTiny ? kTiny : c;
    fraction *= d * c;
    if (std::abs(d * c - 1) < 1e-15) break;
  }
  return fraction;
}

/// I_x(a, b); `complement` is 1 - x, given apart so that neither loses digits.
double regularized_beta(double a, double b, double x, double complement) {
  if (x <= 0) return 0;
  if (complement <= 0) return 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log(complement));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, complement) / b;
}

/// P(T > t), t >= 0.
double upper_tail(double t, double degrees) {
  const double square = t * t;
  return 0.5 * regularized_beta(degrees / 2, 0.5, degrees / (degrees + square), square / (degrees + square));
}

double density(double t, double degrees) {
  return std::exp(std::lgamma((degrees + 1) / 2) - std::lgamma(degrees / 2) -
                  (degrees + 1) / 2 * std::log1p(t * t / degrees)) /
         std::sqrt(degrees * std::acos(-1.0));
}

/// The t >= 0 with P(T > t) = tail, 0 < tail < 0.5: Newton steps on the tail's logarithm, kept in a bracket.
double upper_quantile(double tail, double degrees) {
  double low = 0;
  double high = 1;
  while (upper_tail(high, degrees) > tail) {
    low = high;
    high *= 2;
    if (!std::isfinite(high * high)) return high;
  }
  double t = (low + high) / 2;
  for (int step = 0; step < 200 && high - low > 1e-14 * high; ++step) {
    const double here = upper_tail(t, degrees);
    (here > tail ? low : high) = t;
    const double newton = t + std::log(here / tail) * here / density(t, degrees);
    const double next = newton > low && newton < high ? newton : (low + high) / 2;
    if (std::abs(next - t) <= 1e-13 * t) return next;
    t = next;
  }
  return t;
}

std::uint64_t next_random(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15;
  std::uint64_t bits = state;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

/// Uniform in [0, count): the high half of a 32 by 32 bit product, biased by at most count / 2^32.
std::size_t random_index(std::uint64_t& state, std::size_t count) {
  return static_cast<std::size_t>(((next_random(state) >> 32) * count) >> 32);
}

std::size_t cut_of(std::size_t count) {
  return static_cast<std::size_t>(std::floor(kTrim * static_cast<double>(count)));
}

/// The trimmed mean without sorting all of `samples`, whose order is lost.
double trimmed_mean_in_place(std::vector<double>& samples) {
  const std::size_t cut = cut_of(samples.size());
  const auto begin = samples.begin() + static_cast<std::ptrdiff_t>(cut);
  const auto end = samples.end() - static_cast<std::ptrdiff_t>(cut);
  if (cut > 0) {
    std::nth_element(samples.begin(), begin, samples.end());
    std::nth_element(begin, end, samples.end());
  }
  return std::accumulate(begin, end, 0.0) / static_cast<double>(end - begin);
}

double quantile_of_sorted(const std::vector<double>& sorted, double p) {
  const double place = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

double student_cdf(double t, double degrees) {
  ACCELOPT_ASSERT(degrees > 0, "Student's distribution needs degrees of freedom over 0");
  return t < 0 ? upper_tail(-t, degrees) : 1 - upper_tail(t, degrees);
}

double student_quantile(double p, double degrees) {
  ACCELOPT_ASSERT(p > 0 && p < 1 && degrees > 0, "a quantile needs 0 < p < 1 and degrees of freedom over 0");
  if (p == 0.5) return 0;
  return p < 0.5 ? -upper_quantile(p, degrees) : upper_quantile(1 - p, degrees);
}

double trimmed_mean(std::span<const double> samples) {
  if (samples.empty()) return 0;
  std::vector<double> copy(samples.begin(), samples.end());
  return trimmed_mean_in_place(copy);
}

Interval trimmed_interval(std::span<const double> samples, double alpha) {
  const std::size_t count = samples.size();
  const std::size_t cut = cut_of(count);
  if (count < 2 || count - 2 * cut < 2) return widest(trimmed_mean(samples));
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t kept = count - 2 * cut;
  const double estimate = std::accumulate(sorted.begin() + static_cast<std::ptrdiff_t>(cut),
                                          sorted.end() - static_cast<std::ptrdiff_t>(cut), 0.0) /
                          static_cast<double>(kept);
  for (std::size_t i = 0; i < cut; ++i) {
    sorted[i] = sorted[cut];
    sorted[count - 1 - i] = sorted[count - 1 - cut];
  }
  const double winsorized_mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / static_cast<double>(count);
  double squares = 0;
  for (const double value : sorted) squares += (value - winsorized_mean) * (value - winsorized_mean);
  const double kept_count = static_cast<double>(kept);
  const double error = std::sqrt(squares / (kept_count * (kept_count - 1)));
  const double reach = -student_quantile(alpha / 2, kept_count - 1) * error;
  const Interval limit = widest(estimate);
  return {estimate, std::max(limit.low, estimate - reach), std::min(limit.high, estimate + reach)};
}

Interval interval_of(std::span<const double> samples, double alpha, Samples kind) {
  if (kind == Samples::noisy) return trimmed_interval(samples, alpha);
  const double mean = trimmed_mean(samples);
  if (kind == Samples::exact || samples.empty()) return {mean, mean, mean};
  const auto [low, high] = std::minmax_element(samples.begin(), samples.end());
  return {mean, *low, *high};
}

int blocks_that_decide(Samples kind) {
  return kind == Samples::noisy ? 0 : kind == Samples::exact ? 1 : kAssumptions;
}

double weighted_mean(std::span<const double> values, std::span<const double> weights) {
  ACCELOPT_ASSERT(values.size() == weights.size(), "each value needs a weight");
  double sum = 0;
  double total = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    sum += values[i] * weights[i];
    total += weights[i];
  }
  return total > 0 ? sum / total : 0;
}

double block_log_ratio(std::span<const double> reference_ns, std::span<const double> candidate_ns,
                       std::span<const double> weights) {
  ACCELOPT_ASSERT(reference_ns.size() == candidate_ns.size(), "a block pairs the times of two arms");
  std::vector<double> log_ratios(reference_ns.size());
  for (std::size_t i = 0; i < log_ratios.size(); ++i) {
    ACCELOPT_ASSERT(reference_ns[i] > 0 && candidate_ns[i] > 0, "a measured time is over 0");
    log_ratios[i] = std::log(reference_ns[i] / candidate_ns[i]);
  }
  return weighted_mean(log_ratios, weights);
}

double geometric_mean(std::span<const double> ratios) {
  if (ratios.empty()) return 1;
  double sum = 0;
  for (const double ratio : ratios) sum += std::log(ratio);
  return std::exp(sum / static_cast<double>(ratios.size()));
}

Interval as_ratio(const Interval& log_ratio) {
  const auto convert = [](double value) { return std::clamp(std::exp(value), 1 / kWidestRatio, kWidestRatio); };
  return {convert(log_ratio.estimate), convert(log_ratio.low), convert(log_ratio.high)};
}

double median(std::span<const double> values) {
  if (values.empty()) return 0;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

Interval hierarchical_bootstrap(std::span<const RestartSamples> restarts, double alpha, std::uint64_t seed) {
  std::vector<double> pooled;
  std::vector<std::size_t> filled;
  for (std::size_t i = 0; i < restarts.size(); ++i) {
    pooled.insert(pooled.end(), restarts[i].begin(), restarts[i].end());
    if (!restarts[i].empty()) filled.push_back(i);
  }
  if (pooled.size() < 2) return widest(trimmed_mean(pooled));
  const double estimate = trimmed_mean(pooled);
  std::uint64_t state = seed;
  std::vector<double> deviations;
  deviations.reserve(kResamples);
  for (int resample = 0; resample < kResamples; ++resample) {
    pooled.clear();
    for (std::size_t draw = 0; draw < filled.size(); ++draw) {
      const RestartSamples& blocks = restarts[filled[random_index(state, filled.size())]];
      for (std::size_t i = 0; i < blocks.size(); ++i) pooled.push_back(blocks[random_index(state, blocks.size())]);
    }
    deviations.push_back(trimmed_mean_in_place(pooled) - estimate);
  }
  std::sort(deviations.begin(), deviations.end());
  const double groups = static_cast<double>(filled.size());
  const double widening = filled.size() > 1 ? std::sqrt(groups / (groups - 1)) : 1;
  return {estimate, estimate + widening * std::min(0.0, quantile_of_sorted(deviations, alpha / 2)),
          estimate + widening * std::max(0.0, quantile_of_sorted(deviations, 1 - alpha / 2))};
}

}  // namespace accelopt::stats
