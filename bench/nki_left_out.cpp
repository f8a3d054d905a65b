// SPDX-License-Identifier: Apache-2.0
#include "nki_left_out.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

#include "targets/trainium/lower.hpp"
#include "targets/trainium/schedule.hpp"

namespace accelopt::bench {
namespace {

using targets::trainium::Generation;
using targets::trainium::kTrn1;

struct Fitted {
  const char* name;
  double Generation::*member;
};
/// Those that chip.hpp calls fitted.
constexpr std::array<Fitted, 6> kFitted{{{"tensor_ghz", &Generation::tensor_ghz},
                                         {"vector_start", &Generation::vector_start},
                                         {"scalar_start", &Generation::scalar_start},
                                         {"reciprocal", &Generation::reciprocal},
                                         {"descriptor_ns", &Generation::descriptor_ns},
                                         {"dma_latency_ns", &Generation::dma_latency_ns}}};
using Vector = std::array<double, kFitted.size()>;

constexpr double kStep = 0.1;    ///< of a constant's logarithm, to either side
constexpr double kSpread = 0.1;  ///< of the errors' logarithms, as the model leaves them
constexpr double kPrior = 0.2;   ///< of a constant's logarithm: how far it may be from where it is

/// What the kernels say of a constant: errors now, and how each moves with each constant.
struct Equations {
  std::vector<double> errors;
  std::vector<Vector> slopes;
};

/// Gaussian elimination with pivots; the matrix is positive definite.
Vector solve(std::array<Vector, kFitted.size()> matrix, Vector right) {
  constexpr std::size_t n = kFitted.size();
  for (std::size_t column = 0; column < n; ++column) {
    std::size_t pivot = column;
    for (std::size_t row = column + 1; row < n; ++row)
      if (std::fabs(matrix[row][column]) > std::fabs(matrix[pivot][column])) pivot = row;
    std::swap(matrix[column], matrix[pivot]);
    std::swap(right[column], right[pivot]);
    for (std::size_t row = 0; row < n; ++row) {
      if (row == column) continue;
      const double factor = matrix[row][column] / matrix[column][column];
      for (std::size_t i = column; i < n; ++i) matrix[row][i] -= factor * matrix[column][i];
      right[row] -= factor * right[column];
    }
  }
  for (std::size_t i = 0; i < n; ++i) right[i] /= matrix[i][i];
  return right;
}

/// Changes of the constants' logarithms, fitted to all kernels but one; `without` past the end: to all.
Vector fit(const Equations& equations, std::size_t without) {
  std::array<Vector, kFitted.size()> matrix{};
  Vector right{};
  for (std::size_t i = 0; i < kFitted.size(); ++i) matrix[i][i] = 1 / (kPrior * kPrior);
  for (std::size_t k = 0; k < equations.errors.size(); ++k) {
    if (k == without) continue;
    for (std::size_t i = 0; i < kFitted.size(); ++i) {
      right[i] -= equations.slopes[k][i] * equations.errors[k] / (kSpread * kSpread);
      for (std::size_t j = 0; j < kFitted.size(); ++j)
        matrix[i][j] += equations.slopes[k][i] * equations.slopes[k][j] / (kSpread * kSpread);
    }
  }
  return solve(matrix, right);
}

double moved(const Vector& slope, const Vector& change) {
  double out = 0;
  for (std::size_t i = 0; i < kFitted.size(); ++i) out += slope[i] * change[i];
  return out;
}

base::Result<Equations> equations_of(const std::vector<RecordedKernel>& kernels) {
  Equations out;
  for (const RecordedKernel& kernel : kernels) {
    TRY_ASSIGN(const double now, modelled_ms(kernel.program, kTrn1));
    out.errors.push_back(std::log(now / kernel.recorded_ms));
    Vector& slope = out.slopes.emplace_back();
    for (std::size_t i = 0; i < kFitted.size(); ++i) {
      std::array<double, 2> times{};
      for (std::size_t side = 0; side < 2; ++side) {
        Generation chip = kTrn1;
        chip.*kFitted[i].member *= std::exp(side == 0 ? -kStep : kStep);
        TRY_ASSIGN(times[side], modelled_ms(kernel.program, chip));
      }
      slope[i] = std::log(times[1] / times[0]) / (2 * kStep);
    }
    std::printf("    %s: ", kernel.name.c_str());
    for (std::size_t i = 0; i < kFitted.size(); ++i) std::printf(" %s %.2f", kFitted[i].name, slope[i]);
    std::printf("\n");
    std::fflush(stdout);
  }
  return out;
}

}  // namespace

base::Result<double> modelled_ms(const targets::trainium::Program& program, const Generation& chip) {
  using targets::trainium::Policy;
  double product = 1;
  for (const Policy policy : {Policy::hoist, Policy::literal}) {
    const targets::trainium::Lowered lowered = targets::trainium::lower(program, chip, policy);
    TRY_ASSIGN(const targets::trainium::Timing timing, targets::trainium::schedule(program, lowered, chip));
    product *= timing.ns / 1e6;
  }
  return std::sqrt(product);
}

base::Result<Refit> leave_one_out(const std::vector<RecordedKernel>& kernels) {
  std::printf("how each kernel's time moves with each fitted constant (1: in proportion)\n");
  TRY_ASSIGN(const Equations equations, equations_of(kernels));
  const Vector all = fit(equations, kernels.size());
  Refit out;
  for (std::size_t i = 0; i < kFitted.size(); ++i) {
    const double now = kTrn1.*kFitted[i].member;
    const double refitted = now * std::exp(all[i]);
    out.constants.push_back({kFitted[i].name, now, refitted, refitted, refitted});
  }
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const Vector others = fit(equations, k);
    const double error = equations.errors[k];
    out.kernels.push_back({kernels[k].name, std::exp(error), std::exp(error + moved(equations.slopes[k], all)),
                           std::exp(error + moved(equations.slopes[k], others))});
    for (std::size_t i = 0; i < kFitted.size(); ++i) {
      Refit::Constant& one = out.constants[i];
      one.least = std::min(one.least, one.now * std::exp(others[i]));
      one.most = std::max(one.most, one.now * std::exp(others[i]));
    }
  }
  return out;
}

void print(const Refit& refit) {
  std::printf("modelled over recorded: as it stands, constants refitted to all, to all others\n");
  for (const LeftOut& one : refit.kernels)
    std::printf("    %-24s %.3f %.3f %.3f (moves %+.1f %%)\n", one.name.c_str(), one.as_it_stands, one.refitted,
                one.left_out, 100 * (one.left_out / one.refitted - 1));
  std::printf("constants: as they stand, refitted to all, between the refits that leave one out\n");
  for (const Refit::Constant& one : refit.constants)
    std::printf("    %-24s %8.3g %8.3g %8.3g to %.3g\n", one.name.c_str(), one.now, one.refitted, one.least, one.most);
  std::fflush(stdout);
}

double largest_move(const Refit& refit) {
  double out = 0;
  for (const LeftOut& one : refit.kernels) out = std::max(out, std::fabs(one.left_out / one.refitted - 1));
  return out;
}

}  // namespace accelopt::bench
