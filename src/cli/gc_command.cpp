// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "app/garbage.hpp"
#include "app/workspace.hpp"
#include "cli/command.hpp"
#include "report/format.hpp"
#include "report/text_width.hpp"

namespace accelopt::cli {
namespace {

struct GcOptions {
  std::string workspace;
  bool dry_run = false;
  bool json = false;
};

void print_names(const std::vector<std::filesystem::path>& paths) {
  for (const std::filesystem::path& path : paths) fmt::print("  {}\n", report::printable(path.string()));
}

base::Result<Exit> collect(const GcOptions& options) {
  TRY_ASSIGN(const app::FreedSpace freed,
             app::free_space(app::find_workspace(options.workspace),
                             options.dry_run ? journal::Sweep::look : journal::Sweep::remove));
  if (options.json) {
    fmt::print("{}\n", base::canonical(to_json(freed)));
    return Exit::done;
  }
  const std::string did = options.dry_run ? "would free" : "freed";
  fmt::print("{} {} in {}: {} object{} that no run refers to ({} stay)\n", did,
             report::format_bytes(static_cast<double>(freed.objects.bytes)), freed.workspace.string(),
             freed.objects.objects, freed.objects.objects == 1 ? "" : "s", freed.objects.kept);
  fmt::print("{} {} in the temporary folder: {} folder{} of builds and tools whose processes were killed\n", did,
             report::format_bytes(static_cast<double>(freed.folder_bytes)), freed.folders.size(),
             freed.folders.size() == 1 ? "" : "s");
  print_names(freed.folders);
  fmt::print("{} {} of agents' commands and runs that have ended: {} file{} and folder{}\n", did,
             report::format_bytes(static_cast<double>(freed.leftover_bytes)), freed.leftovers.size(),
             freed.leftovers.size() == 1 ? "" : "s", freed.leftovers.size() == 1 ? "" : "s");
  print_names(freed.leftovers);
  return Exit::done;
}

}  // namespace

void add_gc(CommandLine& app, Action& chosen) {
  Command command = app.add("gc", "Free the disk space that no run needs");
  command.footer(
      "Examples:\n"
      "  accelopt gc --dry-run        only says what it would free\n"
      "  accelopt gc\n"
      "Removes objects of the workspace that nothing on record refers to, folders of builds and tools that killed\n"
      "processes left behind, and outputs, logs and questions of agents' commands and runs that have ended. Runs, "
      "results, kernels and experiences stay.\n"
      "Takes only files and folders whose names accelopt alone gives, and prints the paths of folders and leftovers.\n"
      "Refuses while a run is active here.\n");
  auto options = std::make_shared<GcOptions>();
  command.option("--workspace", &options->workspace,
                 "Folder of the runs (default: the nearest .accelopt here or above)");
  command.flag("--dry-run", options->dry_run, "Remove nothing: say what would be freed");
  command.flag("--json", options->json, "One JSON object (docs/json.md)");
  command.chosen([&chosen, options] { chosen = [options](app::Shell&) { return collect(*options); }; });
}

}  // namespace accelopt::cli
