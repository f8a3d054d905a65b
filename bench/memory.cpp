// SPDX-License-Identifier: Apache-2.0
// The embedded knowledge store with many experiences: opening, bulk insertion, retrieval.
//
//   memory [EXPERIENCES [FILE]]     default 100000, in a file that is removed; texts are drawn with a printed seed
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "figures.hpp"
#include "memory/knowledge_file.hpp"
#include "memory/ranking.hpp"

namespace {

using namespace accelopt;  // NOLINT(google-build-using-namespace)
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kSeed = 20;
constexpr int kQueries = 200;
constexpr int kBatch = 1000;

double seconds_since(Clock::time_point start) {
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

constexpr const char* kOperators[] = {"matmul", "bmm",   "softmax",   "rmsnorm", "silu",   "rope",      "adamw",
                                      "lora",   "mamba", "layernorm", "gelu",    "conv2d", "attention", "swiglu"};

model::Experience drawn_experience(int number) {
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

memory::Query drawn_query(int number) {
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

template <class T>
T must(base::Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().message.c_str());
    std::exit(2);
  }
  return std::move(*result);
}

}  // namespace

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 100'000;
  std::printf("%d experiences, seed %d\n", count, static_cast<int>(kSeed));
  const auto folder = must(base::TemporaryFolder::create("accelopt-bench-memory"));
  const std::filesystem::path file = argc > 2 ? std::filesystem::path(argv[2]) : folder.path() / "knowledge.db";
  bench::Figures figures;
  {
    const auto store = must(memory::open_knowledge_file(file));
    double inserting = 0;
    std::clock_t processor = 0;
    for (int at = 0; at < count; at += kBatch) {
      std::vector<model::Experience> batch;
      for (int i = at; i < std::min(count, at + kBatch); ++i) batch.push_back(drawn_experience(i));
      const auto start = Clock::now();
      const std::clock_t before = std::clock();
      must(store->insert(batch, memory::Forgotten::stays));
      inserting += seconds_since(start);
      processor += std::clock() - before;
    }
    std::printf("insertion: %.0f a second of processor time\n",
                count / (static_cast<double>(processor) / CLOCKS_PER_SEC));
    figures.report("insertion", count / inserting, bench::Bound::at_least, 5000, "a second");
  }
  const auto start = Clock::now();
  const auto store = must(memory::open_knowledge_file(file));
  must(store->list({.limit = 1}));
  figures.report("opening", seconds_since(start), bench::Bound::at_most, 1, "s");
  std::vector<double> times;
  std::size_t shown = 0;
  for (int i = 0; i < kQueries; ++i) {
    const memory::Query query = drawn_query(i);
    const auto begin = Clock::now();
    shown += memory::rank(must(store->retrieve(query)), query, 16).size();
    times.push_back(seconds_since(begin) * 1000);
  }
  std::ranges::sort(times);
  std::printf("retrieval of %d queries: median %.1f ms, worst %.1f ms, %.1f experiences shown each\n", kQueries,
              times[times.size() / 2], times.back(), static_cast<double>(shown) / kQueries);
  figures.report("retrieval p95", times[times.size() * 95 / 100], bench::Bound::at_most, 50, "ms");
  figures.report("experiences shown", static_cast<double>(shown) / kQueries, bench::Bound::at_least, 16);
  return figures.exit_status();
}
