// SPDX-License-Identifier: Apache-2.0
// A process keeps SQLite's locks on the journal whatever else it opens and closes there: closing a descriptor of the
// file by hand takes them all away (sqlite.org/howtocorrupt.html, section 2.2), and the next process removes the log.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "base/files.hpp"
#include "journal/control.hpp"
#include "journal/database_file.hpp"
#include "journal/held_locks.hpp"
#include "journal/samples.hpp"
#include "journal/schema.hpp"
#include "journal/sqlite_journal.hpp"
#include "journal/suite_log.hpp"

namespace accelopt::journal {
namespace {

namespace fs = std::filesystem;

class JournalLocks : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = base::TemporaryFolder::create("accelopt-journal");
    ASSERT_TRUE(folder) << folder.error().message;
    folder_.emplace(std::move(*folder));
    {
      auto journal = open_journal(workspace());
      ASSERT_TRUE(journal) << journal.error().message;
      ASSERT_TRUE((*journal)->create_run(sample_run("r1")));
    }
    // Closed and opened again: the log lies in the file, whose first bytes say what it is.
    auto journal = open_journal(workspace());
    ASSERT_TRUE(journal) << journal.error().message;
    journal_ = std::move(*journal);
    ASSERT_TRUE(journal_->list_runs());
  }

  [[nodiscard]] fs::path folder() const { return folder_->path(); }
  [[nodiscard]] fs::path workspace() const { return folder() / "w"; }
  [[nodiscard]] fs::path file() const { return workspace() / "accelopt.db"; }
  Journal& journal() { return *journal_; }
  void close_journal() { journal_.reset(); }

  /// Everything that opens the file, by name; false: it could not.
  [[nodiscard]] std::map<std::string, std::function<bool()>> ways_to_open() const {
    const fs::path path = file();
    const fs::path place = workspace();
    constexpr std::chrono::seconds kPatience(5);
    return {{"check_file", [=] { return check_file(path, kJournalFormat).has_value(); }},
            {"check_file of another format",
             [=] {
               FileFormat other = kJournalFormat;
               other.application_id += 1;
               return !check_file(path, other);
             }},
            {"open_for_reading", [=] { return open_for_reading(path, kJournalFormat, kPatience).has_value(); }},
            {"open_for_writing", [=] { return open_for_writing(path, kJournalFormat, kPatience).has_value(); }},
            {"open_journal to read", [=] { return open_journal(place, Access::read_only).has_value(); }},
            {"open_journal to write", [=] { return open_journal(place, Access::read_write).has_value(); }},
            {"open_control", [=] { return open_control(place, Access::read_write).has_value(); }},
            {"open_suite_log", [=] { return open_suite_log(place, Access::read_only).has_value(); }}};
  }

 private:
  std::optional<base::TemporaryFolder> folder_;
  std::unique_ptr<Journal> journal_;
};

TEST_F(JournalLocks, AreSeenByAnotherProcess) {
  EXPECT_TRUE(locks_are_held(file()));
  close_journal();
  EXPECT_FALSE(locks_are_held(file()));
}

TEST_F(JournalLocks, StayWhateverElseIsOpenedAndClosed) {
  for (const auto& [name, opens] : ways_to_open()) {
    EXPECT_TRUE(opens()) << name;
    EXPECT_TRUE(locks_are_held(file())) << "lost by " << name;
  }
}

TEST_F(JournalLocks, StayWhenTheFileIsOpenedThroughALink) {
  const fs::path link = folder() / "link";
  fs::create_directory_symlink(workspace(), link);
  EXPECT_TRUE(open_journal(link, Access::read_only));
  EXPECT_TRUE(locks_are_held(file()));
  const fs::path other = folder() / "other";
  ASSERT_TRUE(base::make_folders(other));
  fs::create_symlink(file(), other / "accelopt.db");
  EXPECT_TRUE(check_file(other / "accelopt.db", kJournalFormat));
  EXPECT_TRUE(open_control(other, Access::read_only));
  EXPECT_TRUE(locks_are_held(file()));
}

