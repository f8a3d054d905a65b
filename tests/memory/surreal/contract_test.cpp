// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "fakes/surreal/surreal_server.hpp"
#include "memory/store_contract.hpp"
#include "memory/surreal/store.hpp"

namespace accelopt::memory::surreal {
namespace {

using fakes::SurrealServer;

class SurrealPlace final : public StorePlace {
 public:
  base::Result<std::unique_ptr<KnowledgeStore>> open() override {
    TRY_ASSIGN(const Address address, parse_address(server_.address()));
    return open_store(address, SurrealServer::kPassword);
  }

 private:
  SurrealServer server_;
};

std::unique_ptr<StorePlace> make_place() {
  if (const std::string reason = SurrealServer::missing(); !reason.empty()) {
    std::fprintf(stderr, "SurrealDB: %s\n", reason.c_str());
    return nullptr;
  }
  return std::make_unique<SurrealPlace>();
}

INSTANTIATE_TEST_SUITE_P(Surreal, StoreContract, testing::Values(StoreMaker{"surreal", make_place}), name_of);

}  // namespace
}  // namespace accelopt::memory::surreal
