// SPDX-License-Identifier: Apache-2.0
#include "memory/knowledge_file.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/sqlite.hpp"
#include "journal/held_locks.hpp"
#include "memory/sanitation.hpp"
#include "memory/store_contract.hpp"

namespace accelopt::memory {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;

class FilePlace final : public StorePlace {
 public:
  explicit FilePlace(base::TemporaryFolder folder) : folder_(std::move(folder)) {}
  base::Result<std::unique_ptr<KnowledgeStore>> open() override {
    return open_knowledge_file(folder_.path() / "deep" / "knowledge.db");
  }

 private:
  base::TemporaryFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(File, StoreContract,
                         testing::Values(StoreMaker{"sqlite",
                                                    []() -> std::unique_ptr<StorePlace> {
                                                      auto folder = base::TemporaryFolder::create("accelopt-memory");
                                                      if (!folder) return nullptr;
                                                      return std::make_unique<FilePlace>(std::move(*folder));
                                                    }}),
                         name_of);

class KnowledgeFileTest : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = base::TemporaryFolder::create("accelopt-memory");
    ASSERT_TRUE(folder) << folder.error().message;
    folder_.emplace(std::move(*folder));
  }
  [[nodiscard]] fs::path file() const { return folder_->path() / "knowledge.db"; }

  void fill(int count) {
    auto store = open_knowledge_file(file());
    ASSERT_TRUE(store) << store.error().message;
    std::vector<model::Experience> many;
    for (int i = 0; i < count; ++i) many.push_back(sample_experience(i));
    ASSERT_TRUE((*store)->insert(many, Forgotten::stays));
  }

  /// That opening fails as corrupt with `word` in its message, and leaves the file as it is.
  void expect_refused(const std::string& word) {
    const std::string before = base::read_file(file()).value();
    const auto opened = open_knowledge_file(file());
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, ErrorCode::corrupt);
    EXPECT_NE(opened.error().message.find(word), std::string::npos) << opened.error().message;
    EXPECT_NE(opened.error().message.find(file().string()), std::string::npos);
    EXPECT_EQ(base::read_file(file()).value(), before);
    EXPECT_FALSE(fs::exists(file().string() + "-wal"));
  }

 private:
  std::optional<base::TemporaryFolder> folder_;
};

TEST_F(KnowledgeFileTest, KeepsItsLocksWhateverElseIsOpenedAndClosed) {
  const auto store = open_knowledge_file(file());
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_TRUE(journal::locks_are_held(file()));
  for (const auto access : {KnowledgeFileOptions::Access::read_only, KnowledgeFileOptions::Access::read_write}) {
    EXPECT_TRUE(open_knowledge_file(file(), {.access = access}));
    EXPECT_TRUE(journal::locks_are_held(file()));
  }
  EXPECT_FALSE(open_knowledge_file(file() / "x"));
  EXPECT_TRUE(journal::locks_are_held(file()));
}

TEST_F(KnowledgeFileTest, RefusesWhatIsNoStore) {
  ASSERT_TRUE(base::write_file(file(),
                               "these are my notes, and they are longer than a header of one hundred bytes, as "
                               "everybody can see who counts them"));
  expect_refused("no knowledge store");
}

TEST_F(KnowledgeFileTest, RefusesADatabaseOfAnotherProgram) {
  {
    auto other = base::Database::open(file(), base::OpenMode::create, std::chrono::seconds(1));
    ASSERT_TRUE(other);
    ASSERT_TRUE((*other)->execute("CREATE TABLE mine(x)"));
  }
  expect_refused("no knowledge store");
}

TEST_F(KnowledgeFileTest, RefusesANewerVersion) {
  fill(1);
  {
    auto other = base::Database::open(file(), base::OpenMode::create, std::chrono::seconds(1));
    ASSERT_TRUE(other);
    ASSERT_TRUE((*other)->execute("PRAGMA user_version = 99; PRAGMA journal_mode = DELETE"));
  }
  expect_refused("newer accelopt");
}

TEST_F(KnowledgeFileTest, AnOlderVersionIsBroughtUpToDateAlsoToBeRead) {
  fill(2);
  {
    auto other = base::Database::open(file(), base::OpenMode::create, std::chrono::seconds(1));
    ASSERT_TRUE(other);
    ASSERT_TRUE((*other)->execute("DROP TABLE credit_events; DROP TABLE forgotten; PRAGMA user_version = 1"));
  }
  const auto store = open_knowledge_file(file(), {.access = KnowledgeFileOptions::Access::read_only});
  ASSERT_TRUE(store) << store.error().message;
  const auto stats = (*store)->stats();
  ASSERT_TRUE(stats) << stats.error().message;
  EXPECT_EQ(stats->experiences, 2);
  EXPECT_EQ(stats->credit_events, 0);
}

