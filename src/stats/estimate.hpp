// SPDX-License-Identifier: Apache-2.0
// Estimates from paired samples. A sample is a log-ratio, log(opponent's time / own time): over 0 is faster. All
// functions are pure and deterministic.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace accelopt::stats {

/// An estimate with an interval, as log-ratios or, from `as_ratio`, as ratios.
struct Interval {
  double estimate = 0;
  double low = 0;
  double high = 0;
};

/// Share of the samples cut from each end before averaging.
inline constexpr double kTrim = 0.2;
/// Intervals that know nothing (fewer than two samples left after trimming) reach from 1/kWidestRatio to kWidestRatio.
inline constexpr double kWidestRatio = 1000;

/// P(T <= t) of Student's distribution with `degrees` > 0 degrees of freedom (need not be whole).
double student_cdf(double t, double degrees);
/// The t with P(T <= t) = p, 0 < p < 1, to a relative accuracy of about 1e-12.
double student_quantile(double p, double degrees);

/// The middle part's mean: floor(n * kTrim) samples cut from each end. 0 without samples.
double trimmed_mean(std::span<const double> samples);
/// The trimmed mean with Yuen's two-sided t-interval: winsorized deviation over (1 - 2 kTrim) sqrt(n), with n - 2 cut -
/// 1 degrees of freedom. `alpha` is the probability of missing the true value. Fewer than two samples: the widest
/// interval.
Interval trimmed_interval(std::span<const double> samples, double alpha);

/// Whether a sample scatters from measurement to measurement, or a deterministic clock gives it again each time: then
/// one is all there is to find out.
/// Of a model each sample is under another assumption of its: whatever lies between them is possible.
enum class Samples { noisy, exact, modelled };
/// Assumptions of a model, and so blocks of a race of modelled samples.
inline constexpr int kAssumptions = 2;
/// A modelled gain that counts: all assumptions agree on this much at least. A model ranks large changes, not small
/// ones.
inline constexpr double kLeastModelledGain = 0.15;
/// Blocks that decide where samples do not scatter: one, or one for each assumption. 0: they scatter.
int blocks_that_decide(Samples kind);
/// trimmed_interval of noisy samples; the mean of exact ones, of which nothing is uncertain; the mean, the smallest and
/// the largest of modelled ones.
Interval interval_of(std::span<const double> samples, double alpha, Samples kind);

/// Sum of value * weight / sum of weights; 0 when the weights sum to 0. Sizes must be equal.
double weighted_mean(std::span<const double> values, std::span<const double> weights);
/// A block's value: the weighted mean over workloads of log(reference_ns / candidate_ns). Times must be positive.
double block_log_ratio(std::span<const double> reference_ns, std::span<const double> candidate_ns,
                       std::span<const double> weights);
/// exp of the mean logarithm; 1 without ratios. Ratios must be positive.
double geometric_mean(std::span<const double> ratios);
/// exp of all three numbers, held within 1/kWidestRatio and kWidestRatio.
Interval as_ratio(const Interval& log_ratio);
double median(std::span<const double> values);

/// One restart's blocks.
using RestartSamples = std::vector<double>;
/// Percentile interval of the trimmed mean under resampling of restarts, then of blocks within them. Deviations are
/// widened by sqrt(R / (R - 1)), because drawing R of R restarts understates their variance by that. Deterministic in
/// `seed`.
Interval hierarchical_bootstrap(std::span<const RestartSamples> restarts, double alpha, std::uint64_t seed);

}  // namespace accelopt::stats
