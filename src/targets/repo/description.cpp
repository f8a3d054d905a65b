// SPDX-License-Identifier: Apache-2.0
#include "targets/repo/description.hpp"

namespace accelopt::targets::repo {

const model::TargetDescription& description() {
  static const model::TargetDescription kDescription = [] {
    // One for all: what the code is written in is the task's to say (model::language_name).
    model::LanguageDescription files;
    files.language = model::Language("repo");
    files.form = model::KernelForm::files;
    files.title = "code";
    files.prompts = "repo";
    model::TargetDescription out;
    out.name = "repo";
    out.languages = {files};
    out.profiles_on_demand = true;
    return out;
  }();
  return kDescription;
}

}  // namespace accelopt::targets::repo
