// SPDX-License-Identifier: Apache-2.0
#include "cli/patch_trial.hpp"

#include <cstdlib>

#include "suites/task_folder.hpp"

namespace accelopt::cli {
namespace {

std::string compilers_path() {
  const char* path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): before any thread
  return path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path;
}

}  // namespace

base::Result<scaffold::PatchCheck> check_with_compiler(const Shell& shell, const std::string& compiler,
                                                       const scaffold::WinnerPatch& patch,
                                                       const std::optional<scaffold::UserBuild>& build) {
  const auto found = targets::cpu::find_compiler(compiler, compilers_path());
  if (!found) return scaffold::PatchCheck{scaffold::PatchFate::unchecked, found.error().message};
  return scaffold::check_patch(*found, patch, build, shell.stops.abort);
}

base::Result<scaffold::PatchCheck> try_patch(const Shell& shell, const std::string& compiler, const model::Task& task,
                                             const std::filesystem::path& folder) {
  const auto patch = scaffold::make_winner_patch({{task, task.baseline, folder, {}}});
  if (!patch) return scaffold::PatchCheck{scaffold::PatchFate::broken, patch.error().message};
  const auto build = scaffold::find_user_build(suites::entry_flags(folder), patch->files.front().path, {});
  if (!build) return scaffold::PatchCheck{scaffold::PatchFate::unchecked, build.error().message};
  return check_with_compiler(shell, compiler, *patch, *build);
}

}  // namespace accelopt::cli
