// SPDX-License-Identifier: Apache-2.0
// Processes that die or share a journal.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include <array>
#include <chrono>
#include <cstring>

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "journal/journal.hpp"
#include "journal/samples.hpp"

namespace accelopt::journal {
namespace {

namespace fs = std::filesystem;

base::Json output_of(int writer, int number) {
  // Every third one is large enough to become an object.
  return {{"writer", writer}, {"number", number}, {"text", std::string(number % 3 == 0 ? 30'000U : 30U, 'x')}};
}

StepRecord step_of(int writer, int number) {
  return sample_step(number, "chat:" + std::to_string(writer), "in", output_of(writer, number));
}

struct Pipe {
  base::FileDescriptor read;
  base::FileDescriptor write;
};

Pipe make_pipe() {
  std::array<int, 2> ends{-1, -1};
  EXPECT_EQ(::pipe(ends.data()), 0);
  return {base::FileDescriptor(ends[0]), base::FileDescriptor(ends[1])};
}

/// Records steps for ever and tells each one's number through the descriptor once it is recorded.
[[noreturn]] void write_for_ever(const fs::path& folder, int told) {
  auto journal = open_journal(folder);
  if (!journal) ::_exit(1);
  for (int number = 0;; ++number) {
    if (!(*journal)->record_step("r1", step_of(0, number))) ::_exit(2);
    if (::write(told, &number, sizeof number) != sizeof number) ::_exit(3);
  }
}

TEST(JournalDurability, WhatWasRecordedSurvivesKill9) {
  const auto folder = base::TemporaryFolder::create("accelopt-journal");
  ASSERT_TRUE(folder);
  {
    auto journal = open_journal(folder->path());
    ASSERT_TRUE(journal);
    ASSERT_TRUE((*journal)->create_run(sample_run("r1")));
  }
  int recorded = -1;
  for (const int stop_after : {1, 17, 60, 131}) {
    Pipe pipe = make_pipe();
    const pid_t child = ::fork();
    if (child == 0) write_for_ever(folder->path(), pipe.write.get());
    pipe.write.reset();
    int number = -1;
    bool killed = false;
    // Read on after the kill: what the child told before it died counts.
    while (::read(pipe.read.get(), &number, sizeof number) == sizeof number) {
      recorded = std::max(recorded, number);
      if (!killed && number >= stop_after) killed = ::kill(child, SIGKILL) == 0;
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself, status " << WEXITSTATUS(status);
    ASSERT_GE(recorded, stop_after);

    auto journal = open_journal(folder->path());
    ASSERT_TRUE(journal) << journal.error().message;
    for (int i = 0; i <= recorded; ++i) {
      const auto found = (*journal)->find_step("r1", step_of(0, i).key, "in");
      ASSERT_TRUE(found) << found.error().message;
      ASSERT_TRUE(found->has_value()) << "step " << i << " of " << recorded << " is gone";
      ASSERT_EQ((*found)->output, output_of(0, i));
    }
    // At most the one that was in flight is there besides.
    EXPECT_LE((*journal)->steps("r1")->size(), static_cast<std::size_t>(recorded) + 2);
  }
}

/// Hands over steps for ever, and tells the number of each seventh one once it has settled.
[[noreturn]] void write_behind_for_ever(const fs::path& folder, int told) {
  auto journal = open_journal(folder);
  if (!journal) ::_exit(1);
  for (int number = 0;; ++number) {
    const std::string question = "question " + std::to_string(number);
    StepRecord step = step_of(0, number);
    step.input_hash = base::sha256_hex(question);
    if (!(*journal)->record_soon("r1", written(step, question))) ::_exit(2);
    if (number % 7 != 0) continue;
    if (!(*journal)->settle_own("r1")) ::_exit(3);
    if (::write(told, &number, sizeof number) != sizeof number) ::_exit(4);
  }
}

TEST(JournalDurability, WhatHasSettledSurvivesKill9AndNothingIsThereWithoutWhatCameBefore) {
  for (const int stop_after : {1, 70, 140, 280}) {
    const auto folder = base::TemporaryFolder::create("accelopt-journal");
    ASSERT_TRUE(folder);
    {
      auto journal = open_journal(folder->path());
      ASSERT_TRUE(journal);
      ASSERT_TRUE((*journal)->create_run(sample_run("r1")));
    }
    Pipe pipe = make_pipe();
    const pid_t child = ::fork();
    if (child == 0) write_behind_for_ever(folder->path(), pipe.write.get());
    pipe.write.reset();
    int settled = -1;
    bool killed = false;
    for (int number = 0; ::read(pipe.read.get(), &number, sizeof number) == sizeof number;) {
      settled = std::max(settled, number);
      if (!killed && number >= stop_after) killed = ::kill(child, SIGKILL) == 0;
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself, status " << WEXITSTATUS(status);

    auto journal = open_journal(folder->path());
    ASSERT_TRUE(journal) << journal.error().message;
    const auto steps = (*journal)->steps("r1");
    ASSERT_TRUE(steps) << steps.error().message;
    ASSERT_GT(steps->size(), static_cast<std::size_t>(settled));
    for (std::size_t i = 0; i < steps->size(); ++i) {
      EXPECT_EQ((*steps)[i].output, output_of(0, static_cast<int>(i)));
      EXPECT_TRUE((*journal)->load(base::sha256_hex("question " + std::to_string(i)))) << i;
    }
  }
}

model::Kernel numbered(int number) {
  return model::Kernel(model::Solution{model::Language::c, {{"kernel.c", std::to_string(number)}}});
}

TEST(JournalDurability, TwoProcessesMakeAndShareOneJournal) {
  constexpr int kProcesses = 2;
  constexpr int kSteps = 60;
  const auto folder = base::TemporaryFolder::create("accelopt-journal");
  ASSERT_TRUE(folder);
  std::array<pid_t, kProcesses> children{};
  Pipe start = make_pipe();
  for (int writer = 0; writer < kProcesses; ++writer) {
    const pid_t child = ::fork();
    if (child == 0) {
      start.write.reset();
      char signal = 0;
      static_cast<void>(::read(start.read.get(), &signal, 1));  // both begin when the parent closes its end
      auto journal = open_journal(folder->path());
      if (!journal) ::_exit(1);
      const std::string run = "r" + std::to_string(writer);
      if (!(*journal)->create_run(sample_run(run))) ::_exit(2);
      for (int number = 0; number < kSteps; ++number) {
        if (!(*journal)->record_step(run, step_of(writer, number))) ::_exit(3);
        if (!(*journal)->steps(run)) ::_exit(4);
        if (!(*journal)->record_solutions({numbered(number)})) ::_exit(5);
      }
      ::_exit(0);
    }
    children.at(static_cast<std::size_t>(writer)) = child;
  }
  start.read.reset();
  start.write.reset();
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
  auto journal = open_journal(folder->path(), Access::read_only);
  ASSERT_TRUE(journal) << journal.error().message;
  for (int writer = 0; writer < kProcesses; ++writer) {
    const auto steps = (*journal)->steps("r" + std::to_string(writer));
    ASSERT_TRUE(steps) << steps.error().message;
    ASSERT_EQ(steps->size(), std::size_t{kSteps});
    for (int number = 0; number < kSteps; ++number) {
      EXPECT_EQ((*steps)[static_cast<std::size_t>(number)].output, output_of(writer, number));
    }
  }
  for (int number = 0; number < kSteps; ++number)
    EXPECT_EQ((*journal)->load_solution(numbered(number).id()), numbered(number).solution());
}

TEST(JournalDurability, ManyRacesToMakeAJournalAreWonByAll) {
  for (int round = 0; round < 20; ++round) {
    const auto folder = base::TemporaryFolder::create("accelopt-journal");
    ASSERT_TRUE(folder);
    Pipe start = make_pipe();
    std::array<pid_t, 4> children{};
    for (pid_t& child : children) {
      child = ::fork();
      if (child != 0) continue;
      start.write.reset();
      char signal = 0;
      static_cast<void>(::read(start.read.get(), &signal, 1));
      const auto journal = open_journal(folder->path());
      if (!journal) std::fprintf(stderr, "%s\n", journal.error().message.c_str());
      ::_exit(journal && (*journal)->list_runs() ? 0 : 1);
    }
    start.read.reset();
    start.write.reset();
    for (const pid_t child : children) {
      int status = 0;
      ASSERT_EQ(::waitpid(child, &status, 0), child);
      ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "round " << round;
    }
  }
}

TEST(JournalDurability, OpeningIsQuick) {
  const auto folder = base::TemporaryFolder::create("accelopt-journal");
  ASSERT_TRUE(folder);
  {
    auto journal = open_journal(folder->path());
    ASSERT_TRUE(journal);
    ASSERT_TRUE((*journal)->create_run(sample_run("r1")));
    for (int i = 0; i < 500; ++i) ASSERT_TRUE((*journal)->record_step("r1", step_of(0, i)));
  }
  auto least = std::chrono::steady_clock::duration::max();
  for (int round = 0; round < 5; ++round) {
    const auto before = std::chrono::steady_clock::now();
    auto journal = open_journal(folder->path());
    least = std::min(least, std::chrono::steady_clock::now() - before);
    ASSERT_TRUE(journal);
  }
  // The least of several, because the machine may be busy with something else.
  EXPECT_LT(least, std::chrono::milliseconds(20));
  RecordProperty("open_us", static_cast<int>(std::chrono::duration_cast<std::chrono::microseconds>(least).count()));
}

}  // namespace
}  // namespace accelopt::journal
