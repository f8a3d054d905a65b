// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

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

TEST(SurrealSearch, Again_ReadsOnlyWhatChanged) {
  if (const std::string reason = SurrealServer::missing(); !reason.empty()) GTEST_SKIP() << reason;
  const SurrealServer server;
  const Address address = parse_address(server.address()).value();
  Options options;
  options.overlap = std::chrono::microseconds(0);
  const auto store = open_store(address, SurrealServer::kPassword, options).value();
  const auto add = [](KnowledgeStore& to, const std::string& language, const std::string& title) {
    model::Experience it;
    it.title = title;
    it.strategy = "s";
    it.language = language;
    EXPECT_EQ(to.insert({&it, 1}, Forgotten::stays).value_or(0), 1);
  };
  const auto found = [&](const std::string& text) {
    std::vector<std::string> titles;
    const std::vector<Item> items = store->search(text, {}).value();
    for (const Item& item : items) titles.push_back(item.experience.title);
    std::ranges::sort(titles);
    return titles;
  };
  using Titles = std::vector<std::string>;
  add(*store, "cpp", "tile one");
  add(*store, "triton", "tile two");
  EXPECT_EQ(found("tile"), (Titles{"tile one", "tile two"}));
  Client other(address, SurrealServer::kPassword, {});
  ASSERT_TRUE(other.connect());
  ASSERT_TRUE(other.ask("DELETE card", base::Json::object()));  // of which nothing has to be read again
  const auto second = open_store(address, SurrealServer::kPassword).value();
  for (const char* language : {"", "cpp", "cuda", "triton", "zig"})
    add(*second, language, std::string("tile ") + language);
  EXPECT_EQ(found("tile"),
            (Titles{"tile ", "tile cpp", "tile cuda", "tile one", "tile triton", "tile two", "tile zig"}));
  ASSERT_TRUE(second->edit(second->search("zig", {})->front().experience.id, [](const model::Experience& was) {
    model::Experience now = was;
    now.language = "cpp";
    now.title = "tile moved";
    return base::Result<model::Experience>(now);
  }));
  EXPECT_EQ(found("zig"), Titles());
  EXPECT_EQ(found("moved"), Titles{"tile moved"});
}

INSTANTIATE_TEST_SUITE_P(Surreal, StoreContract, testing::Values(StoreMaker{"surreal", make_place}), name_of);

}  // namespace
}  // namespace accelopt::memory::surreal
