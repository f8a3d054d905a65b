// SPDX-License-Identifier: Apache-2.0
// Experiences and queries that a seed decides, for the benchmarks of the knowledge stores.
#pragma once

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.hpp"
#include "figures.hpp"
#include "memory/knowledge_store.hpp"
#include "memory/ranking.hpp"

namespace accelopt::bench {

using Clock = std::chrono::steady_clock;

inline constexpr std::uint64_t kSeed = 20;
inline constexpr int kQueries = 200;
inline constexpr int kBatch = 1000;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// A sequence of numbers that a seed and a label decide.
class Draw {
 public:
  explicit Draw(const std::string& label) : state_(base::derive_seed(kSeed, label)) {}
  std::uint64_t below(std::uint64_t limit) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return (state_ >> 33U) % limit;
  }
  /// A few words are everywhere, most are rare: the square of an even draw.
  std::string word() {
    const std::uint64_t x = below(1000);
    return "word" + std::to_string(x * x / 50);
  }
  std::string text(int words) {
    static constexpr const char* kPlain[] = {"loop",   "vector", "register", "cache", "stride",
                                             "memory", "tile",   "operand",  "reuse", "accumulate"};
    std::string out;
    for (int i = 0; i < words; ++i) out += (below(3) == 0 ? std::string(kPlain[below(10)]) : word()) + " ";
    return out;
  }

 private:
  std::uint64_t state_;
};

inline constexpr const char* kOperators[] = {"matmul", "bmm",    "softmax",   "rmsnorm", "silu",
                                             "rope",   "adamw",  "lora",      "mamba",   "layernorm",
                                             "gelu",   "conv2d", "attention", "swiglu"};

inline model::Experience drawn_experience(int number) {
  Draw draw("experience" + std::to_string(number));
  model::Experience it;
  it.title = draw.text(6);
  it.strategy = draw.text(60);
  it.before = draw.text(25);
  it.after = draw.text(25);
  it.diff = draw.text(120);
  const double effect = 0.5 + static_cast<double>(draw.below(2000)) / 500;
  it.effect = model::Interval{effect, effect * 0.97, effect * 1.03};
  it.polarity = effect > 1 ? model::Polarity::improves : model::Polarity::regresses;
  it.language = draw.below(10) < 8 ? "cpp" : "triton";
  it.target = "cpu";
  it.op_type = kOperators[draw.below(14)];
  it.bound = draw.below(2) == 0 ? "memory" : "compute";
  it.run = "run" + std::to_string(number / 40);
  it.iteration = number % 6;
  it.created = "2026-01-01T00:00:00Z";
  it.slow = base::sha256_hex("slow" + std::to_string(number));
  it.fast = base::sha256_hex("fast" + std::to_string(number));
  return it;
}

inline memory::Query drawn_query(int number) {
  Draw draw("query" + std::to_string(number));
  memory::Query query;
  query.language = "cpp";
  query.target = "cpu";
  query.op_type = kOperators[draw.below(14)];
  query.bound = draw.below(2) == 0 ? "memory" : "compute";
  query.text = draw.text(300);
  query.without_run = "run" + std::to_string(draw.below(100));
  if (number % 4 == 0) query.without_op_types = memory::family_of(query.op_type);
  return query;
}

/// A count from the command line; ends the program with its usage where it is none.
inline int count_of(const char* text, const char* usage) {
  const std::string_view digits(text);
  int count = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  if (problem == std::errc() && end == digits.data() + digits.size() && count > 0) return count;
  std::fprintf(stderr, "%s is no number of experiences above 0; usage: %s\n", text, usage);
  std::exit(2);
}

template <class T>
T must(base::Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().message.c_str());
    std::exit(2);
  }
  return std::move(*result);
}

/// Who asks a store: a planner that is a model, or the recipes, which weigh many by number (search/recollection.cpp).
struct Asker {
  const char* name;
  memory::Alike alike;
  int limit;
  int places;       ///< most that are given
  int least_given;  ///< on average: of those that are alike, where only these are shown
};
inline constexpr Asker kModel{"of a model", memory::Alike::merged, 128, 16, 8};
inline constexpr Asker kRecipes{"of recipes", memory::Alike::each, 1000, 1000, 1000};

/// Retrieves and ranks as a run does, kQueries times, and reports the times. Every query is another one, so that no
/// answer was given before.
inline void report_retrieval(memory::KnowledgeStore& store, const Asker& asker, double bound_ms, Figures& figures) {
  std::vector<double> times;
  const std::clock_t processor = std::clock();
  std::size_t shown = 0;
  for (int i = 0; i < kQueries; ++i) {
    memory::Query query = drawn_query(i);
    query.alike = asker.alike;
    query.limit = asker.limit;
    const auto begin = Clock::now();
    shown += memory::rank(must(store.retrieve(query)), query, asker.places).size();
    times.push_back(seconds_since(begin) * 1000);
  }
  const double each_ms = 1000 * static_cast<double>(std::clock() - processor) / CLOCKS_PER_SEC / kQueries;
  const double shown_each = static_cast<double>(shown) / kQueries;
  const std::string name = std::string("retrieval ") + asker.name;
  std::ranges::sort(times);
  std::printf("%s, %d queries: median %.1f ms, worst %.1f ms, %.1f ms of processor time, %.1f experiences given each\n",
              name.c_str(), kQueries, times[times.size() / 2], times.back(), each_ms, shown_each);
  figures.report(name + ", p95", times[times.size() * 95 / 100], Bound::at_most, bound_ms, "ms");
  figures.report(name + ", experiences given", shown_each, Bound::at_least, asker.least_given);
}

}  // namespace accelopt::bench
