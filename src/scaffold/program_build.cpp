// SPDX-License-Identifier: Apache-2.0
#include "scaffold/program_build.hpp"

#include <fmt/format.h>

#include "base/files.hpp"
#include "sandbox/landlock.hpp"
#include "sandbox/probe.hpp"
#include "sandbox/run.hpp"
#include "scaffold/patch_check.hpp"
#include "targets/cpu/compiler.hpp"

namespace accelopt::scaffold {
namespace {

namespace fs = std::filesystem;
using base::Result;

constexpr const char* kToolFolders = "/usr/local/bin:/usr/bin:/bin";
constexpr std::chrono::milliseconds kBuildWall{600'000};
constexpr std::uint64_t kBuildCpuSeconds = 600;  // of each process
constexpr std::uint64_t kBuildMemoryBytes = 8ULL << 30;
constexpr std::uint64_t kBuildFileBytes = 1ULL << 30;
constexpr std::uint64_t kBuildProcesses = 256;
constexpr std::uintmax_t kMostCopiedBytes = 2ULL << 30;

/// Databases are not even opened: closing one would drop the locks of the journal that is open here.
bool is_left_out(const fs::path& file) {
  return file.filename() == "CMakeCache.txt" || file.extension().string().starts_with(".db");
}

/// Copies folders, regular files and links as links. A build's own folder would name the place that it was made in.
Result<void> copy_repository(const fs::path& from, const fs::path& to) {
  std::uintmax_t bytes = 0;
  std::error_code failed;
  fs::recursive_directory_iterator entry(from, failed);
  for (; !failed && entry != fs::recursive_directory_iterator(); entry.increment(failed)) {
    const fs::path target = to / entry->path().lexically_relative(from);
    std::error_code ignored;
    if (entry->is_symlink(failed)) {
      fs::copy_symlink(entry->path(), target, failed);
    } else if (entry->is_directory(failed)) {
      const bool built = fs::exists(entry->path() / "CMakeCache.txt", ignored);
      if (built || entry->path().filename() == ".git") {
        entry.disable_recursion_pending();
      } else {
        fs::create_directory(target, failed);
      }
    } else if (entry->is_regular_file(failed) && !is_left_out(entry->path())) {
      bytes += entry->file_size(failed);
      if (bytes > kMostCopiedBytes) {
        return base::fail(base::ErrorCode::exhausted,
                          from.string() + " holds over 2 GiB, too much for a copy to build; leave out --allow-build");
      }
      fs::copy_file(entry->path(), target, failed);
    }
    if (failed) break;
  }
  if (failed) return base::fail_errno(failed.value(), "copying " + from.string());
  return {};
}

/// Compilers that write down how they are called, each call to a file of its own: folder, the real program and its
/// arguments, a zero byte after each.
Result<void> write_recorders(const fs::path& folder, const fs::path& records) {
  for (const char* name : {"cc", "c++", "gcc", "g++", "clang", "clang++"}) {
    const std::string real = targets::cpu::find_program(name, kToolFolders);
    if (real.empty()) continue;
    TRY(base::write_file(folder / name, fmt::format("#!/bin/sh\nprintf '%s\\0' \"$PWD\" {1} \"$@\" > '{0}'/$$\n"
                                                    "exec {1} \"$@\"\n",
                                                    records.string(), real)));
    fs::permissions(folder / name, fs::perms::owner_all);
  }
  return {};
}

/// How the recorded calls compiled the file, if one did.
Result<std::optional<UserBuild>> recorded_flags(const fs::path& records, const fs::path& file,
                                                const std::string& command) {
  constexpr std::size_t kMostRecordBytes = 1UL << 20;
  std::error_code failed;
  for (fs::directory_iterator entry(records, failed); !failed && entry != fs::directory_iterator();
       entry.increment(failed)) {
    TRY_ASSIGN(const std::string text, base::read_foreign_file(entry->path(), kMostRecordBytes));
    std::vector<std::string> words;
    for (std::size_t at = 0, end = 0; (end = text.find('\0', at)) != std::string::npos; at = end + 1) {
      words.push_back(text.substr(at, end - at));
    }
    if (words.empty()) continue;
    const fs::path folder = words.front();
    words.erase(words.begin());
    for (const std::string& word : words) {
      std::error_code ignored;
      if (word.starts_with('-') || fs::weakly_canonical(folder / word, ignored) != file) continue;
      return std::optional(user_build_of(words, folder, command));
    }
  }
  return std::optional<UserBuild>();
}

Result<sandbox::RunResult> run_confined(const std::string& command, const fs::path& own, const std::stop_token& stop) {
  static const auto filter = sandbox::compile_filter(sandbox::FilterKind::compile);
  if (!filter || !sandbox::capabilities().filters || sandbox::capabilities().landlock == 0) {
    return base::fail(base::ErrorCode::unsupported,
                      "--allow-build needs Landlock and system call filters, or your build could reach all of your "
                      "files; accelopt doctor says which is missing here");
  }
  const sandbox::FileRules files{
      {"/usr", "/lib", "/lib64", "/bin", "/opt", "/nix/store", "/etc/ld.so.cache", "/etc/alternatives", own / "tools"},
      {own / "tree", own / "records", own / "tmp", "/dev/null"}};
  TRY_ASSIGN(const base::FileDescriptor rules, sandbox::make_rule_set(files));
  sandbox::SpawnOptions options;
  options.program = "/bin/sh";
  options.arguments = {"-c", command};
  options.environment = {"PATH=" + (own / "tools").string() + ":" + kToolFolders, "LC_ALL=C",
                         "HOME=" + (own / "tmp").string(), "TMPDIR=" + (own / "tmp").string()};
  options.directory = (own / "tree").string();
  options.limits = {.address_space_bytes = kBuildMemoryBytes,
                    .file_bytes = kBuildFileBytes,
                    .cpu_seconds = kBuildCpuSeconds,
                    .processes = kBuildProcesses,
                    .descriptors = 1024};
  options.named_user = true;
  options.changes_only = {{own.string()}};  // as one: files may be moved from the temporary folder into the tree
  options.filter = &*filter;
  options.file_rules = &rules;
  return sandbox::run(std::move(options), {kBuildWall, 4UL << 20}, nullptr, stop);
}

std::string without_prefix(std::string text, const std::string& prefix) {
  for (std::size_t at = 0; (at = text.find(prefix, at)) != std::string::npos;) text.erase(at, prefix.size());
  return text;
}

}  // namespace

Result<ProgramBuild> build_program(const std::string& command, const fs::path& file, const WinnerPatch* patch,
                                   const std::stop_token& stop) {
  TRY_ASSIGN(const auto temporary, base::TemporaryFolder::create("accelopt-build"));
  const fs::path own = fs::canonical(temporary.path());
  for (const char* name : {"tree", "records", "tools", "tmp"}) TRY(base::make_folders(own / name));
  const fs::path repository = repository_of(file);
  TRY(copy_repository(repository, own / "tree"));
  const auto in_copy = [&](const fs::path& path) { return own / "tree" / path.lexically_relative(repository); };
  if (patch != nullptr) {
    for (const PatchedFile& changed : patch->files) TRY(base::write_file(in_copy(changed.path), changed.after));
  }
  TRY(write_recorders(own / "tools", own / "records"));
  TRY_ASSIGN(const sandbox::RunResult ran, run_confined(command, own, stop));
  if (ran.timed_out) return ProgramBuild{"it did not finish within ten minutes", {}};
  if (!ran.state.exited || ran.state.code != 0) {
    const std::string error = without_prefix(first_error(ran.output), (own / "tree").string() + "/");
    return ProgramBuild{error.empty() ? "it failed and printed nothing" : error, {}};
  }
  TRY_ASSIGN(auto flags, recorded_flags(own / "records", in_copy(file), command));
  return ProgramBuild{{}, std::move(flags)};
}

}  // namespace accelopt::scaffold
