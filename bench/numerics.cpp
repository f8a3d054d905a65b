// SPDX-License-Identifier: Apache-2.0
// Does the acceptance function let every honest reordering pass, and none of the classic wrong kernels? Honest kernels
// are judged on slots of all families, each with a seed of its own; a wrong kernel has to be refused by one of the
// families under every seed, as one evaluation goes through all of them. One line a figure; exits with 1 on FAIL.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "evaluation/verify/inputs.hpp"
#include "evaluation/verify/numerics.hpp"
#include "evaluation_numerics/operators.hpp"
#include "numerics_bands.hpp"

namespace accelopt::evaluation {
namespace {

using model::Family;

constexpr std::uint64_t kDefaultSeed = 20261121;
constexpr int kHonestSlots = 1000;
constexpr int kWrongSeeds = 100;
constexpr std::size_t kTile = 8;  ///< elements that a tile-skipping kernel leaves out
constexpr Family kFamilies[] = {Family::as_declared, Family::positive, Family::scaled_up, Family::scaled_down,
                                Family::heavy,       Family::sparse,   Family::rows};

/// The sum of a[i * a_step] * b[i * b_step], in some order.
struct Dot {
  const float* a;
  std::size_t a_step;
  const float* b;
  std::size_t b_step;
  std::size_t count;