TEST_F(KnowledgeFileTest, RefusesAFileThatWasCutShort) {
  fill(50);
  const std::string whole = base::read_file(file()).value();
  ASSERT_TRUE(base::write_file(file(), whole.substr(0, whole.size() / 2)));
  expect_refused("cut short");
}

TEST_F(KnowledgeFileTest, SaysWhatToDoAboutDamageInside) {
  fill(300);
  std::string bytes = base::read_file(file()).value();
  for (std::size_t at = 4096; at < bytes.size(); ++at) bytes[at] = static_cast<char>(at * 7);
  ASSERT_TRUE(base::write_file(file(), bytes));
  const auto store = open_knowledge_file(file());
  const auto error = store ? (*store)->list({}).error() : store.error();
  EXPECT_EQ(error.code, ErrorCode::corrupt) << error.message;
  EXPECT_NE(error.message.find("untouched"), std::string::npos) << error.message;
  EXPECT_EQ(base::read_file(file()).value(), bytes);
}

TEST_F(KnowledgeFileTest, MessagesAboutAnItemKeepTheirOwnAdvice) {
  fill(40);
  auto store = open_knowledge_file(file());
  ASSERT_TRUE(store);
  EXPECT_NE((*store)->get("zz").error().message.find("`accelopt memory list`"), std::string::npos);
  EXPECT_EQ((*store)->get("").error().message.find("--knowledge"), std::string::npos);
}

TEST_F(KnowledgeFileTest, AnAbsentFileCannotBeRead) {
  const auto opened = open_knowledge_file(file(), {.access = KnowledgeFileOptions::Access::read_only});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::not_found);
  EXPECT_FALSE(fs::exists(file()));
}

TEST_F(KnowledgeFileTest, ALockThatLastsIsUnavailableAndNothingIsLost) {
  fill(1);
  auto other = base::Database::open(file(), base::OpenMode::create, std::chrono::seconds(1));
  ASSERT_TRUE(other);
  auto store = open_knowledge_file(file(), {.busy_timeout = std::chrono::milliseconds(10)});
  ASSERT_TRUE(store);
  const model::Experience second = sample_experience(2);
  {
    auto lock = base::Transaction::begin(**other);
    ASSERT_TRUE(lock);
    const auto refused = (*store)->insert({&second, 1}, Forgotten::stays);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
    EXPECT_EQ((*store)->list({})->size(), 1U);  // readers are not locked out
  }
  EXPECT_EQ((*store)->insert({&second, 1}, Forgotten::stays).value(), 1);
}

TEST_F(KnowledgeFileTest, AStoreOfTheFirstVersionIsBroughtUpToThisOne) {
  fill(3);
  {
    auto older = base::Database::open(file(), base::OpenMode::create, std::chrono::seconds(1));
    ASSERT_TRUE(older);
    ASSERT_TRUE((*older)->execute("DROP TABLE credit_events; DROP TABLE forgotten; PRAGMA user_version = 1"));
  }
  auto store = open_knowledge_file(file());
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_EQ((*store)->stats()->experiences, 3);
  EXPECT_EQ((*store)->stats()->credit_events, 0);
  EXPECT_TRUE((*store)->forget(store_ids({sample_experience(1)})[0]));
}

/// Does something to the tables behind the store's back.
void meddle(const fs::path& file, const char* sql) {
  auto other = base::Database::open(file, base::OpenMode::create, std::chrono::seconds(1));
  ASSERT_TRUE(other);
  const auto done = (*other)->execute(sql);
  ASSERT_TRUE(done) << done.error().message;
}

