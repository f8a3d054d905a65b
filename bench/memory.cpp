// SPDX-License-Identifier: Apache-2.0
// The embedded knowledge store with many experiences: opening, bulk insertion, retrieval.
//
//   memory [EXPERIENCES [FILE]]     default 100000, in a file that is removed; texts are drawn with a printed seed
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "base/files.hpp"
#include "figures.hpp"
#include "memory/knowledge_file.hpp"
#include "memory_draw.hpp"

int main(int argc, char** argv) {
  using namespace accelopt;  // NOLINT(google-build-using-namespace)
  using bench::Clock, bench::drawn_experience, bench::kBatch, bench::kSeed;
  using bench::must, bench::seconds_since;
  const int count = argc > 1 ? bench::count_of(argv[1], "memory [EXPERIENCES [FILE]]") : 100'000;
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
  bench::report_retrieval(*store, bench::kModel, 50, figures);
  bench::report_retrieval(*store, bench::kRecipes, 50, figures);
  return figures.exit_status();
}