  [[nodiscard]] float left(std::size_t i) const { return a[i * a_step]; }
  [[nodiscard]] float right(std::size_t i) const { return b[i * b_step]; }
  [[nodiscard]] float term(std::size_t i) const { return left(i) * right(i); }
};
using Sum = float (*)(const Dot&);

float reversed(const Dot& dot) {
  float sum = 0;
  for (std::size_t i = dot.count; i-- > 0;) sum += dot.term(i);
  return sum;
}

float halves(const Dot& dot, std::size_t first, std::size_t last) {
  if (last - first <= 2) return last - first == 2 ? dot.term(first) + dot.term(first + 1) : dot.term(first);
  const std::size_t middle = first + (last - first) / 2;
  return halves(dot, first, middle) + halves(dot, middle, last);
}
float pairwise(const Dot& dot) {
  return dot.count == 0 ? 0 : halves(dot, 0, dot.count);
}

template <std::size_t Lanes>
float lanes(const Dot& dot) {
  float sums[Lanes] = {};
  for (std::size_t i = 0; i < dot.count; ++i) sums[i % Lanes] += dot.term(i);
  for (std::size_t width = Lanes / 2; width > 0; width /= 2) {
    for (std::size_t i = 0; i < width; ++i) sums[i] += sums[i + width];
  }
  return sums[0];
}

float kahan(const Dot& dot) {
  float sum = 0;
  float lost = 0;
  for (std::size_t i = 0; i < dot.count; ++i) {
    const float term = dot.term(i) - lost;
    const float next = sum + term;
    lost = (next - sum) - term;
    sum = next;
  }
  return sum;
}

float fused(const Dot& dot) {
  float sum = 0;
  for (std::size_t i = 0; i < dot.count; ++i) sum = std::fma(dot.left(i), dot.right(i), sum);
  return sum;
}

float fused_lanes(const Dot& dot) {
  float sums[8] = {};
  for (std::size_t i = 0; i < dot.count; ++i) sums[i % 8] = std::fma(dot.left(i), dot.right(i), sums[i % 8]);
  return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

float in_double(const Dot& dot) {
  double sum = 0;
  for (std::size_t i = 0; i < dot.count; ++i)
    sum += static_cast<double>(dot.left(i)) * static_cast<double>(dot.right(i));
  return static_cast<float>(sum);
}

const std::vector<std::pair<std::string, Sum>>& honest_sums() {
  static const std::vector<std::pair<std::string, Sum>> sums{
      {"reversed", reversed}, {"pairwise", pairwise}, {"lanes_4", lanes<4>},        {"lanes_16", lanes<16>},
      {"kahan", kahan},       {"fma", fused},         {"fma_lanes_8", fused_lanes}, {"in_double", in_double}};
  return sums;
}

// The operators, over any order of their sums.

void matmul_by(Sum sum, const Problem& p, const Floats& a, const Floats& b, Floats& y) {
  for (std::size_t i = 0; i < p.rows; ++i) {
    for (std::size_t j = 0; j < p.columns; ++j) {
      y[i * p.columns + j] = sum({&a[i * p.inner], 1, &b[j], p.columns, p.inner});
    }
  }
}

void softmax_in_place(Sum sum, const Problem& p, std::size_t seen, Floats& y) {
  const Floats ones(p.columns, 1.0F);
  for (std::size_t i = 0; i < p.rows; ++i) {
    float* row = &y[i * p.columns];
    float largest = seen == 0 ? 0 : row[0];
    for (std::size_t j = 1; j < seen; ++j) largest = std::max(largest, row[j]);
    for (std::size_t j = 0; j < p.columns; ++j) row[j] = std::exp(row[j] - largest);
    const float total = sum({row, 1, ones.data(), 1, p.columns});
    for (std::size_t j = 0; j < p.columns; ++j) row[j] /= total;
  }
}

void softmax_by(Sum sum, const Problem& p, const Floats& a, const Floats&, Floats& y) {
  y = a;
  softmax_in_place(sum, p, p.columns, y);
}

void matmul_softmax_by(Sum sum, const Problem& p, const Floats& a, const Floats& b, Floats& y) {
  matmul_by(sum, p, a, b, y);
  softmax_in_place(sum, p, p.columns, y);
}

void rmsnorm_by(Sum sum, const Problem& p, const Floats& a, const Floats& b, Floats& y) {
  for (std::size_t i = 0; i < p.rows; ++i) {
    const float* row = &a[i * p.columns];
    const float squares = sum({row, 1, row, 1, p.columns});
    const float scale = 1 / std::sqrt(squares / static_cast<float>(p.columns) + 1e-6F);
    for (std::size_t j = 0; j < p.columns; ++j) y[i * p.columns + j] = row[j] * scale * b[j];
  }
}

template <class Real>
void matmul_softmax(const Problem& p, const std::vector<Real>& a, const std::vector<Real>& b, std::vector<Real>& y) {
  std::vector<Real> products(y.size());
  matmul<Real>(p, a, b, products);
  softmax<Real>(p, products, b, y);
}

using ByOrder = void (*)(Sum, const Problem&, const Floats&, const Floats&, Floats&);

/// One operator: its reference in both precisions, its honest forms, its wrong ones.
struct Subject {
  std::string name;
  Problem problem;
  std::size_t a_columns;
  std::size_t b_rows;
  Operator<double> wide;
  Operator<float> narrow;
  ByOrder by;
  std::vector<Kernel> wrong;
};

/// Right but for the last tile of the output, which repeats the element before it.
Kernel tile_skipper(ByOrder by) {
  return {"last_tile_skipped", [by](const Problem& p, const Floats& a, const Floats& b, Floats& y) {
            by(lanes<4>, p, a, b, y);
            std::fill(y.end() - kTile, y.end(), y[y.size() - kTile - 1]);
          }};
}

Kernel softmax_seeing(std::string name, std::size_t parts) {
  return {std::move(name), [parts](const Problem& p, const Floats& a, const Floats&, Floats& y) {
            y = a;
            softmax_in_place(lanes<4>, p, parts == 0 ? 0 : p.columns / parts, y);
          }};
}

Kernel bfloat_matmul() {
  return {"bf16", [](const Problem& p, const Floats& a, const Floats& b, Floats& y) {
            matmul_by(lanes<4>, p, in_bfloat(a), in_bfloat(b), y);
          }};
}

std::vector<Subject> subjects() {
  const Problem product{11, 192, 24};
  const Problem rows{24, 0, 208};
  const Problem scores{10, 64, 48};
  return {{"matmul",
           product,
           192,
           192,
           matmul<double>,
           matmul<float>,
           matmul_by,
           {bfloat_matmul(), tile_skipper(matmul_by)}},
          {"softmax",
           rows,
           208,
           1,
           softmax<double>,
           softmax<float>,
           softmax_by,
           {softmax_seeing("partial_max", 2), softmax_seeing("no_max", 0), tile_skipper(softmax_by)}},
          {"rmsnorm", rows, 208, 1, rmsnorm<double>, rmsnorm<float>, rmsnorm_by, {tile_skipper(rmsnorm_by)}},
          {"matmul_softmax",
           scores,
           64,
           64,
           matmul_softmax<double>,
           matmul_softmax<float>,
           matmul_softmax_by,
           {tile_skipper(matmul_softmax_by)}}};
}

/// Inputs, what they must give, and what that may be off by.
struct Draw {
  Floats a;
  Floats b;
  Expected expected;
  Bounds bounds;
};

Floats draw_floats(std::size_t rows, std::size_t columns, Family family, std::uint64_t seed) {
  Floats values(rows * columns);
  const InputDraw draw{{model::InitKind::normal, 0, 1},
                       model::DType::float32,
                       {static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns)},
                       family,
                       seed};
  if (const auto drawn = draw_input(draw, std::as_writable_bytes(std::span(values))); !drawn) {
    std::fprintf(stderr, "numerics: %s\n", drawn.error().message.c_str());
    std::exit(1);
  }
  return values;
}

std::vector<double> perturbed(const Floats& values, std::uint64_t perturbation) {
  std::vector<double> out(values.begin(), values.end());
  if (perturbation != 0) perturb(out, model::DType::float32, {}, perturbation);
  return out;
}

Floats narrowed(const std::vector<double>& values) {
  Floats out(values.size());
  std::transform(values.begin(), values.end(), out.begin(), [](double value) { return static_cast<float>(value); });
  return out;
}

/// The reference as float, as the evaluator builds it. Perturbation 0: none.
std::vector<double> run_narrow(const Subject& subject, const Draw& draw, std::uint64_t perturbation) {
  Floats y(subject.problem.rows * subject.problem.columns);
  subject.narrow(subject.problem, narrowed(perturbed(draw.a, perturbation)),
                 narrowed(perturbed(draw.b, perturbation + (perturbation != 0 ? 1 : 0))), y);
  return {y.begin(), y.end()};
}

std::vector<double> run_wide(const Subject& subject, const Draw& draw, std::uint64_t perturbation) {
  const std::vector<double> a = perturbed(draw.a, perturbation);
  const std::vector<double> b = perturbed(draw.b, perturbation + (perturbation != 0 ? 1 : 0));
  std::vector<double> y(subject.problem.rows * subject.problem.columns);
  subject.wide(subject.problem, a, b, y);
  return y;
}

Draw make_draw(const Subject& subject, Family family, std::uint64_t seed) {
  const Problem& p = subject.problem;
  Draw draw;
  draw.a = draw_floats(p.rows, subject.a_columns, family, input_seed(seed, subject.name, 0, "a"));
  draw.b = draw_floats(subject.b_rows, p.columns, family, input_seed(seed, subject.name, 0, "b"));
  draw.expected.shape = {static_cast<std::int64_t>(p.rows), static_cast<std::int64_t>(p.columns)};
  draw.expected.values = run_wide(subject, draw, 0);
  const std::vector<double> in_float = run_narrow(subject, draw, 0);
  const std::vector<double> first = run_wide(subject, draw, seed * 8 + 1);
  const std::vector<double> second = run_wide(subject, draw, seed * 8 + 3);
  const std::vector<double> both = run_narrow(subject, draw, seed * 8 + 5);
  draw.bounds = calibrate(draw.expected, {in_float, first, second, both}, {});
  return draw;
}

Comparison judge(const Subject& subject, const Draw& draw, const Operator<float>& kernel) {
  Floats y(subject.problem.rows * subject.problem.columns, std::numeric_limits<float>::quiet_NaN());
  kernel(subject.problem, draw.a, draw.b, y);
  return compare(draw.expected, draw.bounds, std::as_bytes(std::span(y)));
}

bool print(const std::string& name, int value, int bound) {
  const bool good = value >= bound;
  std::printf("%s %s %d bound %d\n", good ? "PASS" : "FAIL", name.c_str(), value, bound);
  return good;
}

/// Every honest order of every operator on slots of all families.
bool judge_honest(const std::vector<Subject>& all, std::uint64_t seed) {
  std::map<std::string, int> passed;
  for (int slot = 0; slot < kHonestSlots; ++slot) {
    const auto place = static_cast<std::size_t>(slot);
    const Subject& subject = all[place % all.size()];
    const Family family = kFamilies[place % std::size(kFamilies)];
    const Draw draw = make_draw(subject, family, seed + place);
    for (const auto& [name, sum] : honest_sums()) {
      const Comparison comparison =
          judge(subject, draw, [&subject, sum](const Problem& p, const Floats& a, const Floats& b, Floats& y) {
            subject.by(sum, p, a, b, y);
          });
      passed[name] += comparison.passed() ? 1 : 0;
      if (comparison.passed()) continue;
      std::printf("# %s, %s, family %s, seed %llu: %s\n", subject.name.c_str(), name.c_str(),
                  std::string(model::to_string(family)).c_str(), static_cast<unsigned long long>(seed + place),
                  explain(draw.expected, comparison).c_str());
    }
  }
  bool good = true;
  for (const auto& [name, sum] : honest_sums()) good = print("honest_" + name, passed[name], kHonestSlots) && good;
  return good;
}

/// Every wrong kernel under many seeds: each must be refused by some family.
bool judge_wrong(const std::vector<Subject>& all, std::uint64_t seed) {
  bool good = true;
  for (const Subject& subject : all) {
    std::vector<int> refused(subject.wrong.size());
    for (int i = 0; i < kWrongSeeds; ++i) {
      std::vector<bool> caught(subject.wrong.size());
      for (const Family family : kFamilies) {
        const Draw draw = make_draw(subject, family, seed + static_cast<std::uint64_t>(i));
        for (std::size_t kernel = 0; kernel < subject.wrong.size(); ++kernel) {
          if (!judge(subject, draw, subject.wrong[kernel].run).passed()) caught[kernel] = true;
        }
      }
      for (std::size_t kernel = 0; kernel < caught.size(); ++kernel) refused[kernel] += caught[kernel] ? 1 : 0;
    }
    for (std::size_t kernel = 0; kernel < refused.size(); ++kernel) {
      good = print("refused_" + subject.name + "_" + subject.wrong[kernel].name, refused[kernel], kWrongSeeds) && good;
    }
  }
  return good;
}

}  // namespace
}  // namespace accelopt::evaluation

int main(int argc, char** argv) {
  using namespace accelopt::evaluation;
  std::uint64_t seed = kDefaultSeed;
  if (argc == 3 && std::strcmp(argv[1], "--seed") == 0) {
    seed = std::strtoull(argv[2], nullptr, 10);
  } else if (argc != 1) {
    std::fprintf(stderr, "usage: numerics [--seed N]\n");
    return 2;
  }
  std::printf("# seed %llu\n", static_cast<unsigned long long>(seed));
  const auto all = subjects();
  const bool honest = judge_honest(all, seed);
  const bool wrong = judge_wrong(all, seed);
  const bool bands = judge_bands(seed);
  return honest && wrong && bands ? 0 : 1;
}
