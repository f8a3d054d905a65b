// SPDX-License-Identifier: Apache-2.0
// Small operators: a reference over `Real`, honest float kernels that compute it in another way, and mutants that do
// not.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace accelopt::evaluation {

using Floats = std::vector<float>;
/// Inputs a (rows x inner or rows x columns) and b (inner x columns or columns), output rows x columns.
struct Problem {
  std::size_t rows = 0;
  std::size_t inner = 0;
  std::size_t columns = 0;
};
template <class Real>
using Operator =
    std::function<void(const Problem&, const std::vector<Real>&, const std::vector<Real>&, std::vector<Real>&)>;
struct Kernel {
  std::string name;
  Operator<float> run;
};

/// Moves a value by up to four units in the last place, as a vector library may; `x` decides how far.
inline float off_by_ulps(float exact, float x) {
  if (!std::isnormal(exact)) return exact;
  const std::uint32_t noise = (std::bit_cast<std::uint32_t>(x) * 2654435761U) >> 29;  // 0..7
  const std::int32_t shift = static_cast<std::int32_t>(noise) - 4;
  const float moved = std::bit_cast<float>(std::bit_cast<std::uint32_t>(exact) + static_cast<std::uint32_t>(shift));
  return std::isfinite(moved) ? moved : exact;
}
inline float sloppy_exp(float x) {
  return off_by_ulps(std::exp(x), x);
}
inline float sloppy_tanh(float x) {
  return off_by_ulps(std::tanh(x), x);
}

/// 1 / x with an error of three units in the last place: an estimate and one Newton step.
inline float sloppy_reciprocal(float x) {
  const float exact = 1 / x;
  return std::isnormal(exact) ? std::bit_cast<float>(std::bit_cast<std::uint32_t>(exact) + 3U) : exact;
}

inline float to_bfloat(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return std::bit_cast<float>((bits + 0x7fffU + ((bits >> 16) & 1U)) & 0xffff0000U);
}

inline Floats in_bfloat(Floats values) {
  for (float& value : values) value = to_bfloat(value);
  return values;
}

// y = a b

template <class Real>
void matmul(const Problem& p, const std::vector<Real>& a, const std::vector<Real>& b, std::vector<Real>& y) {
  for (std::size_t i = 0; i < p.rows; ++i) {
    for (std::size_t j = 0; j < p.columns; ++j) {
      Real sum = 0;
      for (std::size_t k = 0; k < p.inner; ++k) sum += a[i * p.inner + k] * b[k * p.columns + j];
      y[i * p.columns + j] = sum;
    }
  }
}

/// Sums `lanes` partial sums, each over every lanes-th product from `first` on in reverse, with fused multiply-add.
inline float dot_in_lanes(const float* a, const float* b, std::size_t stride, std::size_t inner, std::size_t lanes) {
  std::vector<float> sums(lanes, 0.0F);
  for (std::size_t k = inner; k-- > 0;) sums[k % lanes] = std::fma(a[k], b[k * stride], sums[k % lanes]);
  float total = 0;
  for (const float sum : sums) total += sum;
  return total;
}

inline std::vector<Kernel> honest_matmuls() {
  std::vector<Kernel> kernels;
  for (const std::size_t lanes : {1U, 8U, 16U}) {
    kernels.push_back(
        {"lanes " + std::to_string(lanes), [lanes](const Problem& p, const Floats& a, const Floats& b, Floats& y) {
           for (std::size_t i = 0; i < p.rows * p.columns; ++i) {
             y[i] = dot_in_lanes(&a[i / p.columns * p.inner], &b[i % p.columns], p.columns, p.inner, lanes);
           }
         }});
  }
  kernels.push_back({"in double", [](const Problem& p, const Floats& a, const Floats& b, Floats& y) {
                       std::vector<double> out(y.size());
                       matmul<double>(p, {a.begin(), a.end()}, {b.begin(), b.end()}, out);
                       std::transform(out.begin(), out.end(), y.begin(),
                                      [](double value) { return static_cast<float>(value); });
                     }});
  return kernels;
}

inline std::vector<Kernel> mutant_matmuls() {
  const auto shortened = [](std::size_t skipped) {
    return [skipped](const Problem& p, const Floats& a, const Floats& b, Floats& y) {
      for (std::size_t i = 0; i < p.rows * p.columns; ++i) {
        y[i] = dot_in_lanes(&a[i / p.columns * p.inner], &b[i % p.columns], p.columns, p.inner - skipped, 1);
      }
    };
  };
  return {{"1 % of the reduction skipped", shortened(2)}, {"one product skipped", shortened(1)}};
}

// y = softmax of the rows of a; b is not used

template <class Real>
void softmax(const Problem& p, const std::vector<Real>& a, const std::vector<Real>&, std::vector<Real>& y) {
  for (std::size_t i = 0; i < p.rows; ++i) {
    const Real* row = &a[i * p.columns];
    const Real largest = *std::max_element(row, row + p.columns);
    Real sum = 0;
    for (std::size_t j = 0; j < p.columns; ++j) sum += y[i * p.columns + j] = std::exp(row[j] - largest);
    for (std::size_t j = 0; j < p.columns; ++j) y[i * p.columns + j] /= sum;
  }
}

