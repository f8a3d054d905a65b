// SPDX-License-Identifier: Apache-2.0
#include "app/patch_trial.hpp"

#include "scaffold/build_compiler.hpp"
#include "suites/task_folder.hpp"

namespace accelopt::app {
namespace {

std::string programs_of(const Shell& shell) {
  return shell.environment("PATH").value_or("/usr/local/bin:/usr/bin:/bin");
}

}  // namespace

base::Result<std::string> compiler_for(const Shell& shell, const std::string& stated,
                                       const std::optional<scaffold::UserBuild>& build) {
  if (!stated.empty() || !build) return stated;
  return scaffold::cpp_compiler_of(*build, programs_of(shell));
}

base::Result<scaffold::PatchCheck> check_with_compiler(const Shell& shell, const std::string& compiler,
                                                       const scaffold::WinnerPatch& patch,
                                                       const std::optional<scaffold::UserBuild>& build) {
  const auto wanted = compiler_for(shell, compiler, build);
  if (!wanted) return scaffold::PatchCheck{scaffold::PatchFate::unchecked, wanted.error().message};
  const auto found = targets::cpu::find_compiler(*wanted, programs_of(shell));
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

}  // namespace accelopt::app