TEST_F(KnowledgeFileTest, RowsThatCannotBeReadStandInNobodysWay) {
  fill(450);
  meddle(file(), "UPDATE items SET experience = '{\"title\": ' WHERE number IN (1, 200, 450)");
  meddle(file(), "UPDATE items SET experience = '{\"title\": 5}' WHERE number = 201");
  meddle(file(), "UPDATE items SET suspicions = '[' WHERE number = 2");
  auto store = open_knowledge_file(file());
  ASSERT_TRUE(store) << store.error().message;
  std::vector<model::Experience> all;
  for (int i = 0; i < 450; ++i) all.push_back(sample_experience(i));
  const auto ids = store_ids(all);
  const auto expect_passed_over = [&](std::size_t count) {
    std::set<std::string> passed;
    for (const Unreadable& one : (*store)->unreadable()) {
      passed.insert(one.id);
      EXPECT_FALSE(one.reason.empty());
    }
    EXPECT_EQ(passed.size(), count);
    EXPECT_TRUE(passed.contains(ids[449]));
  };
  EXPECT_EQ((*store)->list({.limit = 0})->size(), 446U);
  expect_passed_over(4);
  EXPECT_EQ((*store)->list({.limit = 3})->size(), 2U);
  expect_passed_over(1);
  EXPECT_EQ((*store)->search("strides", {.limit = 0})->size(), 446U);
  expect_passed_over(4);
  EXPECT_TRUE((*store)->retrieve({.language = "cpp", .target = "cpu", .op_type = "matmul"}));
  EXPECT_TRUE((*store)->graph(10));
  std::size_t visited = 0;
  ASSERT_TRUE((*store)->for_each([&](const Item&) -> base::Result<void> {
    ++visited;
    return {};
  }));
  EXPECT_EQ(visited, 446U);
  expect_passed_over(4);
  const auto stats = (*store)->stats();
  ASSERT_TRUE(stats) << stats.error().message;
  EXPECT_EQ(stats->experiences, 450);
  EXPECT_EQ(stats->unreadable.size(), 4U);
  // A run's credit for one of them blocks nothing.
  const CreditEvent event{.id = "e", .experience = ids[0], .kind = CreditEvent::Kind::confirmed, .run = "r"};
  EXPECT_EQ((*store)->credit({&event, 1}).value(), 1);
  // Asked for by name it is told, and can be removed.
  const auto one = (*store)->get(ids[0]);
  ASSERT_FALSE(one);
  EXPECT_EQ(one.error().code, ErrorCode::corrupt);
  EXPECT_NE(one.error().message.find("`accelopt memory forget " + ids[0]), std::string::npos) << one.error().message;
  for (const std::size_t i : {std::size_t{0}, std::size_t{199}, std::size_t{200}, std::size_t{449}}) {
    const auto removed = (*store)->forget(ids[i]);
    ASSERT_TRUE(removed) << removed.error().message;
    EXPECT_EQ(removed->title, "");
  }
  EXPECT_TRUE((*store)->stats()->unreadable.empty());
}

TEST_F(KnowledgeFileTest, WithARowThatCannotBeReadItsKernelsGoToo) {
  fill(2);
  auto store = open_knowledge_file(file());
  ASSERT_TRUE(store);
  std::vector<SolutionRecord> records;
  for (const char* id : {"slow0", "fast0", "slow1"}) records.push_back({.id = id, .sources = base::Json::object()});
  ASSERT_TRUE((*store)->put_solutions(records));
  meddle(file(), "UPDATE items SET experience = experience || '}' WHERE number = 1");
  const auto removed = (*store)->forget(store_ids({sample_experience(0)})[0]);
  ASSERT_TRUE(removed) << removed.error().message;
  EXPECT_EQ(removed->solutions, 2);
  EXPECT_EQ((*store)->stats()->solutions, 1);
}

TEST_F(KnowledgeFileTest, AKernelThatCannotBeReadIsPassedOver) {
  fill(1);
  auto store = open_knowledge_file(file());
  ASSERT_TRUE(store);
  std::vector<SolutionRecord> records;
  for (const char* id : {"slow0", "fast0"}) records.push_back({.id = id, .sources = base::Json::object()});
  ASSERT_TRUE((*store)->put_solutions(records));
  meddle(file(), "UPDATE solutions SET sources = '{' WHERE id = 'slow0'");
  const auto found = (*store)->solutions(std::vector<std::string>{"slow0", "fast0"});
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), 1U);
  EXPECT_EQ(found->front().id, "fast0");
  ASSERT_EQ((*store)->unreadable().size(), 1U);
  EXPECT_EQ((*store)->unreadable().front().id, "kernel slow0");
}

TEST_F(KnowledgeFileTest, LostCountsOfLanguagesLoseNoExperience) {
  fill(20);
  meddle(file(), "DELETE FROM languages");
  auto store = open_knowledge_file(file());
  ASSERT_TRUE(store);
  EXPECT_EQ((*store)->list({.limit = 0})->size(), 20U);
  EXPECT_EQ((*store)->retrieve({.language = "cpp", .target = "cpu"})->size(), 20U);
  // The next insertion makes up for them.
  const model::Experience next = sample_experience(20);
  ASSERT_EQ((*store)->insert({&next, 1}, Forgotten::stays).value(), 1);
  std::int64_t age = 20;
  ASSERT_TRUE((*store)->for_each([&](const Item& item) -> base::Result<void> {
    EXPECT_EQ(item.age, age--);
    return {};
  }));
}

