// SPDX-License-Identifier: Apache-2.0
// A solution taken home: a folder that builds and passes its own test without this program.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "app/best.hpp"
#include "base/result.hpp"
#include "model/solution.hpp"
#include "model/task.hpp"

namespace accelopt::app {

/// What a winner can be written as.
enum class Form { patch, cpp, cuda, torch, triton, flashinfer_trace };

/// @error invalid_argument: no such form; the message lists them.
base::Result<Form> parse_form(std::string_view name);
/// As the command line spells it.
std::string_view form_name(Form form);

/// @error unsupported: solutions of the task's target have no such form; the message says which they have.
base::Result<void> check_form(Form form, const model::Task& task);

struct PackageSource {
  const model::Task& task;
  const model::Solution& solution;
  std::string claim;  ///< what is known of its speed
};

enum class Overwrite { refuse, replace };

/// Writes one of the forms that are packages (cpp, cuda, torch, triton), and names what it wrote.
/// @error as check_form and packages/package.hpp; already_exists: the folder is not empty; what is written.
base::Result<std::vector<std::filesystem::path>> write_package(Form form, const PackageSource& source,
                                                               const std::filesystem::path& folder,
                                                               Overwrite overwrite);

/// What a package says of a winner: its own speed-up with the interval.
std::string claim_of(const Winner& winner);

/// The winners in a form: patch as write_winners, flashinfer_trace as export_dataset, the others each in a folder.
/// @error as these; invalid_argument: a patch of tasks without [entry].
base::Result<void> take_home(const Shell& shell, Form form, const BestOptions& options, const BestPorts& ports,
                             const std::vector<Winner>& winners);

}  // namespace accelopt::app
