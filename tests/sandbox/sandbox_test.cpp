// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <thread>

#include "sandbox/landlock.hpp"
#include "sandbox/probe.hpp"
#include "sandbox/run.hpp"
#include "sandbox/seen_time.hpp"

namespace accelopt::sandbox {
namespace {

using base::ErrorCode;
using std::chrono::milliseconds;

SpawnOptions prisoner(std::vector<std::string> arguments) {
  SpawnOptions options;
  options.program = ACCELOPT_PRISONER;
  options.arguments = std::move(arguments);
  return options;
}

RunResult run_to_end(SpawnOptions options, RunLimits limits = {}) {
  auto result = run(std::move(options), limits, nullptr, {});
  EXPECT_TRUE(result) << result.error().message;
  return result ? *result : RunResult{};
}

TEST(Run, CollectsOutputAndExitCode) {
  EXPECT_EQ(run_to_end(prisoner({"print", "hello"})).output, "hello\n");
  const RunResult failed = run_to_end(prisoner({"exit", "7"}));
  EXPECT_TRUE(failed.state.exited);
  EXPECT_EQ(failed.state.code, 7);
}

TEST(Run, AMissingProgramIsNotFound) {
  SpawnOptions options;
  options.program = "/nowhere/program";
  const auto result = run(options, {}, nullptr, {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::not_found);
  EXPECT_NE(result.error().message.find("/nowhere/program"), std::string::npos);
}

TEST(Run, WallTimeAndOutputAreLimited) {
  EXPECT_TRUE(run_to_end(prisoner({"spin"}), {milliseconds{60}, 1024}).timed_out);
  // It has to get its turn on a busy machine.
  const RunResult flooded = run_to_end(prisoner({"flood"}), {milliseconds{400}, 1000});
  EXPECT_TRUE(flooded.timed_out);
  EXPECT_EQ(flooded.output.size(), 1000U);
  EXPECT_TRUE(flooded.dropped);
  EXPECT_FALSE(run_to_end(prisoner({"print", "hello"}), {milliseconds{60'000}, 6}).dropped);
}

TEST(Run, AStopEndsIt) {
  std::stop_source stop;
  std::jthread stopper([&stop] { stop.request_stop(); });
  const auto result = run(prisoner({"spin"}), {}, nullptr, stop.get_token());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::cancelled);
}

TEST(Run, ClosedGateHoldsTheProgramAndItsClock) {
  PauseGate gate;
  gate.pause();
  std::optional<base::Result<RunResult>> result;
  std::atomic<bool> ended = false;
  std::thread runner([&] {
    result = run(prisoner({"print", "late"}), {milliseconds{3000}, 1024}, &gate, {});
    ended = true;
  });
  // The program stands still whenever the gate is closed; only its opening lets it end within its limit.
  while (gate.paused() < milliseconds{80}) std::this_thread::yield();
  gate.resume();
  runner.join();
  ASSERT_TRUE(*result) << (*result).error().message;
  EXPECT_EQ((*result)->output, "late\n");
  EXPECT_FALSE((*result)->timed_out);
}

TEST(Run, ClosedGate_StartsNothingAndHearsAStop) {
  PauseGate gate;
  gate.pause();
  std::stop_source stop;
  stop.request_stop();
  const auto result = run(prisoner({"print", "early"}), {milliseconds{3000}, 1024}, &gate, stop.get_token());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::cancelled);
}

TEST(PauseGate, Start_WaitsForResume) {
  PauseGate gate;
  gate.pause();
  std::stop_source stop;
  bool begun = false;
  std::thread starter([&] {
    gate.start(
        [&] {
          begun = true;
          return -1;
        },
        stop.get_token());
  });
  stop.request_stop();
  starter.join();
  EXPECT_FALSE(begun) << "it was paused until the stop";
  gate.resume();
  gate.start(
      [&] {
        begun = true;
        return -1;
      },
      stop.get_token());
  EXPECT_TRUE(begun);
}

TEST(PauseGate, NestsAndCountsItsTime) {
  PauseGate gate;
  EXPECT_EQ(gate.paused().count(), 0);
  gate.pause();
  gate.pause();
  gate.resume();
  const auto inside = gate.paused();
  while (gate.paused() == inside) std::this_thread::yield();  // still closed: time goes on
  gate.resume();
  const auto after = gate.paused();
  EXPECT_GT(after.count(), 0);
  EXPECT_EQ(gate.paused(), after);
}

TEST(Spawn, NothingIsInherited) {
  setenv("ACCELOPT_SECRET", "key", 1);
  EXPECT_EQ(run_to_end(prisoner({"environment"})).output, "");
  const base::FileDescriptor open_here(dup(0));
  EXPECT_EQ(run_to_end(prisoner({"descriptors"})).output, "3\n");
  EXPECT_EQ(run_to_end(prisoner({"core"})).output, "0\n");
}

TEST(Spawn, LimitsHold) {
  SpawnOptions options = prisoner({"memory", "8000000000"});
  options.limits.address_space_bytes = 1ULL << 30;
  EXPECT_EQ(run_to_end(options).state.code, 1);
  options.arguments = {"memory", "1000000"};
  EXPECT_EQ(run_to_end(options).output, "done\n");

  const auto folder = *base::TemporaryFolder::create("accelopt-sandbox-test");
  SpawnOptions writer = prisoner({"write", (folder.path() / "file").string()});
  EXPECT_EQ(run_to_end(writer).output, "done\n");
  writer.limits.no_files = true;
  EXPECT_NE(run_to_end(writer).output, "done\n");

  SpawnOptions spinner = prisoner({"spin"});
  spinner.limits.cpu_seconds = 1;
  const RunResult ended = run_to_end(spinner, {milliseconds{30000}, 1024});
  EXPECT_FALSE(ended.timed_out);
  EXPECT_FALSE(ended.state.exited);
}

TEST(Spawn, CompilersHaveNoNetwork) {
  if (!capabilities().filters) GTEST_SKIP() << "this machine has no seccomp";
  const auto filter = compile_filter(FilterKind::compile);
  ASSERT_TRUE(filter) << filter.error().message;
  SpawnOptions options = prisoner({"socket"});
  options.filter = &*filter;
  EXPECT_EQ(run_to_end(options).output, "Operation not permitted\n");
  options.arguments = {"print", "fine"};
  EXPECT_EQ(run_to_end(options).output, "fine\n");
}

TEST(Spawn, CompilersMayPairSocketsThatReachNobodyElse) {
  if (!capabilities().filters) GTEST_SKIP() << "this machine has no seccomp";
  const auto filter = compile_filter(FilterKind::compile);
  ASSERT_TRUE(filter) << filter.error().message;
  SpawnOptions options = prisoner({"pair", "messages"});
  options.filter = &*filter;
  EXPECT_EQ(run_to_end(options).output, "done\n");
  for (const char* refused : {"datagrams", "elsewhere"}) {
    options.arguments = {"pair", refused};
    EXPECT_EQ(run_to_end(options).output, "Operation not permitted\n");
  }
}

TEST(Spawn, CountedProgramsKeepNothingElsewhere) {
  if (!capabilities().filters) GTEST_SKIP() << "this machine has no seccomp";
  const auto filter = compile_filter(FilterKind::counted);
  ASSERT_TRUE(filter) << filter.error().message;
  SpawnOptions options = prisoner({"print", "fine"});
  for (const char* kept : {"fork", "memfd", "pageout", "pageout, high", "pipe", "pipe, high", "shared", "semaphore",
                           "own table", "new table", "lock"}) {
    options.filter = nullptr;
    options.arguments = {kept};
    EXPECT_EQ(run_to_end(options).output, "done\n") << kept;
    options.filter = &*filter;
    EXPECT_NE(run_to_end(options).output, "done\n") << kept;
  }
  options.arguments = {"huge"};  // not every machine has huge pages to give
  EXPECT_EQ(run_to_end(options).output, "Cannot allocate memory\n");
  for (const char* own : {"thread", "touch", "private"}) {
    options.arguments = {own, "1000000"};
    EXPECT_EQ(run_to_end(options).output, "done\n") << own;
  }
}

TEST(Spawn, NothingIsKeptInAttributesOfFiles) {
  if (!capabilities().filters) GTEST_SKIP() << "this machine has no seccomp";
  SpawnOptions options = prisoner({"attribute", "/nowhere"});
  EXPECT_EQ(run_to_end(options).output, "No such file or directory\n");
  for (const FilterKind kind : {FilterKind::compile, FilterKind::counted}) {
    const auto filter = compile_filter(kind);
    ASSERT_TRUE(filter) << filter.error().message;
    options.filter = &*filter;
    EXPECT_EQ(run_to_end(options).output, "Operation not supported\n");
  }
}

TEST(Run, PeakThatIsFollowedIsTheChildsOwn) {
  constexpr std::size_t kOwn = 96UL << 20;
  const std::vector<char> own(kOwn, 'x');  // of this process
  constexpr std::size_t kChilds = 24UL << 20;
  const SpawnOptions options = prisoner({"touch", std::to_string(kChilds)});
  const RunResult told = run_to_end(options);
  EXPECT_EQ(told.output, "done\n");
  EXPECT_GT(told.state.peak_bytes, kOwn) << "what the kernel says begins with this process's own";
  const RunResult followed = run_to_end(options, {.peak = Peak::followed});
  EXPECT_GT(followed.state.peak_bytes, kChilds);
  EXPECT_LT(followed.state.peak_bytes, 2 * kChilds);
  const SpawnOptions larger = prisoner({"touch", std::to_string(2 * kOwn)});
  EXPECT_GT(run_to_end(larger, {.peak = Peak::followed}).state.peak_bytes, 2 * kOwn);
  EXPECT_EQ(own.back(), 'x');
}

TEST(Run, PeakThatIsFollowedHasTheLastGrowth) {
  if (!capabilities().filters || !end_filter(1)) GTEST_SKIP() << "this machine does not report ends of processes";
  const std::vector<char> own(96UL << 20, 'x');  // of this process: hides what the kernel says at the end
  constexpr std::size_t kChilds = 24UL << 20;
  for (const char* way : {"grow and end", "grow and be another", "grow without a leader"}) {
    const RunResult followed = run_to_end(prisoner({way, std::to_string(kChilds)}), {.peak = Peak::followed});
    EXPECT_TRUE(followed.state.exited && followed.state.code == 0) << way;
    EXPECT_GT(followed.state.peak_bytes, kChilds) << way;
    EXPECT_LT(followed.state.peak_bytes, 2 * kChilds) << way;
  }
  EXPECT_EQ(own.back(), 'x');
}

TEST(Run, FollowedProgramsEndAsOthersDo) {
  const RunLimits followed{.peak = Peak::followed};
  EXPECT_EQ(run_to_end(prisoner({"exit", "127"}), followed).state.code, 127);
  EXPECT_EQ(run_to_end(prisoner({"exit", "7"}), followed).state.code, 7);
  EXPECT_EQ(run_to_end(prisoner({"descriptors"}), followed).output, "3\n");
  EXPECT_TRUE(run_to_end(prisoner({"spin"}), {.wall = milliseconds{60}, .peak = Peak::followed}).timed_out);
  SpawnOptions missing;
  missing.program = "/nowhere/program";
  const auto result = run(missing, followed, nullptr, {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::not_found);
}

TEST(Spawn, ResultsAreWrittenAndNotReadBack) {
  if (capabilities().landlock == 0) GTEST_SKIP() << "this machine has no Landlock";
  const auto folder = *base::TemporaryFolder::create("accelopt-sandbox-test");
  const std::filesystem::path results = folder.path() / "results";
  ASSERT_TRUE(base::write_file(results, ""));
  const std::string own_folder = std::filesystem::path(ACCELOPT_PRISONER).parent_path().string();
  const auto rules = make_rule_set({{"/usr", "/lib", "/lib64", "/etc/ld.so.cache", own_folder}, {}, {results}});
  ASSERT_TRUE(rules) << rules.error().message;
  SpawnOptions options = prisoner({"write", results.string()});
  options.file_rules = &*rules;
  EXPECT_EQ(run_to_end(options).output, "done\n");
  options.arguments = {"append", results.string()};
  EXPECT_EQ(run_to_end(options).output, "Permission denied\n");
  options.arguments = {"write", results.string() + ".more"};
  EXPECT_EQ(run_to_end(options).output, "Permission denied\n");
}

TEST(Spawn, FileRulesHideEverythingElse) {
  if (capabilities().landlock == 0) GTEST_SKIP() << "this machine has no Landlock";
  const auto folder = *base::TemporaryFolder::create("accelopt-sandbox-test");
  ASSERT_TRUE(base::write_file(folder.path() / "secret", "key"));
  const std::string secret = (folder.path() / "secret").string();
  const std::string own_folder = std::filesystem::path(ACCELOPT_PRISONER).parent_path().string();
  const std::vector<std::filesystem::path> needed{"/usr", "/lib", "/lib64", "/etc/ld.so.cache", own_folder};
  const auto closed = make_rule_set({needed, {}});
  ASSERT_TRUE(closed) << closed.error().message;
  SpawnOptions options = prisoner({"read", secret});
  EXPECT_EQ(run_to_end(options).output, "done\n");
  options.file_rules = &*closed;
  EXPECT_EQ(run_to_end(options).output, "Permission denied\n");
  const auto open_folder = make_rule_set({needed, {folder.path()}});
  ASSERT_TRUE(open_folder);
  options.file_rules = &*open_folder;
  EXPECT_EQ(run_to_end(options).output, "done\n");
}

TEST(Spawn, NothingButItsOwnFoldersIsChanged) {
  if (!capabilities().read_only_mounts) GTEST_SKIP() << "this machine makes no file system read-only for a child";
  const auto folder = *base::TemporaryFolder::create("accelopt-sandbox-test");
  const std::filesystem::path own = folder.path() / "own";
  ASSERT_TRUE(base::make_folders(own));
  for (const std::filesystem::path& file : {folder.path() / "other", own / "file"})
    ASSERT_TRUE(base::write_file(file, "x"));
  SpawnOptions options = prisoner({});
  options.named_user = true;
  options.directory = own.string();
  options.changes_only = {{own.string()}};
  for (const char* what : {"mode", "times", "write"}) {
    options.arguments = {what, (folder.path() / "other").string()};
    EXPECT_EQ(run_to_end(options).output, "Read-only file system\n") << what;
    options.arguments = {what, (own / "file").string()};
    EXPECT_EQ(run_to_end(options).output, "done\n") << what;
  }
  options.arguments = {"write", "here"};
  EXPECT_EQ(run_to_end(options).output, "done\n") << "the working folder is its own, too";
  options.arguments = {"write", "/dev/null"};
  EXPECT_EQ(run_to_end(options).output, "done\n");
  options.changes_only.reset();
  options.arguments = {"mode", (folder.path() / "other").string()};
  EXPECT_EQ(run_to_end(options).output, "done\n");
  options.changes_only = {{"/nowhere"}};
  const auto refused = run(options, {}, nullptr, {});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("read-only file systems"), std::string::npos) << refused.error().message;
}

TEST(Filters, EveryKindCompilesAndNamesAreKnown) {
  if (!capabilities().filters) GTEST_SKIP() << "this machine has no seccomp";
  for (const FilterKind kind :
       {FilterKind::compile, FilterKind::counted, FilterKind::load, FilterKind::call, FilterKind::call_threads}) {
    const auto program = compile_filter(kind);
    ASSERT_TRUE(program) << program.error().message;
    EXPECT_GT(program->size(), 5U);
  }
  EXPECT_EQ(system_call_name(0), "read");
  EXPECT_EQ(system_call_name(100000), "number 100000");
}

/// Whether a process under the filter outlives the action. It ends by a bare system call: before _exit AddressSanitizer
/// makes calls of its own, which the filter refuses, and ThreadSanitizer before munmap.
template <class Action>
bool outlives(const FilterProgram& filter, Action action) {
  const pid_t child = fork();
  if (child == 0) {
    sock_fprog program{};
    program.len = static_cast<unsigned short>(filter.size());
    program.filter = reinterpret_cast<sock_filter*>(const_cast<FilterInstruction*>(filter.data()));
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) syscall(SYS_exit_group, 2);
    syscall(SYS_exit_group, action() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(Filters, CallsLeaveMemoryBelowTheFirstFreeAddressAsItIs) {
  if (!capabilities().filters) GTEST_SKIP() << "this machine has no seccomp";
  constexpr std::size_t kBytes = 4096;
  constexpr int kAccess = PROT_READ | PROT_WRITE;
  char* const map = static_cast<char*>(mmap(nullptr, 2 * kBytes, kAccess, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(static_cast<void*>(map), MAP_FAILED);
  char* const free = map + kBytes;
  for (const FilterKind kind : {FilterKind::call, FilterKind::call_threads}) {
    const auto filter = compile_filter(kind, reinterpret_cast<std::uint64_t>(free));
    ASSERT_TRUE(filter) << filter.error().message;
    for (char* const page : {map, free}) {
      const bool allowed = page == free;
      const bool threads = kind == FilterKind::call_threads;
      EXPECT_EQ(outlives(*filter, [&] { return mprotect(page, kBytes, PROT_READ) == 0; }), allowed && threads);
      EXPECT_EQ(outlives(*filter, [&] { return mprotect(page, kBytes, PROT_READ) == -1 && errno == ENOMEM; }),
                allowed && !threads)
          << "what one thread could write for a while would hold something from one call to the next";
      EXPECT_EQ(outlives(*filter,
                         [&] { return mmap(page, kBytes, kAccess, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED; }),
                allowed || threads);
      EXPECT_EQ(outlives(*filter, [&] { return madvise(page, kBytes, MADV_DONTNEED) == 0; }), allowed);
      EXPECT_EQ(outlives(*filter, [&] { return syscall(SYS_munmap, page, kBytes) == 0; }), allowed);
      EXPECT_FALSE(outlives(*filter, [&] { return mprotect(page, kBytes, PROT_EXEC) == 0; }));
      EXPECT_FALSE(outlives(*filter, [&] {
        return mmap(page, kBytes, kAccess, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == page;
      }));
      EXPECT_TRUE(outlives(*filter, [&] {
        return mremap(page, kBytes, 2 * kBytes, MREMAP_MAYMOVE) == MAP_FAILED && errno == ENOMEM;
      })) << "realloc copies";
      EXPECT_FALSE(outlives(*filter, [&] {
        return mremap(page, kBytes, kBytes, MREMAP_MAYMOVE | MREMAP_FIXED, map - 16 * kBytes) == MAP_FAILED;
      }));
    }
    EXPECT_TRUE(outlives(
        *filter, [] { return mmap(nullptr, kBytes, kAccess, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED; }));
    EXPECT_FALSE(outlives(*filter, [] { return syscall(SYS_rt_sigreturn) == 0; }));
  }
  munmap(map, 2 * kBytes);
}

TEST(ProcessTest, StopsAndContinues) {
  auto started = spawn(prisoner({"spin"}));
  ASSERT_TRUE(started) << started.error().message;
  Process process = std::move(*started);
  EXPECT_EQ(process.stop(), std::nullopt);
  EXPECT_FALSE(process.try_wait());
  process.resume();
  process.signal(SIGKILL);
  std::optional<ExitState> ended;
  while (!ended) ended = process.try_wait();
  EXPECT_FALSE(ended->exited);
  EXPECT_EQ(ended->signal, SIGKILL);
}

TEST(ProcessTest, StoppingAnEndedOneTellsItsEnd) {
  auto started = spawn(prisoner({"exit", "5"}));
  ASSERT_TRUE(started);
  std::optional<ExitState> ended;
  while (!ended) {
    ended = started->stop();
    if (!ended) started->resume();
  }
  EXPECT_TRUE(ended->exited);
  EXPECT_EQ(ended->code, 5);
}

TEST(ProcessTest, DyingTakesTheChildrenAlong) {
  // The output's pipe ends only when every process that holds it is gone.
  std::stop_source stop;
  const auto began = std::chrono::steady_clock::now();
  const auto result = run(prisoner({"child"}), {milliseconds{100}, 1024}, nullptr, {});
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->timed_out);
  EXPECT_EQ(result->output, "started\n");
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20));
}

TEST(ProcessTest, WhatAProgramLeavesBehindEndsWithIt) {
  SpawnOptions options = prisoner({"leave"});
  options.own_namespaces = false;  // there the end of the first process is everybody's
  const auto result = run(options, {std::chrono::seconds(20), 1024}, nullptr, {});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_FALSE(result->timed_out);
  EXPECT_TRUE(result->state.exited && result->state.code == 0);
  const auto left = static_cast<pid_t>(std::stol(result->output));
  const auto gone = [left] {
    const auto stat = base::read_file("/proc/" + std::to_string(left) + "/stat");
    return !stat || stat->find(") Z") != std::string::npos;
  };
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!gone() && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  EXPECT_TRUE(gone());
}

TEST(ProcessTest, WithoutMemoryTheChildGoesFirstAndNotItsParent) {
  const auto own = [] { return base::read_file("/proc/self/oom_score_adj").value_or(""); };
  const std::string before = own();
  EXPECT_EQ(run_to_end(prisoner({"sacrifice"})).output, "1000\n");
  EXPECT_EQ(own(), before);
}

TEST(SeenTime, LeavesOutATurnInWhichThisProcessWasSuspended) {
  SeenTime time;
  for (int turn = 1; turn <= 100; ++turn) time.turn(milliseconds(20 * turn));
  EXPECT_EQ(time.seen(), milliseconds(2000));
  time.turn(milliseconds(2900));
  EXPECT_EQ(time.seen(), milliseconds(2900)) << "a busy machine";
  time.turn(milliseconds(602'900));
  EXPECT_EQ(time.seen(), milliseconds(2900));
  EXPECT_EQ(time.missed(), std::chrono::minutes(10));
  time.turn(milliseconds(602'920));
  EXPECT_EQ(time.seen(), milliseconds(2920));
}

TEST(Probe, SaysWhatThereIs) {
  EXPECT_NE(isolation().find("rlimits"), std::string::npos);
  EXPECT_EQ(isolation().find("watched") != std::string::npos, capabilities().watching);
  const auto all = layers();
  EXPECT_EQ(missing_isolation().empty(),
            std::all_of(all.begin(), all.end(), [](const Layer& layer) { return layer.state == LayerState::present; }));
}

TEST(Probe, EveryLayerSaysWhatItGivesAndWhatItsAbsenceCosts) {
  const auto all = layers();
  ASSERT_EQ(all.size(), 9U);
  for (const Layer& layer : all) {
    EXPECT_FALSE(layer.gives.empty()) << layer.name;
    EXPECT_EQ(layer.advice.empty(), layer.state == LayerState::present) << layer.name;
    if (layer.state != LayerState::present) {
      EXPECT_FALSE(layer.costs.empty()) << layer.name;
      EXPECT_NE(missing_isolation().find(layer.costs), std::string::npos) << layer.name;
    }
  }
  const auto state_of = [&](const std::string& name) {
    return std::find_if(all.begin(), all.end(), [&](const Layer& layer) { return layer.name == name; })->state;
  };
  EXPECT_EQ(state_of("landlock") == LayerState::present, capabilities().landlock > 0);
  EXPECT_EQ(state_of("seccomp") == LayerState::present, capabilities().filters);
  EXPECT_EQ(state_of("read-only") == LayerState::present, capabilities().read_only_mounts);
  EXPECT_EQ(state_of("watching") == LayerState::present, capabilities().watching);
  EXPECT_EQ(state_of("no-new-privs"), LayerState::present);
}

}  // namespace
}  // namespace accelopt::sandbox
