// SPDX-License-Identifier: Apache-2.0
#include "app/background.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "app/estimate.hpp"
#include "app/knowledge_place.hpp"
#include "app/run_state.hpp"
#include "base/files.hpp"
#include "base/spawn.hpp"
#include "base/text.hpp"
#include "journal/control.hpp"

namespace accelopt::app {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

/// The descriptor of STEM.exit in the shell that waits for the command.
constexpr int kExitDescriptor = 3;
/// The shell ends at once, so that nobody has to wait for the command. What stays waits for it, writes its exit code,
/// and holds the lock on STEM.exit as long as it lives; the command does not inherit it.
constexpr const char* kScript =
    "stem=$1; shift\n"
    "( \"$@\" </dev/null >\"$stem.out\" 2>\"$stem.err\" 3>&- &\n"
    "  echo $! >\"$stem.pid\"; wait $!; echo $? >&3 ) </dev/null >/dev/null 2>&1 &\n";

/// Of STEM.exit until it is in its place.
constexpr std::string_view kFreshExit = ".exit.new";
constexpr std::string_view kUniqueEnd = ".XXXXXX";  ///< of mkstemp

constexpr std::size_t kMostLastWords = 2000;
constexpr std::size_t kLongestLog = std::size_t{16} << 20U;

std::filesystem::path beside(const std::filesystem::path& stem, const char* suffix) {
  return stem.string() + suffix;
}

/// Descriptors of the shell that waits for a command: the exit file alone.
void set_descriptors(base::SpawnSetup& setup, int exit_file) {
  posix_spawn_file_actions_addopen(setup.actions(), STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(setup.actions(), STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(setup.actions(), STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(setup.actions(), exit_file, kExitDescriptor);
  posix_spawn_file_actions_addclosefrom_np(setup.actions(), kExitDescriptor + 1);
}

/// This process's variables, and the password that was taken out of them.
std::vector<std::string> environment_of(const Shell& shell) {
  std::vector<std::string> variables = base::inherited_variables();
  if (const auto password = shell.environment(kKnowledgePassword))
    variables.push_back(std::string(kKnowledgePassword) + "=" + *password);
  return variables;
}

Result<void> resume_process(const Shell& shell, const std::filesystem::path& workspace, const std::string& run) {
  return start_in_background(
      shell, {{"resume", run, "--workspace", workspace.string(), "--json"}, background_log(workspace, run), {}});
}

/// An empty STEM.exit, locked: a new file, so that a shell that still waits for an earlier command keeps its own.
/// Others may make one at the same time; the last one stays.
Result<base::FileDescriptor> make_exit_file(const std::filesystem::path& stem) {
  const std::filesystem::path path = beside(stem, ".exit");
  std::string fresh = stem.string() + std::string(kFreshExit) + std::string(kUniqueEnd);
  base::FileDescriptor file(::mkostemp(fresh.data(), O_CLOEXEC));
  if (!file.valid()) return base::fail_errno(errno, path.string());
  if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0 && ::rename(fresh.c_str(), path.c_str()) == 0) return file;
  const int problem = errno;
  static_cast<void>(::unlink(fresh.c_str()));
  return base::fail_errno(problem, path.string());
}

}  // namespace

Result<void> start_in_background(const Shell& shell, const BackgroundCommand& command) {
  TRY(base::make_folders(command.stem.parent_path()));
  for (const char* suffix : {".out", ".err", ".pid"}) TRY(base::write_file(beside(command.stem, suffix), ""));
  TRY_ASSIGN(const base::FileDescriptor exit_file, make_exit_file(command.stem));
  std::vector<std::string> words{"sh", "-c", kScript, "sh", command.stem.string(), shell.program};
  words.insert(words.end(), command.words.begin(), command.words.end());
  std::vector<std::string> variables = environment_of(shell);
  base::SpawnSetup setup(base::Apart::own_session);
  set_descriptors(setup, exit_file.get());
  if (!command.folder.empty()) posix_spawn_file_actions_addchdir_np(setup.actions(), command.folder.c_str());
  pid_t pid = -1;
  const int failed = ::posix_spawn(&pid, "/bin/sh", setup.actions(), setup.attributes(),
                                   base::pointers_to(words).data(), base::pointers_to(variables).data());
  if (failed != 0) return base::fail_errno(failed, "cannot start a process in the background");
  int state = 0;
  while (::waitpid(pid, &state, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(state) && WEXITSTATUS(state) == 0) return {};
  return fail(ErrorCode::io, "cannot start a process in the background: the shell refused it");
}

Result<std::optional<int>> exit_of_background(const std::filesystem::path& stem) {
  const base::FileDescriptor file(::open(beside(stem, ".exit").c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file.valid()) return std::nullopt;  // nobody has begun it
  // Once the shell that waits for the command is gone, what it wrote is all that will be written.
  if (::flock(file.get(), LOCK_SH | LOCK_NB) != 0) return std::nullopt;
  std::array<char, 8> text{};
  const ssize_t got = ::read(file.get(), text.data(), text.size() - 1);
  if (got > 0) return std::atoi(text.data());
  return fail(ErrorCode::unavailable, "the command ended without reporting a result: it was killed; ask for it again");
}

bool goes_on_in_background(const std::filesystem::path& stem) {
  std::error_code ignored;
  const auto exit = exit_of_background(stem);
  const auto file = std::filesystem::symlink_status(beside(stem, ".exit"), ignored);
  return exit && !*exit && std::filesystem::is_regular_file(file);
}

std::filesystem::path stem_of_background_file(const std::filesystem::path& file) {
  std::string name = file.filename().string();
  // One of STEM.exit that did not get to its place, which ends in kUniqueEnd unless an earlier version made it.
  if (const auto at = name.rfind(kFreshExit); at != std::string::npos) {
    const std::string_view rest = std::string_view(name).substr(at + kFreshExit.size());
    const bool unique = rest.size() == kUniqueEnd.size() && rest.front() == kUniqueEnd.front();
    if (rest.empty() || unique) name.resize(at + std::string_view(".exit").size());
  }
  for (const std::string_view suffix : {".out", ".err", ".pid", ".exit"}) {
    if (name.size() > suffix.size() && name.ends_with(suffix))
      return file.parent_path() / name.substr(0, name.size() - suffix.size());
  }
  return {};
}

std::filesystem::path background_log(const std::filesystem::path& workspace, const std::string& run) {
  return workspace / "logs" / run;
}

Result<journal::RunInfo> start_run_in_background(const Shell& shell, journal::Journal& journal, const NewRun& begun) {
  TRY_ASSIGN(const journal::RunInfo run, begin_run(journal, begun.task, begun.folder, begun.settings));
  auto recorded = record_estimate(journal, run.id, begun.estimate);
  if (recorded) recorded = resume_process(shell, journal.folder(), run.id);
  if (recorded) return run;
  discard_failed_start(journal, run.id, recorded.error());
  return tl::make_unexpected(recorded.error());
}

Result<void> resume_in_background(const Shell& shell, const std::filesystem::path& workspace, const std::string& run) {
  TRY_ASSIGN(const auto control, journal::open_control(workspace, journal::Access::read_only));
  TRY_ASSIGN(const RunState state, state_of(*control, run));
  if (state.session && state.alive == journal::Alive::yes)
    return fail(ErrorCode::unavailable, "run " + run + " is running in " + journal::process_of(*state.session));
  // One that has just been resumed has no session yet.
  if (goes_on_in_background(background_log(workspace, run)))
    return fail(ErrorCode::unavailable, "run " + run + " is starting or ending in the background; try again later");
  return resume_process(shell, workspace, run);
}

std::string last_words(const std::filesystem::path& workspace, const std::string& run) {
  const auto text = base::read_foreign_file(beside(background_log(workspace, run), ".err"), kLongestLog);
  if (!text) return {};
  return text->size() <= kMostLastWords ? *text : "..." + text->substr(text->size() - kMostLastWords);
}

}  // namespace accelopt::app
