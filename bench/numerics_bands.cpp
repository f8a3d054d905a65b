// SPDX-License-Identifier: Apache-2.0
#include "numerics_bands.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "evaluation/verify/dtype_codec.hpp"
#include "evaluation/verify/inputs.hpp"
#include "evaluation/verify/numerics.hpp"

namespace accelopt::evaluation {
namespace {

using model::DType;
using Values = std::vector<double>;

constexpr int kHonestSeeds = 1000;
constexpr int kPlantedSeeds = 100;
constexpr double kBandToDouble = 4096;  ///< elements: in smaller bands a doubled variance may be chance
constexpr std::size_t kRows = 1024;
constexpr std::size_t kColumns = 64;  ///< of a layer norm
constexpr std::size_t kKeys = 32;
constexpr std::size_t kDepth = 32;

float to_bfloat(float value) {
  return bfloat16_to_float(float_to_bfloat16(value));
}
float to_half(float value) {
  return float16_to_float(float_to_float16(value));
}
float to_e4m3(float value) {
  return float8_e4m3fn_to_float(float_to_float8_e4m3fn(value));
}
float as_it_is(float value) {
  return value;
}
using Rounding = std::function<float(float)>;

enum class Order { forward, backward };

template <class Real, class Term>
Real sum(std::size_t count, Order order, Term term) {
  Real out = 0;
  for (std::size_t i = 0; i < count; ++i) out += term(order == Order::forward ? i : count - 1 - i);
  return out;
}

/// Where a kernel rounds what it makes on its way; the output itself is rounded by the caller.
struct Steps {
  Order order = Order::forward;
  Rounding value = as_it_is;   ///< the normalised value; an attention's weights, not yet divided
  Rounding input = as_it_is;   ///< the gain; an attention's values
  Rounding result = as_it_is;  ///< before the last operation
};

template <class Real>
std::vector<Real> layer_norm(const std::vector<Real>& x, const std::vector<Real>& gain, const std::vector<Real>&,
                             const Steps& steps) {
  std::vector<Real> y(x.size());
  for (std::size_t i = 0; i < kRows; ++i) {
    const Real* row = &x[i * kColumns];
    const Real mean = sum<Real>(kColumns, steps.order, [&](std::size_t j) { return row[j]; }) / Real(kColumns);
    const Real squares =
        sum<Real>(kColumns, steps.order, [&](std::size_t j) { return (row[j] - mean) * (row[j] - mean); });
    const Real inverse = 1 / std::sqrt(squares / Real(kColumns) + Real(1e-5));
    for (std::size_t j = 0; j < kColumns; ++j) {
      const Real normal = (row[j] - mean) * inverse;
      if constexpr (std::is_same_v<Real, float>)
        y[i * kColumns + j] = steps.value(normal) * steps.input(gain[j]);
      else
        y[i * kColumns + j] = normal * gain[j];
    }
  }
  return y;
}

template <class Real>
std::vector<Real> attention(const std::vector<Real>& q, const std::vector<Real>& k, const std::vector<Real>& v,
                            const Steps& steps) {
  std::vector<Real> y(kRows * kDepth);
  std::vector<Real> weights(kKeys);
  for (std::size_t i = 0; i < kRows; ++i) {
    for (std::size_t j = 0; j < kKeys; ++j) {
      weights[j] =
          sum<Real>(kDepth, steps.order, [&](std::size_t d) { return q[i * kDepth + d] * k[j * kDepth + d]; }) /
          std::sqrt(Real(kDepth));
    }
    const Real largest = *std::max_element(weights.begin(), weights.end());
    for (Real& weight : weights) weight = std::exp(weight - largest);
    const Real total = sum<Real>(kKeys, steps.order, [&](std::size_t j) { return weights[j]; });
    if constexpr (std::is_same_v<Real, float>) {
      for (Real& weight : weights) weight = steps.value(weight);
    }
    for (std::size_t d = 0; d < kDepth; ++d) {
      Real out = sum<Real>(kKeys, steps.order, [&](std::size_t j) {
        if constexpr (std::is_same_v<Real, float>) return weights[j] * steps.input(v[j * kDepth + d]);
        return weights[j] * v[j * kDepth + d];
      });
      if constexpr (std::is_same_v<Real, float>) out = steps.result(out);
      y[i * kDepth + d] = out / total;
    }
  }
  return y;
}

template <class Real>
std::vector<Real> product(const std::vector<Real>& a, const std::vector<Real>& b, const std::vector<Real>&,
                          const Steps& steps) {
  std::vector<Real> y(kRows * kDepth);
  for (std::size_t i = 0; i < kRows; ++i) {
    for (std::size_t d = 0; d < kDepth; ++d) {
      y[i * kDepth + d] = sum<Real>(kKeys, steps.order, [&](std::size_t j) {
        if constexpr (std::is_same_v<Real, float>) return steps.input(a[i * kKeys + j]) * b[j * kDepth + d];
        return a[i * kKeys + j] * b[j * kDepth + d];
      });
    }
  }
  return y;
}

template <class Real>
using Operator = std::vector<Real> (*)(const std::vector<Real>&, const std::vector<Real>&, const std::vector<Real>&,
                                       const Steps&);

struct Kernel {
  std::string name;
  Steps steps;
};

struct Subject {
  std::string name;
  std::vector<std::size_t> rows;  ///< of the inputs
  std::vector<std::size_t> columns;
  Operator<double> wide;
  Operator<float> narrow;
  std::vector<Kernel> honest;
  std::vector<Kernel> planted;
  int last_to_double;  ///< band: of smaller elements perturbed inputs say that honest errors are larger; -1: none
};

Rounding coarse_where(float from, float to) {
  return [from, to](float value) { return std::abs(value) >= from && std::abs(value) < to ? to_e4m3(value) : value; };
}

std::vector<Kernel> in_both_orders(const std::vector<Kernel>& kernels) {
  std::vector<Kernel> out;
  for (const Kernel& kernel : kernels) {
    out.push_back(kernel);
    out.push_back({kernel.name + "_backward", kernel.steps});
    out.back().steps.order = Order::backward;
  }
  return out;
}

std::vector<Subject> all_subjects() {
  return {{"layer_norm",
           {kRows, 1, 1},
           {kColumns, kColumns, 1},
           layer_norm<double>,
           layer_norm<float>,
           in_both_orders({{"float_inside", {}}, {"bf16_before_gain", {.value = to_bfloat}}}),
           {{"small_values_e4m3", {.value = coarse_where(0, 0.15F)}},
            {"tiny_values_e4m3", {.value = coarse_where(0, 0.04F)}},
            {"one_magnitude_e4m3", {.value = coarse_where(0.5F, 0.6F)}},
            {"gain_e4m3", {.input = to_e4m3}}},
           5},
          {"attention",
           {kRows, kKeys, kKeys},
           {kDepth, kDepth, kDepth},
           attention<double>,
           attention<float>,
           in_both_orders({{"float_p", {}},
                           {"fp16_p", {.value = to_half}},
                           {"bf16_p", {.value = to_bfloat}},
                           {"bf16_p_and_sum", {.value = to_bfloat, .result = to_bfloat}}}),
           {{"p_e4m3", {.value = to_e4m3}},
            {"small_p_e4m3", {.value = coarse_where(0, 0.25F)}},
            {"small_v_e4m3", {.value = to_bfloat, .input = coarse_where(0, 0.5F)}}},
           3},
          {"matmul",
           {kRows, kKeys, 1},
           {kKeys, kDepth, 1},
           product<double>,
           product<float>,
           in_both_orders({{"float_sums", {}}}),
           {{"small_factors_e4m3", {.input = coarse_where(0, 0.5F)}}},
           -1}};
}

struct Draw {
  std::vector<Values> inputs;
  Expected expected;
  Bounds bounds;
  Bounds fewer;  ///< by both runs in float alone, and nowhere wider
};

Values drawn(std::size_t rows, std::size_t columns, std::uint64_t seed) {
  std::vector<std::byte> bytes(rows * columns * model::size_of(DType::bfloat16));
  const InputDraw draw{{model::InitKind::normal, 0, 1},
                       DType::bfloat16,
                       {static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns)},
                       model::Family::as_declared,
                       seed};
  if (!draw_input(draw, bytes)) return {};
  return decode(DType::bfloat16, bytes);
}

std::vector<float> narrowed(const Values& values) {
  return {values.begin(), values.end()};
}

Draw draw_for(const Subject& subject, std::uint64_t seed) {
  Draw out;
  for (std::size_t i = 0; i < subject.rows.size(); ++i) {
    const std::string name(1, static_cast<char>('a' + i));
    out.inputs.push_back(drawn(subject.rows[i], subject.columns[i], input_seed(seed, subject.name, 0, name)));
  }
  const auto perturbed = [&](std::uint64_t perturbation) {
    std::vector<Values> inputs = out.inputs;
    for (std::size_t i = 0; i < inputs.size(); ++i) perturb(inputs[i], DType::bfloat16, {}, perturbation + i);
    return inputs;
  };
  const auto wide = [&](const std::vector<Values>& in) { return subject.wide(in[0], in[1], in[2], {}); };
  const auto narrow = [&](const std::vector<Values>& in) {
    const auto y = subject.narrow(narrowed(in[0]), narrowed(in[1]), narrowed(in[2]), {});
    return Values(y.begin(), y.end());
  };
  out.expected.dtype = DType::bfloat16;
  out.expected.values = wide(out.inputs);
  out.expected.shape = {kRows, static_cast<std::int64_t>(out.expected.values.size() / kRows)};
  const Values in_float = narrow(out.inputs);
  const Values first = wide(perturbed(seed * 64 + 1));
  const Values second = wide(perturbed(seed * 64 + 17));
  const Values both = narrow(perturbed(seed * 64 + 33));
  out.bounds = calibrate(out.expected, {in_float, first, second, both}, {});
  out.fewer = calibrate(out.expected, {in_float, both, both, both}, {});
  for (std::size_t band = 0; band < out.fewer.bands.size(); ++band)
    out.fewer.bands[band] = std::min(out.fewer.bands[band], out.bounds.bands[band]);
  return out;
}

Values before_rounding(const Subject& subject, const Draw& draw, const Steps& steps) {
  const auto y = subject.narrow(narrowed(draw.inputs[0]), narrowed(draw.inputs[1]), narrowed(draw.inputs[2]), steps);
  return {y.begin(), y.end()};
}

Comparison judged_by(const Bounds& bounds, const Draw& draw, const Values& output) {
  std::vector<std::byte> bytes(output.size() * model::size_of(DType::bfloat16));
  encode(DType::bfloat16, output, bytes);
  return compare(draw.expected, bounds, bytes);
}
Comparison judged(const Draw& draw, const Values& output) {
  return judged_by(draw.bounds, draw, output);
}

bool line(const std::string& name, int value, int bound) {
  std::printf("%s %s %d bound %d\n", value >= bound ? "PASS" : "FAIL", name.c_str(), value, bound);
  std::fflush(stdout);
  return value >= bound;
}

bool judge_honest(const Subject& subject, std::uint64_t seed) {
  std::map<std::string, int> passed;
  std::map<std::string, int> passed_by_fewer;
  for (int i = 0; i < kHonestSeeds; ++i) {
    const Draw draw = draw_for(subject, seed + static_cast<std::uint64_t>(i));
    for (const Kernel& kernel : subject.honest) {
      const Values output = before_rounding(subject, draw, kernel.steps);
      passed_by_fewer[kernel.name] += judged_by(draw.fewer, draw, output).passed() ? 1 : 0;
      const Comparison comparison = judged(draw, output);
      passed[kernel.name] += comparison.passed() ? 1 : 0;
      if (comparison.passed()) continue;
      std::printf("# %s, %s, seed %llu: %s\n", subject.name.c_str(), kernel.name.c_str(),
                  static_cast<unsigned long long>(seed) + i, explain(draw.expected, comparison).c_str());
    }
  }
  bool good = true;
  for (const Kernel& kernel : subject.honest) {
    const std::string name = subject.name + "_" + kernel.name;
    good = line("honest_" + name, passed[kernel.name], kHonestSeeds) && good;
    good = line("honest_by_fewer_runs_" + name, passed_by_fewer[kernel.name], kHonestSeeds) && good;
  }
  return good;
}

bool judge_planted(const Subject& subject, std::uint64_t seed) {
  std::map<std::string, int> refused;
  for (int i = 0; i < kPlantedSeeds; ++i) {
    const Draw draw = draw_for(subject, seed + static_cast<std::uint64_t>(i));
    for (const Kernel& kernel : subject.planted)
      refused[kernel.name] += judged(draw, before_rounding(subject, draw, kernel.steps)).passed() ? 0 : 1;
  }
  bool good = true;
  for (const Kernel& kernel : subject.planted)
    good = line("refused_" + subject.name + "_" + kernel.name, refused[kernel.name], kPlantedSeeds) && good;
  return good;
}

/// Noise that doubles the variance of one band over the honest kernel that has the most there, band by band.
bool judge_doubled(const Subject& subject, std::uint64_t seed) {
  int refused = 0;
  int tried = 0;
  for (int i = 0; i < kPlantedSeeds; ++i) {
    const Draw draw = draw_for(subject, seed + static_cast<std::uint64_t>(i));
    const double threshold = overflow_threshold(DType::bfloat16);
    std::mt19937_64 random(seed + static_cast<std::uint64_t>(i));
    for (int band = 0; band < kBands; ++band) {
      const auto at = static_cast<std::size_t>(band);
      if (band > subject.last_to_double || draw.bounds.band_counts[at] < kBandToDouble) continue;
      Values worst;
      double most = 0;
      for (const Kernel& kernel : subject.honest) {
        Values output = before_rounding(subject, draw, kernel.steps);
        const double squares =
            band_squares(draw.expected.values, rounded_to(DType::bfloat16, output), draw.bounds.scale, threshold)[at];
        if (squares <= most) continue;
        most = squares;
        worst = std::move(output);
      }
      std::normal_distribution<double> noise(0, std::sqrt(most / draw.bounds.band_counts[at]) / draw.bounds.scale);
      for (std::size_t k = 0; k < worst.size(); ++k) {
        if (band_of(draw.expected.values[k], draw.bounds.scale) == band) worst[k] += noise(random);
      }
      ++tried;
      refused += judged(draw, worst).passed() ? 0 : 1;
    }
  }
  return line("doubled_" + subject.name, refused, tried);
}

}  // namespace

bool judge_bands(std::uint64_t seed) {
  bool good = true;
  for (const Subject& subject : all_subjects()) {
    good = judge_honest(subject, seed) && good;
    good = judge_planted(subject, seed) && good;
    // A product has no honest implementation with 16-bit numbers inside: what passes there is in docs/tasks.md.
    if (subject.last_to_double >= 0) good = judge_doubled(subject, seed) && good;
  }
  return good;
}

}  // namespace accelopt::evaluation
