// SPDX-License-Identifier: Apache-2.0
#include "refactor/jail.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/files.hpp"
#include "sandbox/landlock.hpp"
#include "sandbox/probe.hpp"
#include "sandbox/run.hpp"

namespace accelopt::refactor {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::Result;

constexpr auto kMachine = std::to_array<const char*>({"/usr", "/lib", "/lib64", "/bin", "/opt", "/etc/ld.so.cache",
                                                      "/etc/alternatives", "/etc/localtime", "/dev/urandom"});
constexpr const char* kNullDevice = "/dev/null";
constexpr auto kToolFolders = std::to_array<const char*>({"/usr/local/bin", "/usr/bin", "/bin", "/usr/local/go/bin"});
/// Where a folder of tools has its programs: as a virtual environment, where npm installs, node_modules itself.
constexpr auto kProgramFolders = std::to_array<const char*>({"bin", "node_modules/.bin", ".bin"});
constexpr std::uint64_t kProcesses = 256;
constexpr std::uint64_t kDescriptors = 1024;
/// Pipes hold what nobody's resident memory shows: 64 KiB behind each descriptor. Node starts with 20 of them.
constexpr std::uint64_t kCountedDescriptors = 24;
constexpr std::uint64_t kFileBytes = 1ULL << 30;
/// Of wall-clock time for each second of processor time that is allowed: other programs take the cores.
constexpr int kPatience = 5;

bool is_within(const fs::path& path, const fs::path& folder) {
  const fs::path relative = path.lexically_relative(folder);
  return !relative.empty() && *relative.begin() != "..";
}

std::string filled(std::string text, const std::map<std::string, std::string>& words) {
  for (const auto& [word, value] : words) {
    const std::string mark = "{" + word + "}";
    for (std::size_t at = text.find(mark); at != text.npos; at = text.find(mark, at + value.size()))
      text.replace(at, mark.size(), value);
  }
  return text;
}

/// What --tools has to name so that a program in this file runs: a program of npm needs the packages beside its own.
fs::path folder_to_name(const fs::path& file) {
  for (fs::path folder = file.parent_path(); folder.has_relative_path(); folder = folder.parent_path()) {
    if (folder.filename() == "node_modules") return folder;
  }
  const fs::path folder = file.parent_path();
  return folder.filename() == "bin" ? folder.parent_path() : folder;
}

/// @error not_found: no folder of the path has the program, or it is a link to where nothing can be read.
Result<std::string> program_of(const std::string& name, const std::string& path, const fs::path& tree,
                               const std::vector<fs::path>& tools) {
  if (name.find('/') != name.npos) return fs::path(name).is_absolute() ? name : (tree / name).string();
  std::string out_of_reach;
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find(':', at), path.size());
    const std::string candidate = path.substr(at, end - at) + "/" + name;
    at = end + 1;
    std::error_code failed;
    if (access(candidate.c_str(), X_OK) != 0 || !fs::is_regular_file(candidate, failed)) continue;
    const fs::path file = fs::canonical(candidate, failed);
    const auto holds = [&](const fs::path& folder) { return is_within(file, folder); };
    if (failed || std::ranges::any_of(kMachine, holds) || std::ranges::any_of(tools, holds)) return candidate;
    if (out_of_reach.empty()) {
      out_of_reach = "the program \"" + candidate + "\" is a link to " + file.string() +
                     ", which cannot be read here; give --tools " + folder_to_name(file).string() + " as well";
    }
    // Another program of that name would not be the one that --tools names.
    const auto has = [&](const fs::path& folder) { return is_within(candidate, folder); };
    if (std::ranges::any_of(tools, has)) break;
  }
  if (!out_of_reach.empty()) return base::fail(ErrorCode::not_found, out_of_reach);
  return base::fail(ErrorCode::not_found,
                    "the program \"" + name + "\" is not in " + path + "; install it, or name its folder by --tools");
}

}  // namespace

Result<Jail> Jail::create(const Task& task, std::vector<fs::path> tools, std::stop_token stop) {
  if (!sandbox::capabilities().filters || sandbox::capabilities().landlock == 0) {
    return base::fail(ErrorCode::unsupported,
                      "a change could reach your files: refactoring needs Landlock and system call filters; accelopt "
                      "doctor says which is missing here");
  }
  for (fs::path& folder : tools) {
    std::error_code failed;
    folder = fs::canonical(folder, failed);
    if (failed) return base::fail_errno(failed.value(), "--tools " + folder.string());
  }
  const auto reaches = [&](const fs::path& folder) {
    return is_within(task.repository, folder) || is_within(folder, task.repository);
  };
  if (const auto found = std::ranges::find_if(tools, reaches); found != tools.end()) {
    return base::fail(ErrorCode::invalid_argument,
                      "--tools " + found->string() + " would put the repository within reach; name another folder");
  }
  for (const char* folder : kMachine) {
    if (!is_within(task.repository, folder)) continue;
    return base::fail(ErrorCode::invalid_argument, task.repository.string() + " lies in " + folder +
                                                       ", which every program may read; move it elsewhere");
  }
  return Jail(task, std::move(tools), std::move(stop));
}

std::string Jail::path_variable() const {
  std::string path;
  for (const fs::path& folder : tools_) {
    bool has_own = false;
    for (const char* inner : kProgramFolders) {
      std::error_code absent;
      if (!fs::is_directory(folder / inner, absent)) continue;
      path += (folder / inner).string() + ":";
      has_own = true;
    }
    if (!has_own) path += folder.string() + ":";
  }
  for (const char* folder : kToolFolders) path += std::string(folder) + ":";
  path.pop_back();
  return path;
}

