// SPDX-License-Identifier: Apache-2.0
#include "app/garbage.hpp"

#include <system_error>

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

}  // namespace

base::Result<FreedSpace> free_space(const std::filesystem::path& workspace, journal::Sweep sweep) {
  TRY(open_workspace(workspace, journal::Access::read_only));  // says what to do where there is none
  FreedSpace freed;
  freed.workspace = workspace;
  freed.sweep = sweep;
  TRY_ASSIGN(freed.objects, journal::collect_garbage(workspace, sweep));
  for (const std::filesystem::path& folder : base::abandoned_temporary_folders()) {
    const std::int64_t bytes = bytes_below(folder);
    std::error_code problem;
    if (sweep == journal::Sweep::remove) std::filesystem::remove_all(folder, problem);
    if (problem) continue;
    ++freed.folders;
    freed.folder_bytes += bytes;
  }
  return freed;
}

base::Json to_json(const FreedSpace& freed) {
  return {{"type", "gc"},
          {"schema", 1},
          {"workspace", freed.workspace.string()},
          {"dry_run", freed.sweep == journal::Sweep::look},
          {"objects", freed.objects.objects},
          {"object_bytes", freed.objects.bytes},
          {"objects_kept", freed.objects.kept},
          {"folders", freed.folders},
          {"folder_bytes", freed.folder_bytes}};
}

}  // namespace accelopt::app