TEST_F(JournalLocks, StayWhenThreadsOpenAndCloseAtTheSameTime) {
  const auto ways = ways_to_open();
  std::vector<std::jthread> threads;
  for (const auto& [name, opens] : ways) {
    threads.emplace_back([&opens = opens] {
      for (int i = 0; i < 20; ++i) EXPECT_TRUE(opens());
    });
  }
  threads.clear();
  EXPECT_TRUE(locks_are_held(file()));
}

TEST_F(JournalLocks, StayWhenAProcessIsStarted) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl("/bin/true", "true", static_cast<char*>(nullptr));
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(locks_are_held(file()));
}

/// The last process to leave removes the log, and only the locks tell it that it is not the last.
TEST_F(JournalLocks, KeepTheLogWhenAnotherProcessEnds) {
  close_journal();
  std::array<int, 2> ends{-1, -1};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const base::FileDescriptor read(ends[0]);
  base::FileDescriptor write(ends[1]);
  const pid_t child = ::fork();  // before this process opens anything, so that the child shares nothing with it
  if (child == 0) {
    write = {};
    char begin = 0;
    const bool told = ::read(read.get(), &begin, 1) == 1;
    int code = 1;
    if (auto journal = open_journal(workspace()); told && journal)
      code = (*journal)->create_run(sample_run("r2")) ? 0 : 2;
    ::_exit(code);
  }
  auto journal = open_journal(workspace());
  ASSERT_TRUE(journal);
  ASSERT_TRUE((*journal)->record_step("r1", sample_step(0, "plan", "in", "before")));
  ASSERT_TRUE(open_control(workspace(), Access::read_write));  // opened and closed
  ASSERT_EQ(::write(write.get(), "b", 1), 1);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  EXPECT_TRUE(fs::exists(file().string() + "-wal"));
  EXPECT_TRUE((*journal)->record_step("r1", sample_step(1, "plan", "in", "after")));
  const auto reader = open_journal(workspace(), Access::read_only);
  ASSERT_TRUE(reader);
  EXPECT_EQ((*reader)->list_runs()->size(), 2U);
  EXPECT_EQ((*reader)->steps("r1")->size(), 2U);
}

TEST_F(JournalLocks, AJournalThatWasMovedAwayIsNotWrittenOn) {
  fs::rename(file(), folder() / "elsewhere.db");
  const auto refused = journal().record_step("r1", sample_step(0, "plan", "in", "text"));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find(file().string() + ": was moved, replaced or removed while it was in use"),
            std::string::npos)
      << refused.error().message;
  EXPECT_FALSE(journal().create_run(sample_run("r2")));
  fs::rename(folder() / "elsewhere.db", file());
  EXPECT_TRUE(journal().record_step("r1", sample_step(0, "plan", "in", "text")));
}

/// As on NFS and Lustre without locks.
int refuse_locks(int descriptor, int command, void* argument) {
  if (command != F_SETLK && command != F_GETLK) return ::fcntl(descriptor, command, argument);
  errno = ENOLCK;
  return -1;
}

TEST_F(JournalLocks, FileSystemWithoutLocks_IsSaidAtOnce) {
  close_journal();
  sqlite3_vfs* const system = sqlite3_vfs_find(nullptr);
  const sqlite3_syscall_ptr usual = system->xGetSystemCall(system, "fcntl");
  system->xSetSystemCall(system, "fcntl", reinterpret_cast<sqlite3_syscall_ptr>(refuse_locks));
  const auto began = std::chrono::steady_clock::now();
  const auto refused = open_journal(workspace());
  const auto begun = open_journal(folder() / "new");
  const auto read = open_journal(workspace(), Access::read_only);
  const auto took = std::chrono::steady_clock::now() - began;
  system->xSetSystemCall(system, "fcntl", usual);
  for (const auto* const journal : {&refused, &begun, &read}) {
    ASSERT_FALSE(*journal);
    EXPECT_EQ(journal->error().code, base::ErrorCode::unsupported);
    EXPECT_NE(journal->error().message.find("this file system has no locks; choose a folder on another one"),
              std::string::npos)
        << journal->error().message;
  }
  EXPECT_LT(took, kBusyTimeout) << "there is nothing to wait for";
  EXPECT_TRUE(open_journal(workspace()));
}

}  // namespace
}  // namespace accelopt::journal
