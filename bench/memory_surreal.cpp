// SPDX-License-Identifier: Apache-2.0
// The knowledge store on a SurrealDB server with many experiences: insertion and retrieval. The server is the test
// server (tests/fakes/surreal: the real engine, its RocksDB storage), or the one of an address; that database must be
// empty, and is filled.
//
//   memory_surreal [EXPERIENCES [surreal://user@host:8000/namespace/database]]      default 20000; the password from
//                                                                                   ACCELOPT_SURREAL_PASSWORD
#include <algorithm>
#include <memory>
#include <vector>

#include "base/files.hpp"
#include "fakes/surreal/surreal_server.hpp"
#include "figures.hpp"
#include "memory/surreal/store.hpp"
#include "memory_draw.hpp"

int main(int argc, char** argv) {
  using namespace accelopt;  // NOLINT(google-build-using-namespace)
  constexpr const char* kUsage = "memory_surreal [EXPERIENCES [surreal://user@host:8000/namespace/database]]";
  const int count = argc > 1 ? bench::count_of(argv[1], kUsage) : 20'000;
  const auto folder = bench::must(base::TemporaryFolder::create("accelopt-bench-memory"));
  std::unique_ptr<fakes::SurrealServer> server;
  std::string place = argc > 2 ? argv[2] : "";
  const char* variable = std::getenv("ACCELOPT_SURREAL_PASSWORD");
  std::string password = variable != nullptr ? variable : "";
  if (place.empty()) {
    if (const std::string reason = fakes::SurrealServer::missing(); !reason.empty()) {
      std::printf("SKIP %s\n", reason.c_str());
      return 0;
    }
    server = std::make_unique<fakes::SurrealServer>((folder.path() / "data").string());
    place = server->address();
    password = fakes::SurrealServer::kPassword;
  }
  const auto address = bench::must(memory::surreal::parse_address(place));
  std::printf("%d experiences, seed %d\n", count, static_cast<int>(bench::kSeed));
  {
    const auto store = bench::must(memory::surreal::open_store(address, password));
    double inserting = 0;
    for (int at = 0; at < count; at += bench::kBatch) {
      std::vector<model::Experience> batch;
      for (int i = at; i < std::min(count, at + bench::kBatch); ++i) batch.push_back(bench::drawn_experience(i));
      const auto start = bench::Clock::now();
      bench::must(store->insert(batch, memory::Forgotten::stays));
      inserting += bench::seconds_since(start);
    }
    std::printf("insertion %.0f a second\n", count / inserting);
  }
  bench::Figures figures;
  // The first retrieval of a process reads what it chooses from: the cards of all experiences of its language and
  // target, or what another process has left of those; later ones read what changed since.
  std::unique_ptr<memory::KnowledgeStore> store;
  for (const char* whose : {"the first process", "the next process"}) {
    const auto start = bench::Clock::now();
    store = bench::must(memory::surreal::open_store(address, password));
    const auto first = bench::Clock::now();
    bench::must(store->retrieve(bench::drawn_query(bench::kQueries)));
    std::printf("%s: opening %.2f s, first retrieval %.0f ms\n", whose,
                std::chrono::duration<double>(first - start).count(), 1000 * bench::seconds_since(first));
  }
  bench::report_retrieval(*store, bench::kModel, 250, figures);
  bench::report_retrieval(*store, bench::kRecipes, 250, figures);
  return figures.exit_status();
}