/// The maximum over the first `seen` columns (0: none is subtracted), sloppy functions, sums in lanes.
inline Operator<float> softmax_with(std::function<std::size_t(std::size_t)> seen) {
  return [seen](const Problem& p, const Floats& a, const Floats&, Floats& y) {
    const Floats ones(p.columns, 1.0F);
    for (std::size_t i = 0; i < p.rows; ++i) {
      const float* row = &a[i * p.columns];
      float largest = seen(p.columns) == 0 ? 0 : row[0];
      for (std::size_t j = 0; j < seen(p.columns); ++j) largest = std::max(largest, row[j]);
      for (std::size_t j = 0; j < p.columns; ++j) y[i * p.columns + j] = sloppy_exp(row[j] - largest);
      const float scale = sloppy_reciprocal(dot_in_lanes(&y[i * p.columns], ones.data(), 1, p.columns, 8));
      for (std::size_t j = 0; j < p.columns; ++j) y[i * p.columns + j] *= scale;
    }
  };
}

inline std::vector<Kernel> honest_softmaxes() {
  const Operator<float> online = [](const Problem& p, const Floats& a, const Floats&, Floats& y) {
    for (std::size_t i = 0; i < p.rows; ++i) {
      float largest = -std::numeric_limits<float>::infinity();
      float sum = 0;
      for (std::size_t j = 0; j < p.columns; ++j) {
        const float value = a[i * p.columns + j];
        const float next = std::max(largest, value);
        sum = sum * std::exp(largest - next) + std::exp(value - next);
        largest = next;
      }
      for (std::size_t j = 0; j < p.columns; ++j)
        y[i * p.columns + j] = sloppy_exp(a[i * p.columns + j] - largest) / sum;
    }
  };
  return {{"sloppy functions", softmax_with([](std::size_t columns) { return columns; })}, {"online", online}};
}

inline std::vector<Kernel> mutant_softmaxes() {
  return {{"maximum of a part", softmax_with([](std::size_t columns) { return columns / 2; })},
          {"no maximum", softmax_with([](std::size_t) { return std::size_t{0}; })}};
}

// y = a / sqrt(mean square of the row + epsilon) * b

template <class Real>
void rmsnorm(const Problem& p, const std::vector<Real>& a, const std::vector<Real>& b, std::vector<Real>& y) {
  for (std::size_t i = 0; i < p.rows; ++i) {
    Real squares = 0;
    for (std::size_t j = 0; j < p.columns; ++j) squares += a[i * p.columns + j] * a[i * p.columns + j];
    const Real scale = 1 / std::sqrt(squares / static_cast<Real>(p.columns) + static_cast<Real>(1e-6));
    for (std::size_t j = 0; j < p.columns; ++j) y[i * p.columns + j] = a[i * p.columns + j] * scale * b[j];
  }
}

/// The mean over the columns but the last `skipped`.
inline Operator<float> rmsnorm_without(std::size_t skipped) {
  return [skipped](const Problem& p, const Floats& a, const Floats& b, Floats& y) {
    for (std::size_t i = 0; i < p.rows; ++i) {
      const float* row = &a[i * p.columns];
      const float squares = dot_in_lanes(row, row, 1, p.columns - skipped, 16);
      const float scale = sloppy_reciprocal(std::sqrt(squares * (1.0F / static_cast<float>(p.columns)) + 1e-6F));
      for (std::size_t j = 0; j < p.columns; ++j) y[i * p.columns + j] = row[j] * (scale * b[j]);
    }
  };
}

inline std::vector<Kernel> honest_rmsnorms() {
  return {{"lanes and a sloppy root", rmsnorm_without(0)}};
}
inline std::vector<Kernel> mutant_rmsnorms() {
  return {{"1 % of the reduction skipped", rmsnorm_without(2)}};
}

// y = silu(a) + tanh(a) b, element by element with b by column

template <class Real>
void exp_heavy(const Problem& p, const std::vector<Real>& a, const std::vector<Real>& b, std::vector<Real>& y) {
  for (std::size_t i = 0; i < y.size(); ++i) {
    y[i] = a[i] / (1 + std::exp(-a[i])) + std::tanh(a[i]) * b[i % p.columns];
  }
}

inline std::vector<Kernel> honest_exp_heavies() {
  return {{"sloppy functions", [](const Problem& p, const Floats& a, const Floats& b, Floats& y) {
             for (std::size_t i = 0; i < y.size(); ++i) {
               y[i] = std::fma(sloppy_tanh(a[i]), b[i % p.columns], a[i] * sloppy_reciprocal(1 + sloppy_exp(-a[i])));
             }
           }}};
}
inline std::vector<Kernel> mutant_exp_heavies() {
  return {{"hard sigmoid", [](const Problem& p, const Floats& a, const Floats& b, Floats& y) {
             for (std::size_t i = 0; i < y.size(); ++i) {
               y[i] = a[i] * std::clamp(a[i] / 6 + 0.5F, 0.0F, 1.0F) + std::tanh(a[i]) * b[i % p.columns];
             }
           }}};
}

}  // namespace accelopt::evaluation
