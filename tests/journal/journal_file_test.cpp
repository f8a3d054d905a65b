// SPDX-License-Identifier: Apache-2.0
// What only the journal in a folder can do wrong: files of others, damage, rights, locks and full disks.
#include <grp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include <functional>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "base/files.hpp"
#include "journal/samples.hpp"
#include "journal/sqlite_journal.hpp"

namespace accelopt::journal {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;

class JournalFile : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = base::TemporaryFolder::create("accelopt-journal");
    ASSERT_TRUE(folder) << folder.error().message;
    folder_.emplace(std::move(*folder));
  }

  [[nodiscard]] fs::path workspace() const { return folder_->path() / "w"; }
  [[nodiscard]] fs::path file() const { return workspace() / "accelopt.db"; }

  void make_journal() {
    auto journal = open_journal(workspace());
    ASSERT_TRUE(journal) << journal.error().message;
    ASSERT_TRUE((*journal)->create_run(sample_run("r1")));
    ASSERT_TRUE((*journal)->record_step("r1", sample_step(0, "plan", "in", "text")));
    ASSERT_TRUE((*journal)->record_step("r1", sample_step(1, "chat", "in", std::string(20'000, 'x'))));
  }

  void sql(const char* text) {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(file().c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, text, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
    sqlite3_close(database);
  }

  /// Opening gives this error, whose message names the file, and leaves the file as it was.
  void expect_refused(ErrorCode code, std::string_view reason) {
    const std::string before = base::read_file(file()).value_or("");
    for (const Access access : {Access::read_write, Access::read_only}) {
      const auto journal = open_journal(workspace(), access);
      ASSERT_FALSE(journal);
      EXPECT_EQ(journal.error().code, code) << journal.error().message;
      EXPECT_NE(journal.error().message.find(file().string()), std::string::npos) << journal.error().message;
      EXPECT_NE(journal.error().message.find(reason), std::string::npos) << journal.error().message;
      EXPECT_EQ(base::read_file(file()).value_or("?"), before);
      EXPECT_FALSE(fs::exists(file().string() + "-wal"));
    }
  }

  /// Exit status of the code, run in a process that may not do everything.
  int run_unprivileged(const std::function<int()>& code) {
    const pid_t child = ::fork();
    if (child == 0) {
      constexpr uid_t kNobody = 65534;
      const bool dropped =
          ::geteuid() != 0 || (::setgroups(0, nullptr) == 0 && ::setgid(kNobody) == 0 && ::setuid(kNobody) == 0);
      ::_exit(dropped ? code() : 99);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  std::optional<base::TemporaryFolder> folder_;
};

TEST_F(JournalFile, WhatWasWrittenIsThereAfterReopening) {
  make_journal();
  EXPECT_TRUE(fs::is_directory(workspace() / "objects"));
  for (const Access access : {Access::read_only, Access::read_write}) {
    const auto journal = open_journal(workspace(), access);
    ASSERT_TRUE(journal) << journal.error().message;
    const auto steps = (*journal)->steps("r1");
    ASSERT_TRUE(steps) << steps.error().message;
    ASSERT_EQ(steps->size(), 2U);
    EXPECT_EQ((*steps)[1].output, std::string(20'000, 'x'));
  }
}

TEST_F(JournalFile, BigOutputsLieInObjectsAndSmallOnesDoNot) {
  make_journal();
  std::size_t objects = 0;
  for (const auto& entry : fs::recursive_directory_iterator(workspace() / "objects")) {
    if (!entry.is_regular_file()) continue;
    ++objects;
    EXPECT_EQ(entry.path().parent_path().filename().string().size(), 2U);
    EXPECT_EQ(entry.path().filename().string().size(), 62U);
    EXPECT_EQ(entry.file_size(), 20'002U);  // the JSON string with its quotes
  }
  EXPECT_EQ(objects, 1U);
}

TEST_F(JournalFile, ReadingNeedsAJournal) {
  const auto journal = open_journal(workspace(), Access::read_only);
  ASSERT_FALSE(journal);
  EXPECT_EQ(journal.error().code, ErrorCode::not_found);
  EXPECT_NE(journal.error().message.find(file().string()), std::string::npos);
  EXPECT_FALSE(fs::exists(workspace()));
  ASSERT_TRUE(base::make_folders(workspace()));
  ASSERT_TRUE(base::write_file(file(), ""));
  EXPECT_EQ(open_journal(workspace(), Access::read_only).error().code, ErrorCode::not_found);
  EXPECT_TRUE(open_journal(workspace()));  // an empty file is made a journal
}

TEST_F(JournalFile, AReadOnlyJournalRefusesToWrite) {
  make_journal();
  auto journal = open_journal(workspace(), Access::read_only);
  ASSERT_TRUE(journal);
  EXPECT_EQ((*journal)->create_run(sample_run("r2")).error().code, ErrorCode::permission_denied);
  EXPECT_EQ((*journal)->record_step("r1", sample_step(9, "plan", "in", "x")).error().code,
            ErrorCode::permission_denied);
  EXPECT_EQ((*journal)->store("new").error().code, ErrorCode::permission_denied);
}

TEST_F(JournalFile, ANewerVersionIsRefusedAndUntouched) {
  make_journal();
  sql("PRAGMA user_version = 99");
  expect_refused(ErrorCode::corrupt, "written by a newer accelopt (journal version 99, this one knows 8)");
}

TEST_F(JournalFile, FilesOfOthersAreRefusedAndUntouched) {
  ASSERT_TRUE(base::make_folders(workspace()));
  sql("CREATE TABLE notes(text)");
  expect_refused(ErrorCode::corrupt, "this is no accelopt journal");
  fs::remove(file());
  sql("CREATE TABLE notes(text); PRAGMA application_id = 12345");
  expect_refused(ErrorCode::corrupt, "this is no accelopt journal");
  fs::remove(file());
  ASSERT_TRUE(base::write_file(file(), "a shopping list\n"));
  expect_refused(ErrorCode::corrupt, "this is no accelopt journal");
  ASSERT_TRUE(base::write_file(file(), std::string(5000, 'x')));
  expect_refused(ErrorCode::corrupt, "this is no accelopt journal");
}

TEST_F(JournalFile, ADamagedDatabaseIsAnErrorAndNoCrash) {
  make_journal();
  std::string bytes = base::read_file(file()).value_or("");
  ASSERT_GT(bytes.size(), 8192U);
  ASSERT_TRUE(base::write_file(file(), bytes.substr(0, 200)));
  expect_refused(ErrorCode::corrupt, "");
  for (std::size_t i = 4096; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 37);
  ASSERT_TRUE(base::write_file(file(), bytes));
  auto journal = open_journal(workspace());
  const auto code = journal ? (*journal)->list_runs().error().code : journal.error().code;
  EXPECT_EQ(code, ErrorCode::corrupt);
}

TEST_F(JournalFile, ADamagedObjectIsAnError) {
  make_journal();
  auto journal = open_journal(workspace());
  ASSERT_TRUE(journal);
  for (const auto& entry : fs::recursive_directory_iterator(workspace() / "objects")) {
    if (!entry.is_regular_file()) continue;
    ASSERT_TRUE(base::write_file(entry.path(), std::string(20'002, 'z')));
  }
  const auto damaged = (*journal)->steps("r1");
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().code, ErrorCode::corrupt);
  fs::remove_all(workspace() / "objects");
  const auto absent = (*journal)->steps("r1");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, ErrorCode::corrupt);
}

TEST_F(JournalFile, AnObjectThatWasCutShortIsWrittenAgain) {
  auto journal = open_journal(workspace());
  ASSERT_TRUE(journal);
  const std::string whole(20'000, 'w');
  const auto hash = (*journal)->store(whole);
  ASSERT_TRUE(hash);
  const fs::path object = workspace() / "objects" / hash->substr(0, 2) / hash->substr(2);
  ASSERT_TRUE(base::write_file(object, "who"));
  EXPECT_EQ((*journal)->load(*hash).error().code, ErrorCode::corrupt);
  ASSERT_TRUE((*journal)->store(whole));
  EXPECT_EQ((*journal)->load(*hash).value_or(""), whole);
}

TEST_F(JournalFile, ADamagedTextIsAnError) {
  const auto journal = open_journal(workspace());
  ASSERT_TRUE(journal);
  const auto hash = (*journal)->store("small");
  ASSERT_TRUE(hash);
  EXPECT_EQ((*journal)->load(*hash).value_or(""), "small");
  EXPECT_FALSE(fs::exists(workspace() / "objects" / hash->substr(0, 2))) << "it is no file";
  sql("UPDATE texts SET bytes = 'other'");
  EXPECT_EQ((*journal)->load(*hash).error().code, ErrorCode::corrupt);
}

TEST_F(JournalFile, ALockedDatabaseIsUnavailableAfterTheWait) {
  make_journal();
  auto journal = open_sqlite_journal(workspace(), {.busy_timeout = std::chrono::milliseconds(30)});
  ASSERT_TRUE(journal);
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(file().c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  const auto blocked = (*journal)->record_step("r1", sample_step(5, "plan", "in", "x"));
  ASSERT_FALSE(blocked);
  EXPECT_EQ(blocked.error().code, ErrorCode::unavailable);
  EXPECT_NE(blocked.error().message.find(file().string() + ": another program holds its lock"), std::string::npos);
  EXPECT_EQ((*journal)->create_run(sample_run("r2")).error().code, ErrorCode::unavailable);
  EXPECT_EQ((*journal)->steps("r1")->size(), 2U);  // reading goes on
  sqlite3_close(other);
  EXPECT_TRUE((*journal)->record_step("r1", sample_step(5, "plan", "in", "x")));
}

TEST_F(JournalFile, AStepThatIsLost_IsToldToItsRunUntilThatEnds) {
  make_journal();
  auto journal = open_sqlite_journal(workspace(), {.busy_timeout = std::chrono::milliseconds(30)});
  ASSERT_TRUE(journal);
  ASSERT_TRUE((*journal)->create_run(sample_run("r2")));
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(file().c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  ASSERT_TRUE((*journal)->record_soon("r1", written(sample_step(5, "plan", "in", "x"))));
  const auto told = (*journal)->settle("r1");
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().code, ErrorCode::io) << "nobody takes it for bad luck: " << told.error().message;
  EXPECT_EQ((*journal)->settle("r1").error().message, told.error().message);
  EXPECT_FALSE((*journal)->record_soon("r1", written(sample_step(6, "plan", "in", "x"))));
  EXPECT_TRUE((*journal)->settle("r2"));
  EXPECT_EQ((*journal)->find_step("r1", sample_step(5, "plan", "in", "x").key, "in")->has_value(), false);
  sqlite3_close(other);
  EXPECT_FALSE((*journal)->finish_run("r1", model::RunStatus::done,
                                      std::optional<base::Json>(std::in_place, base::Json::object()), ""))
      << "it has a hole";
  EXPECT_TRUE((*journal)->finish_run("r1", model::RunStatus::failed, std::nullopt, ""));
  EXPECT_TRUE((*journal)->record_soon("r1", written(sample_step(5, "plan", "in", "x"))));
  EXPECT_TRUE((*journal)->settle("r1"));
  EXPECT_EQ((*journal)->steps("r1")->size(), 3U);
}

TEST_F(JournalFile, AfterARunWasLeft_WhatAnotherProcessAddsIsFound) {
  make_journal();
  const auto journal = open_journal(workspace());
  ASSERT_TRUE(journal);
  const StepRecord added = sample_step(6, "plan", "in", "x");
  ASSERT_TRUE((*journal)->record_soon("r1", written(sample_step(5, "plan", "in", "x"))));
  EXPECT_FALSE((*journal)->find_step("r1", added.key, "in")->has_value());
  ASSERT_TRUE((*journal)->finish_run("r1", model::RunStatus::waiting, std::nullopt, ""));
  ASSERT_TRUE((*open_journal(workspace()))->record_step("r1", added));
  EXPECT_TRUE((*journal)->find_step("r1", added.key, "in")->has_value());
}

TEST_F(JournalFile, AFolderThatMayNotBeWrittenIsRefused) {
  make_journal();
  ASSERT_EQ(::chmod(workspace().parent_path().c_str(), 0755), 0);
  ASSERT_EQ(::chmod(workspace().c_str(), 0555), 0);
  ASSERT_EQ(::chmod(file().c_str(), 0444), 0);
  const int status = run_unprivileged([&] {
    const auto writing = open_journal(workspace());
    if (writing || writing.error().code != ErrorCode::permission_denied) return 1;
    const auto says_what_to_do = [&](const base::Error& error) {
      return error.message.find(workspace().string()) != std::string::npos &&
             error.message.find("make it writable, or choose another workspace with --workspace DIR") !=
                 std::string::npos;
    };
    if (!says_what_to_do(writing.error())) return 2;
    const auto elsewhere = open_journal(workspace() / "sub");
    if (elsewhere || elsewhere.error().code != ErrorCode::permission_denied) return 3;
    if (!says_what_to_do(elsewhere.error())) return 6;
    // Reading needs no right to write, although the journal keeps a log beside the file.
    const auto reading = open_journal(workspace(), Access::read_only);
    if (!reading) return 4;
    const auto steps = (*reading)->steps("r1");
    return steps && steps->size() == 2 ? 0 : 5;
  });
  ASSERT_EQ(::chmod(workspace().c_str(), 0755), 0);
  EXPECT_EQ(status, 0);
}

TEST_F(JournalFile, WritableFileInReadOnlyFolder_IsRefused) {
  make_journal();
  ASSERT_EQ(::chmod(workspace().parent_path().c_str(), 0755), 0);
  ASSERT_EQ(::chmod(file().c_str(), 0666), 0);
  ASSERT_EQ(::chmod(workspace().c_str(), 0555), 0);
  const int status = run_unprivileged([&] {
    // The log beside the file cannot be made: at the latest the first write says so.
    auto journal = open_journal(workspace());
    const auto done = journal ? (*journal)->record_step("r1", sample_step(9, "plan", "in", "x"))
                              : base::Result<void>(tl::make_unexpected(journal.error()));
    if (done || done.error().code != ErrorCode::permission_denied) return 1;
    return done.error().message.find("--workspace DIR") == std::string::npos ? 2 : 0;
  });
  ASSERT_EQ(::chmod(workspace().c_str(), 0755), 0);
  EXPECT_EQ(status, 0);
}

TEST_F(JournalFile, AFileThatMayNotBeReadIsRefusedWithTheNextStep) {
  make_journal();
  ASSERT_EQ(::chmod(workspace().parent_path().c_str(), 0755), 0);
  ASSERT_EQ(::chmod(file().c_str(), 0000), 0);
  const int status = run_unprivileged([&] {
    for (const Access access : {Access::read_write, Access::read_only}) {
      const auto journal = open_journal(workspace(), access);
      if (journal || journal.error().code != ErrorCode::permission_denied) return 1;
      if (journal.error().message.find("--workspace DIR") == std::string::npos) return 2;
    }
    return 0;
  });
  EXPECT_EQ(status, 0);
}

TEST_F(JournalFile, ALockThatIsHeldFromTheStartIsUnavailableAndNothingIsLost) {
  make_journal();
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(file().c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr), SQLITE_OK);
  auto journal = open_sqlite_journal(workspace(), {.busy_timeout = std::chrono::milliseconds(30)});
  const auto done =
      journal ? (*journal)->create_run(sample_run("r2")) : base::Result<void>(tl::make_unexpected(journal.error()));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::unavailable);
  EXPECT_NE(done.error().message.find("end that program or wait for it, then resume"), std::string::npos)
      << done.error().message;
  sqlite3_close(other);
  auto again = open_journal(workspace());
  ASSERT_TRUE(again);
  EXPECT_EQ((*again)->steps("r1")->size(), 2U);
}

/// Records steps until one is refused. Exit status: 100 + how many were recorded, or the number of a check that failed.
int fill(const fs::path& folder) {
  auto journal = open_journal(folder);
  if (!journal) return 1;
  if (!(*journal)->create_run(sample_run("r2"))) return 2;
  int recorded = 0;
  for (;; ++recorded) {
    const auto done = (*journal)->record_step("r2", sample_step(recorded, "chat", "in", std::string(8000, 'x')));
    if (done) continue;
    if (done.error().code != ErrorCode::exhausted) {
      std::fprintf(stderr, "%s\n", done.error().message.c_str());
      return 3;
    }
    if (done.error().message.find("nothing that was recorded is lost") == std::string::npos) return 4;
    break;
  }
  // A text that becomes an object fails alike.
  const auto object = (*journal)->store(std::string(1 << 20, 'y'));
  if (object) return 5;
  const auto steps = (*journal)->steps("r2");
  if (!steps || steps->size() != static_cast<std::size_t>(recorded)) return 6;
  return recorded < 5 || recorded > 100 ? 7 : 100 + recorded;
}

TEST_F(JournalFile, AFileThatMayNotGrowLosesNothingThatWasRecorded) {
  make_journal();
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{200'000, 200'000};
    ::_exit(::setrlimit(RLIMIT_FSIZE, &limit) == 0 ? fill(workspace()) : 99);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  ASSERT_GE(WEXITSTATUS(status), 100) << "the child stopped at check " << WEXITSTATUS(status);
  auto journal = open_journal(workspace());
  ASSERT_TRUE(journal) << journal.error().message;
  EXPECT_EQ((*journal)->steps("r2")->size(), static_cast<std::size_t>(WEXITSTATUS(status) - 100));
  EXPECT_EQ((*journal)->steps("r1")->size(), 2U);
  EXPECT_TRUE((*journal)->record_step("r2", sample_step(5000, "chat", "in", "after")));
}

TEST_F(JournalFile, AFullDiskLosesNothingThatWasRecorded) {
  ASSERT_TRUE(base::make_folders(workspace()));
  constexpr int kNoMount = 98;
  const pid_t child = ::fork();
  if (child == 0) {
    // A small disk of its own, which goes with the process.
    const bool mounted = (::unshare(CLONE_NEWNS) == 0 || ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0) &&
                         ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                         ::mount("tmpfs", workspace().c_str(), "tmpfs", 0, "size=512k") == 0;
    if (!mounted) ::_exit(kNoMount);
    const int result = fill(workspace());
    if (result < 100) ::_exit(result);
    std::error_code ignored;
    fs::remove_all(workspace() / "objects", ignored);
    auto journal = open_journal(workspace());
    if (!journal) ::_exit(8);
    const auto steps = (*journal)->steps("r2");
    ::_exit(steps && steps->size() == static_cast<std::size_t>(result - 100) ? result : 9);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kNoMount) GTEST_SKIP() << "this machine lets the test mount no small disk";
  EXPECT_GE(WEXITSTATUS(status), 100) << "the child stopped at check " << WEXITSTATUS(status);
}

}  // namespace
}  // namespace accelopt::journal
