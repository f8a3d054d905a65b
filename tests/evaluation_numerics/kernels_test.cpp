// SPDX-License-Identifier: Apache-2.0
// Do honest kernels always pass, and mutants never? Every slot of the rotation is one problem; a kernel passes a task
// when it passes all of its slots.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

#include "evaluation/verify/dtype_codec.hpp"
#include "evaluation/verify/inputs.hpp"
#include "evaluation/verify/numerics.hpp"
#include "evaluation_numerics/operators.hpp"

namespace accelopt::evaluation {
namespace {

using model::DType;
using model::Family;

constexpr Family kFamilies[] = {Family::as_declared, Family::positive,     Family::scaled_up, Family::scaled_down,
                                Family::heavy,       Family::sparse,       Family::rows,      Family::late,
                                Family::blocks,      Family::signed_zeros, Family::near_ties};
constexpr std::uint64_t kSeed = 20261121;

/// One operator with its honest kernels and mutants.
struct Case {
  std::string name;
  Operator<double> in_double;
  Operator<float> in_float;
  Problem problem;
  std::size_t a_columns;  ///< inner for matmul, else columns
  std::size_t b_rows;     ///< inner for matmul, else 1
  std::vector<Kernel> honest;
  std::vector<Kernel> mutants;
};

std::vector<Case> cases() {
  const Problem product{9, 200, 23};
  const Problem rows{12, 0, 200};
  return {{"matmul", matmul<double>, matmul<float>, product, 200, 200, honest_matmuls(), mutant_matmuls()},
          {"softmax", softmax<double>, softmax<float>, rows, 200, 1, honest_softmaxes(), mutant_softmaxes()},
          {"rmsnorm", rmsnorm<double>, rmsnorm<float>, rows, 200, 1, honest_rmsnorms(), mutant_rmsnorms()},
          {"exp_heavy", exp_heavy<double>, exp_heavy<float>, rows, 200, 1, honest_exp_heavies(), mutant_exp_heavies()}};
}

/// One slot: inputs, expected output, bounds.
struct Slot {
  Floats a;
  Floats b;
  Expected expected;
  Bounds bounds;
};

Floats draw_floats(std::size_t rows, std::size_t columns, Family family, std::uint64_t seed) {
  std::vector<std::byte> bytes(rows * columns * sizeof(float));
  const InputDraw draw{{model::InitKind::normal, 0, 1},
                       DType::float32,
                       {static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns)},
                       family,
                       seed};
  EXPECT_TRUE(draw_input(draw, bytes).has_value());
  Floats values(rows * columns);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

std::vector<double> run_in_double(const Case& test, const Floats& a, const Floats& b, std::uint64_t perturbation) {
  std::vector<double> wide_a(a.begin(), a.end());
  std::vector<double> wide_b(b.begin(), b.end());
  if (perturbation != 0) {
    perturb(wide_a, DType::float32, {}, perturbation);
    perturb(wide_b, DType::float32, {}, perturbation + 1);
  }
  std::vector<double> y(test.problem.rows * test.problem.columns);
  test.in_double(test.problem, wide_a, wide_b, y);
  return y;
}

std::vector<double> run_in_float(const Case& test, Floats a, Floats b, std::uint64_t perturbation) {
  for (Floats* values : {&a, &b}) {
    std::vector<double> wide(values->begin(), values->end());
    perturb(wide, DType::float32, {}, perturbation++);
    std::transform(wide.begin(), wide.end(), values->begin(), [](double value) { return static_cast<float>(value); });
  }
  Floats y(test.problem.rows * test.problem.columns);
  test.in_float(test.problem, a, b, y);
  return {y.begin(), y.end()};
}

Slot make_slot(const Case& test, Family family, std::uint64_t seed) {
  Slot slot;
  slot.a = draw_floats(test.problem.rows, test.a_columns, family, input_seed(seed, test.name, 0, "a"));
  slot.b = draw_floats(test.b_rows, test.problem.columns, family, input_seed(seed, test.name, 0, "b"));
  slot.expected.shape = {static_cast<std::int64_t>(test.problem.rows), static_cast<std::int64_t>(test.problem.columns)};
  slot.expected.values = run_in_double(test, slot.a, slot.b, 0);
  Floats in_float(slot.expected.values.size());
  test.in_float(test.problem, slot.a, slot.b, in_float);
  const std::vector<double> as_float(in_float.begin(), in_float.end());
  const std::vector<double> first = run_in_double(test, slot.a, slot.b, seed * 4 + 1);
  const std::vector<double> second = run_in_double(test, slot.a, slot.b, seed * 4 + 3);
  const std::vector<double> both = run_in_float(test, slot.a, slot.b, seed * 4 + 5);
  slot.bounds = calibrate(slot.expected, {as_float, first, second, both}, {});
  return slot;
}

Comparison judge(const Case& test, const Slot& slot, const Operator<float>& kernel) {
  Floats y(test.problem.rows * test.problem.columns, std::numeric_limits<float>::quiet_NaN());
  kernel(test.problem, slot.a, slot.b, y);
  return compare(slot.expected, slot.bounds, std::as_bytes(std::span(y)));
}

/// What any kernel can be made wrong by.
std::vector<Kernel> general_mutants(const Case& test) {
  const Operator<float> right = test.in_float;
  std::vector<Kernel> mutants;
  mutants.push_back(
      {"zeros", [](const Problem&, const Floats&, const Floats&, Floats& y) { y.assign(y.size(), 0.0F); }});
  mutants.push_back({"constant", [right](const Problem& p, const Floats& a, const Floats& b, Floats& y) {
                       right(p, a, b, y);
                       y.assign(y.size(), y[0]);
                     }});
  mutants.push_back({"copy of input", [](const Problem&, const Floats& a, const Floats&, Floats& y) {
                       std::copy_n(a.begin(), y.size(), y.begin());
                     }});
  mutants.push_back({"last tile skipped", [right](const Problem& p, const Floats& a, const Floats& b, Floats& y) {
                       right(p, a, b, y);
                       std::fill(y.end() - 8, y.end(), 0.0F);
                     }});
  mutants.push_back({"last element wrong", [right](const Problem& p, const Floats& a, const Floats& b, Floats& y) {
                       right(p, a, b, y);
                       y.back() *= 1.001F;
                     }});
  mutants.push_back({"one row unwritten", [right](const Problem& p, const Floats& a, const Floats& b, Floats& y) {
                       const float poison = y[p.columns];
                       right(p, a, b, y);
                       std::fill_n(y.begin() + static_cast<std::ptrdiff_t>(p.columns), p.columns, poison);
                     }});
  mutants.push_back({"bfloat16 inputs", [right](const Problem& p, const Floats& a, const Floats& b, Floats& y) {
                       right(p, in_bfloat(a), in_bfloat(b), y);
                     }});
  return mutants;
}

TEST(HonestKernels, PassEverySlot) {
  std::printf("seed %llu\n", static_cast<unsigned long long>(kSeed));
  constexpr int kRotations = 18;
  int judged = 0;
  for (const Case& test : cases()) {
    for (int rotation = 0; rotation < kRotations; ++rotation) {
      for (const Family family : kFamilies) {
        const Slot slot = make_slot(test, family, kSeed + static_cast<std::uint64_t>(rotation));
        ASSERT_TRUE(slot.bounds.float_is_finite) << test.name << " " << model::to_string(family);
        for (const Kernel& kernel : test.honest) {
          const Comparison comparison = judge(test, slot, kernel.run);
          EXPECT_TRUE(comparison.passed())
              << test.name << ", " << kernel.name << ", " << model::to_string(family) << ", rotation " << rotation
              << ": " << explain(slot.expected, comparison) << " row bound "
              << slot.bounds.rows[static_cast<std::size_t>(comparison.mismatch.index / slot.bounds.row_length)];
          ++judged;
        }
      }
    }
  }
  std::printf("%d outputs of honest kernels judged\n", judged);
  EXPECT_GE(judged, 1000);
}

TEST(Mutants, FailEveryTask) {
  std::printf("seed %llu\n", static_cast<unsigned long long>(kSeed));
  for (const Case& test : cases()) {
    std::vector<Kernel> mutants = general_mutants(test);
    mutants.insert(mutants.end(), test.mutants.begin(), test.mutants.end());
    for (const Kernel& mutant : mutants) {
      for (int rotation = 0; rotation < 10; ++rotation) {
        std::string refused_by;
        for (const Family family : kFamilies) {
          const Slot slot = make_slot(test, family, kSeed + static_cast<std::uint64_t>(rotation));
          if (!judge(test, slot, mutant.run).passed()) refused_by += std::string(model::to_string(family)) + " ";
        }
        EXPECT_FALSE(refused_by.empty()) << test.name << ", " << mutant.name << ", rotation " << rotation;
        if (rotation == 0)
          std::printf("%-10s %-30s refused by %s\n", test.name.c_str(), mutant.name.c_str(), refused_by.c_str());
      }
    }
  }
}

}  // namespace
}  // namespace accelopt::evaluation