TEST_F(KnowledgeFileTest, WhatATextSaysOfItsOwnIdCountsForNothing) {
  fill(2);
  meddle(file(), "UPDATE items SET experience = json_set(experience, '$.id', 'ffffffffffffffff') WHERE number = 1");
  auto store = open_knowledge_file(file());
  ASSERT_TRUE(store);
  const std::string id = store_ids({sample_experience(0)})[0];
  EXPECT_EQ((*store)->get(id)->experience.id, id);
  EXPECT_EQ((*store)->list({})->back().experience.id, id);
  EXPECT_EQ((*store)->get("ffffffffffffffff").error().code, ErrorCode::not_found);
}

TEST_F(KnowledgeFileTest, AFirstPageThatIsBeingWrittenIsLookedAtAgain) {
  fill(1);
  const auto whole = base::read_file(file());
  ASSERT_TRUE(whole) << whole.error().message;
  const fs::path begun = file().string() + ".begun";
  ASSERT_TRUE(base::write_file(begun, std::string(whole->size(), '\0')));
  const std::jthread writer([&] { EXPECT_TRUE(base::write_file(begun, *whole)); });
  EXPECT_TRUE(open_knowledge_file(begun));
}

/// How long the four processes write; ACCELOPT_STRESS_SECONDS=20 is what the design asks for.
std::chrono::milliseconds stress_time() {
  const char* const seconds = std::getenv("ACCELOPT_STRESS_SECONDS");
  return std::chrono::milliseconds(seconds == nullptr ? 2000 : 1000 * std::atoi(seconds));
}

/// One process that inserts, counts credit and reads until the time is over; tells how many it inserted, or -1.
[[noreturn]] void write_until(const fs::path& file, int process, int pipe,
                              std::chrono::steady_clock::time_point deadline) {
  int inserted = 0;
  auto store = open_knowledge_file(file);
  // Each at least once: who waits for a lock among others that write without a pause may wait for long.
  while (store && (inserted == 0 || std::chrono::steady_clock::now() < deadline)) {
    // The first two of each batch are the same in all processes; the last one is this process's own.
    std::vector<model::Experience> batch{sample_experience(inserted), sample_experience(inserted + 1),
                                         sample_experience(1'000'000 * (process + 1) + inserted)};
    const CreditEvent event{.id = "p" + std::to_string(process) + " " + std::to_string(inserted),
                            .experience = store_ids({sample_experience(0)})[0],
                            .kind = CreditEvent::Kind::confirmed,
                            .run = "r"};
    const auto round = [&]() -> base::Result<void> {
      TRY((*store)->insert(batch, Forgotten::stays));
      TRY((*store)->credit({&event, 1}));
      TRY((*store)->list({.limit = 1}));
      return {};
    }();
    if (!round) {
      std::fprintf(stderr, "process %d, round %d: %s\n", process, inserted, round.error().message.c_str());
      inserted = -1;
      break;
    }
    ++inserted;
  }
  if (!store) {
    std::fprintf(stderr, "process %d: %s\n", process, store.error().message.c_str());
    inserted = -1;
  }
  const auto written = ::write(pipe, &inserted, sizeof inserted);
  ::_exit(written == sizeof inserted ? 0 : 1);
}

TEST_F(KnowledgeFileTest, FourProcessesWriteAtOnceAndNothingIsLostOrTwice) {
  constexpr int kProcesses = 4;
  const auto deadline = std::chrono::steady_clock::now() + stress_time();
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) write_until(file(), process, ends[1], deadline);
    children.push_back(child);
  }
  int most = 0;
  std::int64_t own = 0;
  for (int process = 0; process < kProcesses; ++process) {
    int inserted = 0;
    ASSERT_EQ(::read(ends[0], &inserted, sizeof inserted), static_cast<ssize_t>(sizeof inserted));
    EXPECT_GT(inserted, 0) << "a process failed";
    most = std::max(most, inserted);
    own += inserted;
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  ::close(ends[0]);
  ::close(ends[1]);
  auto store = open_knowledge_file(file());
  ASSERT_TRUE(store) << store.error().message;
  const auto stats = (*store)->stats();
  ASSERT_TRUE(stats) << stats.error().message;
  EXPECT_EQ(stats->experiences, own + most + 1);
  EXPECT_EQ(stats->credit_events, own);
  EXPECT_EQ((*store)->get(store_ids({sample_experience(0)})[0])->experience.credit.confirmed, own);
  std::set<std::int64_t> ages;
  ASSERT_TRUE((*store)->for_each([&](const Item& item) -> base::Result<void> {
    EXPECT_TRUE(ages.insert(item.age).second);
    return {};
  }));
}

}  // namespace
}  // namespace accelopt::memory
