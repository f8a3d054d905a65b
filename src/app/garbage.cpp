// SPDX-License-Identifier: Apache-2.0
#include "app/garbage.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "app/background.hpp"
#include "app/run.hpp"
#include "app/workspace.hpp"
#include "base/files.hpp"

namespace accelopt::app {
namespace {

std::int64_t bytes_below(const std::filesystem::path& folder) {
  std::int64_t bytes = 0;
  std::error_code problem;
  for (std::filesystem::recursive_directory_iterator entry(folder, problem), end; !problem && entry != end;
       entry.increment(problem)) {
    std::error_code gone;
    const auto size = entry->is_regular_file(gone) && !entry->is_symlink(gone) ? entry->file_size(gone) : 0;
    if (!gone) bytes += static_cast<std::int64_t>(size);
  }
  return bytes;
}

namespace fs = std::filesystem;

/// Whoever asked for a command may still come for its outcome.
constexpr std::chrono::hours kOutcomesStay{1};

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code problem;
  for (fs::directory_iterator it(folder, problem), end; !problem && it != end; it.increment(problem))
    entries.push_back(it->path());
  return entries;
}

bool is_old(const fs::path& path) {
  std::error_code problem;
  const auto changed = fs::last_write_time(path, problem);
  return !problem && fs::file_time_type::clock::now() - changed > kOutcomesStay;
}

/// "eval-20261121-101502-3fa9c1": as a command in the background is named by who has it carried out.
bool is_job_name(std::string_view name) {
  const std::size_t dash = name.find('-');
  return dash != std::string_view::npos && dash > 0 &&
         name.substr(0, dash).find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string_view::npos &&
         is_run_id(name.substr(dash + 1));
}

bool is_file(const fs::path& path) {
  std::error_code problem;
  return fs::is_regular_file(fs::symlink_status(path, problem));
}

bool is_folder(const fs::path& path) {
  std::error_code problem;
  return fs::is_directory(fs::symlink_status(path, problem));
}

/// What no run needs of commands in the background (jobs/), of runs there (logs/) and of what runs asked clients
/// (questions/): ended commands, done runs, and what belongs to no run. Runs that can be continued keep theirs. The
/// workspace may be a folder of somebody's project: what has another name than accelopt gives is theirs.
base::Result<std::vector<fs::path>> leftovers(const fs::path& workspace) {
  const auto logs = entries_of(workspace / "logs");
  const auto questions = entries_of(workspace / "questions");
  // After the listing: a run is on record before it leaves anything there.
  TRY_ASSIGN(const auto journal, open_workspace(workspace, journal::Access::read_only));
  TRY_ASSIGN(const auto runs, journal->list_runs());
  std::set<std::string> open_runs;
  std::set<std::string> mailboxes;
  for (const journal::RunInfo& run : runs) {
    if (run.status == model::RunStatus::done) continue;
    open_runs.insert(run.id);
    // Settings that cannot be read: whatever it may ask is kept with them.
    TRY_ASSIGN(const RunSettings settings, run_settings_from(run.settings));
    mailboxes.insert(fs::path(settings.agents.mailbox).filename().string());
  }
  std::vector<fs::path> out;
  for (const fs::path& path : logs) {
    const fs::path stem = stem_of_background_file(path);
    const std::string run = stem.filename().string();
    if (is_run_id(run) && is_file(path) && !open_runs.contains(run) && !goes_on_in_background(stem))
      out.push_back(path);
  }
  for (const fs::path& path : questions) {
    const std::string name = path.filename().string();
    if (is_run_id(name) && is_folder(path) && !mailboxes.contains(name)) out.push_back(path);
  }
  for (const fs::path& path : entries_of(workspace / "jobs")) {
    const fs::path stem = stem_of_background_file(path);
    if (is_job_name(stem.filename().string()) && is_file(path) && is_old(path) && !goes_on_in_background(stem))
      out.push_back(path);
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::int64_t bytes_of(const fs::path& path) {
  std::error_code problem;
  const fs::file_status status = fs::symlink_status(path, problem);
  if (fs::is_directory(status)) return bytes_below(path);
  if (!fs::is_regular_file(status)) return 0;
  const auto size = fs::file_size(path, problem);
  return problem ? 0 : static_cast<std::int64_t>(size);
}

}  // namespace

base::Result<FreedSpace> free_space(const std::filesystem::path& workspace, journal::Sweep sweep) {
  TRY(open_workspace(workspace, journal::Access::read_only));  // says what to do where there is none
  FreedSpace freed;
  freed.workspace = workspace;
  freed.sweep = sweep;
  TRY_ASSIGN(freed.objects, journal::collect_garbage(workspace, sweep));
  TRY_ASSIGN(const auto left, leftovers(workspace));
  for (const fs::path& path : left) {
    const std::int64_t bytes = bytes_of(path);
    std::error_code problem;
    if (sweep == journal::Sweep::remove) fs::remove_all(path, problem);
    if (problem) continue;
    freed.leftovers.push_back(path);
    freed.leftover_bytes += bytes;
  }
  for (const std::filesystem::path& folder : base::abandoned_temporary_folders()) {
    const std::int64_t bytes = bytes_below(folder);
    std::error_code problem;
    if (sweep == journal::Sweep::remove) std::filesystem::remove_all(folder, problem);
    if (problem) continue;
    freed.folders.push_back(folder);
    freed.folder_bytes += bytes;
  }
  return freed;
}

base::Json to_json(const FreedSpace& freed) {
  const auto texts = [](const std::vector<fs::path>& paths) {
    base::Json out = base::Json::array();
    for (const fs::path& path : paths) out.push_back(path.string());
    return out;
  };
  return {{"type", "gc"},
          {"schema", 1},
          {"workspace", freed.workspace.string()},
          {"dry_run", freed.sweep == journal::Sweep::look},
          {"objects", freed.objects.objects},
          {"object_bytes", freed.objects.bytes},
          {"objects_kept", freed.objects.kept},
          {"folders", freed.folders.size()},
          {"folder_bytes", freed.folder_bytes},
          {"folder_paths", texts(freed.folders)},
          {"leftovers", freed.leftovers.size()},
          {"leftover_bytes", freed.leftover_bytes},
          {"leftover_paths", texts(freed.leftovers)}};
}

}  // namespace accelopt::app