std::vector<std::string> Jail::missing_programs() const {
  std::vector<std::string> missing;
  for (const auto* command : {&task_.build, &task_.test, &task_.cases, &task_.run}) {
    // What has a '/' may be built first.
    if (command->empty() || command->front().find('/') != std::string::npos) continue;
    if (program_of(command->front(), path_variable(), {}, tools_)) continue;
    if (std::ranges::find(missing, command->front()) == missing.end()) missing.push_back(command->front());
  }
  return missing;
}

Result<JailedResult> Jail::run(const JailedRun& run) const {
  static const auto usual = sandbox::compile_filter(sandbox::FilterKind::compile);
  static const auto counted = sandbox::compile_filter(sandbox::FilterKind::counted);
  const bool counts = run.keeping == Keeping::counted;
  const auto& filter = counts ? counted : usual;
  if (!filter) return tl::make_unexpected(filter.error());
  for (const char* name : {"home", "tmp"}) TRY(base::make_folders(run.scratch / name));
  sandbox::FileRules files;
  files.readable.assign(kMachine.begin(), kMachine.end());
  files.readable.insert(files.readable.end(), tools_.begin(), tools_.end());
  files.readable.insert(files.readable.end(), run.readable.begin(), run.readable.end());
  files.writable = {kNullDevice};
  // Not the whole folder: what may be written would be readable as well.
  if (counts)
    files.readable.insert(files.readable.end(), {run.scratch / "home", run.scratch / "tmp"});
  else
    files.writable.push_back(run.scratch);
  (run.access == TreeAccess::write ? files.writable : files.readable).push_back(run.tree);
  if (counts) {
    TRY(base::write_file(run.results, ""));
    files.results = {run.results};
  }
  TRY_ASSIGN(const base::FileDescriptor rules, sandbox::make_rule_set(files));
  const fs::path said = run.scratch.string() + ".errors";
  const base::FileDescriptor errors(open(said.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!errors.valid()) return base::fail_errno(errno, said.string());
  // What it cannot read back is no memory of its own.
  const base::FileDescriptor own_errors(open(said.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (!own_errors.valid()) return base::fail_errno(errno, said.string());
  sandbox::SpawnOptions options;
  const std::string path = path_variable();
  TRY_ASSIGN(options.program, program_of(filled(run.command.front(), run.words), path, run.tree, tools_));
  for (std::size_t i = 1; i < run.command.size(); ++i) options.arguments.push_back(filled(run.command[i], run.words));
  options.environment = {"PATH=" + path, "LC_ALL=C.UTF-8", "HOME=" + (run.scratch / "home").string(),
                         "TMPDIR=" + (run.scratch / "tmp").string()};
  for (const std::string& one : task_.language.environment) {
    options.environment.push_back(filled(one, {{"hash", std::to_string(run.hash_seed % 4'000'000'000)}}));
  }
  options.environment.insert(options.environment.end(), run.environment.begin(), run.environment.end());
  options.directory = run.tree.string();
  const std::int64_t seconds =
      run.most_seconds > 0 ? std::min(run.most_seconds, task_.limits.seconds) : task_.limits.seconds;
  options.limits = {.address_space_bytes = task_.limits.memory_bytes,
                    .file_bytes = kFileBytes,
                    .cpu_seconds = static_cast<std::uint64_t>(seconds),
                    .processes = kProcesses,
                    .descriptors = counts ? kCountedDescriptors : kDescriptors};
  options.named_user = true;
  options.changes_only.emplace();
  for (const auto* const paths : {&files.writable, &files.results}) {
    for (const fs::path& one : *paths) {
      if (one != kNullDevice) options.changes_only->push_back(one.string());
    }
  }
  options.filter = &*filter;
  options.file_rules = &rules;
  options.descriptors = {{own_errors.get(), 2}};
  const sandbox::RunLimits limits{.wall = std::chrono::seconds(seconds * kPatience),
                                  .output_bytes = run.output_bytes,
                                  .peak = counts ? sandbox::Peak::followed : sandbox::Peak::as_told};
  TRY_ASSIGN(auto ran, sandbox::run(std::move(options), limits, nullptr, stop_));
  JailedResult result;
  result.succeeded = !ran.timed_out && ran.state.exited && ran.state.code == 0;
  result.end = ran.timed_out      ? "over " + std::to_string(seconds * kPatience) + " s"
               : ran.state.exited ? "exit " + std::to_string(ran.state.code)
                                  : "signal " + std::to_string(ran.state.signal);
  result.output = std::move(ran.output);
  result.output_dropped = ran.dropped;
  const off_t bytes = lseek(errors.get(), 0, SEEK_END);
  const off_t from = std::max<off_t>(0, bytes - static_cast<off_t>(run.output_bytes));
  result.errors_dropped = from > 0;
  result.errors.resize(static_cast<std::size_t>(bytes - from));
  const ssize_t got = pread(errors.get(), result.errors.data(), result.errors.size(), from);
  result.errors.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  result.cpu_seconds = std::chrono::duration<double>(ran.state.cpu_time).count();
  result.wall_seconds = ran.seconds;
  result.peak_bytes = ran.state.peak_bytes;
  return result;
}

}  // namespace accelopt::refactor
