// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <system_error>

#include <fmt/format.h>

#include "app/workspace.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "cli/command.hpp"
#include "journal/garbage.hpp"
#include "report/format.hpp"

namespace accelopt::cli {
namespace {

struct GcOptions {
  std::string workspace;
  bool dry_run = false;
  bool json = false;
};

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

/// Folders of builds and tools that killed processes left behind.
struct Leftovers {
  int folders = 0;
  std::int64_t bytes = 0;
};

Leftovers collect_leftovers(journal::Sweep sweep) {
  Leftovers found;
  for (const std::filesystem::path& folder : base::abandoned_temporary_folders()) {
    const std::int64_t bytes = bytes_below(folder);
    std::error_code problem;
    if (sweep == journal::Sweep::remove) std::filesystem::remove_all(folder, problem);
    if (problem) continue;
    ++found.folders;
    found.bytes += bytes;
  }
  return found;
}

base::Result<Exit> collect(const GcOptions& options) {
  const auto workspace = find_workspace(options.workspace);
  const auto sweep = options.dry_run ? journal::Sweep::look : journal::Sweep::remove;
  TRY(open_workspace(workspace, journal::Access::read_only));  // says what to do where there is none
  TRY_ASSIGN(const journal::Garbage objects, journal::collect_garbage(workspace, sweep));
  const Leftovers folders = collect_leftovers(sweep);
  if (options.json) {
    const base::Json out = {{"type", "gc"},
                            {"schema", 1},
                            {"workspace", workspace.string()},
                            {"dry_run", options.dry_run},
                            {"objects", objects.objects},
                            {"object_bytes", objects.bytes},
                            {"objects_kept", objects.kept},
                            {"folders", folders.folders},
                            {"folder_bytes", folders.bytes}};
    fmt::print("{}\n", base::canonical(out));
    return Exit::done;
  }
  const std::string did = options.dry_run ? "would free" : "freed";
  fmt::print("{} {} in {}: {} object{} that no run refers to ({} stay)\n", did,
             report::format_bytes(static_cast<double>(objects.bytes)), workspace.string(), objects.objects,
             objects.objects == 1 ? "" : "s", objects.kept);
  fmt::print("{} {} in the temporary folder: {} folder{} of builds and tools whose processes were killed\n", did,
             report::format_bytes(static_cast<double>(folders.bytes)), folders.folders,
             folders.folders == 1 ? "" : "s");
  return Exit::done;
}

}  // namespace

void add_gc(CommandLine& app, Action& chosen) {
  Command command = app.add("gc", "Free the disk space that no run needs");
  command.footer(
      "Examples:\n"
      "  accelopt gc --dry-run        only says what it would free\n"
      "  accelopt gc\n"
      "Removes objects of the workspace that nothing on record refers to, and folders of builds and tools that killed\n"
      "processes left behind. Runs, results, kernels and experiences stay. Refuses while a run is active here.\n");
  auto options = std::make_shared<GcOptions>();
  command.option("--workspace", &options->workspace,
                 "Folder of the runs (default: the nearest .accelopt here or above)");
  command.flag("--dry-run", options->dry_run, "Remove nothing: say what would be freed");
  command.flag("--json", options->json, "One JSON object (docs/json.md)");
  command.chosen([&chosen, options] { chosen = [options](Shell&) { return collect(*options); }; });
}

}  // namespace accelopt::cli
