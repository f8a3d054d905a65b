// SPDX-License-Identifier: Apache-2.0
#include "journal/suite_log.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "base/files.hpp"
#include "journal/samples.hpp"

namespace accelopt::journal {
namespace {

using base::ErrorCode;

class SuiteLogTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_.emplace(std::move(*base::TemporaryFolder::create("accelopt-suites")));
    log_ = open();
  }

  [[nodiscard]] std::filesystem::path workspace() const {
    const auto made = base::make_folders(folder_->path() / "w");
    EXPECT_TRUE(made);
    return folder_->path() / "w";
  }

  [[nodiscard]] std::unique_ptr<SuiteLog> open(Access access = Access::read_write) const {
    auto log = open_suite_log(workspace(), access);
    EXPECT_TRUE(log) << log.error().message;
    return log ? std::move(*log) : nullptr;
  }

  static SuiteRun sample(const std::string& id) {
    return {.id = id,
            .suite = "/suites/small",
            .created = "2026-11-21T10:00:00Z",
            .program_version = "1.2.3",
            .settings = {{"beam", 3}, {"agents", {{"planner", "recipes"}}}},
            .tasks = {"silu", "matmul"},
            .process = this_process()};
  }

  std::optional<base::TemporaryFolder> folder_;
  std::unique_ptr<SuiteLog> log_;
};

TEST_F(SuiteLogTest, ASuiteRunIsKeptWholeAndListedOldestFirst) {
  ASSERT_TRUE(log_->begin(sample("s1")));
  ASSERT_TRUE(log_->begin(sample("s2")));
  ASSERT_TRUE(log_->enter("s1", {.task = "silu", .run = "r1"}));
  ASSERT_TRUE(log_->enter("s2", {.task = "silu", .error = "no such file"}));
  ASSERT_TRUE(log_->enter("s1", {.task = "matmul", .run = "r2"}));
  ASSERT_TRUE(log_->enter("s1", {.task = "silu", .run = "r1", .error = "no device"}));
  ASSERT_TRUE(log_->end("s1", "done"));

  const auto runs = open(Access::read_only)->list();
  ASSERT_TRUE(runs) << runs.error().message;
  ASSERT_EQ(runs->size(), 2U);
  const SuiteRun& one = runs->at(0);
  EXPECT_EQ(one.id, "s1");
  EXPECT_EQ(one.suite, "/suites/small");
  EXPECT_EQ(one.created, "2026-11-21T10:00:00Z");
  EXPECT_EQ(one.program_version, "1.2.3");
  EXPECT_EQ(one.settings, sample("s1").settings);
  EXPECT_EQ(one.state, "done");
  EXPECT_EQ(one.tasks, (std::vector<std::string>{"silu", "matmul"}));
  EXPECT_EQ(one.process.born, this_process().born);
  ASSERT_EQ(one.entries.size(), 2U);
  EXPECT_EQ(one.entries[0].task, "silu") << "in the order in which they began";
  EXPECT_EQ(one.entries[0].error, "no device");
  EXPECT_EQ(one.entries[1].run, "r2");
  EXPECT_EQ(runs->at(1).state, "running");
  EXPECT_EQ(runs->at(1).entries[0].run, "");
}

TEST_F(SuiteLogTest, AnIdIsUsedOnceAndUnknownOnesAreSaid) {
  ASSERT_TRUE(log_->begin(sample("s1")));
  EXPECT_EQ(log_->begin(sample("s1")).error().code, ErrorCode::already_exists);
  EXPECT_EQ(log_->enter("s9", {.task = "silu"}).error().code, ErrorCode::not_found);
  EXPECT_EQ(log_->end("s9", "done").error().code, ErrorCode::not_found);
}

TEST_F(SuiteLogTest, WhatAKilledProcessHadEnteredIsThere) {
  const pid_t child = ::fork();
  if (child == 0) {
    auto log = open_suite_log(workspace(), Access::read_write);
    if (log && (*log)->begin(sample("s1")) && (*log)->enter("s1", {.task = "silu", .run = "r1"})) ::raise(SIGKILL);
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  const auto runs = log_->list();
  ASSERT_TRUE(runs);
  ASSERT_EQ(runs->size(), 1U);
  EXPECT_EQ(runs->front().entries.size(), 1U);
  const Process& process = runs->front().process;
  EXPECT_EQ(is_alive({.pid = child, .host = process.host, .born = process.born}), Alive::no);
}

TEST_F(SuiteLogTest, SeveralProcessesWriteAtOnce) {
  constexpr int kWriters = 4;
  constexpr int kEach = 10;
  std::vector<pid_t> children;
  for (int writer = 0; writer < kWriters; ++writer) {
    children.push_back(::fork());
    if (children.back() != 0) continue;
    auto log = open_suite_log(workspace(), Access::read_write);
    bool good = log.has_value();
    for (int i = 0; good && i < kEach; ++i) {
      const std::string id = "s" + std::to_string(writer) + "." + std::to_string(i);
      good = (*log)->begin(sample(id)) && (*log)->enter(id, {.task = "silu", .run = id}) && (*log)->end(id, "done");
    }
    ::_exit(good ? 0 : 1);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  const auto runs = log_->list();
  ASSERT_TRUE(runs);
  EXPECT_EQ(runs->size(), static_cast<std::size_t>(kWriters * kEach));
  for (const SuiteRun& run : *runs) EXPECT_TRUE(run.state == "done" && run.entries.size() == 1) << run.id;
}

TEST_F(SuiteLogTest, AnOlderJournalHasNoneAndIsUpgradedWhenItIsWritten) {
  log_.reset();
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open((workspace() / "accelopt.db").c_str(), &handle), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(handle,
                         "DROP TABLE suite_settings; DROP TABLE suite_entries; DROP TABLE suite_runs; DROP TABLE "
                         "refactorings; DROP TABLE texts; DROP TABLE reviews; PRAGMA user_version = 3",
                         nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(handle);
  EXPECT_TRUE(open(Access::read_only)->list()->empty());
  log_ = open();
  EXPECT_TRUE(log_->begin(sample("s1")));
  EXPECT_EQ(open(Access::read_only)->list()->size(), 1U);
}

TEST_F(SuiteLogTest, OfAnOlderSuiteRunTheSettingsAreUnknown) {
  ASSERT_TRUE(log_->begin(sample("s1")));
  log_.reset();
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open((workspace() / "accelopt.db").c_str(), &handle), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(handle,
                         "DROP TABLE suite_settings; DROP TABLE refactorings; DROP TABLE texts; DROP TABLE reviews; "
                         "PRAGMA user_version = 4",
                         nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(handle);
  const auto as_it_was = open(Access::read_only)->list();
  ASSERT_TRUE(as_it_was) << as_it_was.error().message;
  EXPECT_TRUE(as_it_was->at(0).settings.is_null());
  log_ = open();
  ASSERT_TRUE(log_->begin(sample("s2")));
  const auto runs = log_->list();
  ASSERT_EQ(runs->size(), 2U);
  EXPECT_TRUE(runs->at(0).settings.is_null());
  EXPECT_EQ(runs->at(1).settings, sample("s2").settings);
}

}  // namespace
}  // namespace accelopt::journal
