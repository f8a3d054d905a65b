// SPDX-License-Identifier: Apache-2.0
#include "app/package.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "app/dataset_export.hpp"
#include "app/user_build_race.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "model/tuning.hpp"
#include "packages/package.hpp"
#include "report/format.hpp"

namespace accelopt::app {
namespace {

struct FormRow {
  Form form;
  std::string_view name;
  std::vector<std::string_view> targets;  ///< whose solutions have it; empty: every one's
};

const std::array<FormRow, 6>& forms() {
  static const std::array<FormRow, 6> rows{{{Form::patch, "patch", {}},
                                            {Form::cpp, "cpp", {"cpu"}},
                                            {Form::cuda, "cuda", {"cuda"}},
                                            {Form::torch, "torch", {"cuda", "triton"}},
                                            {Form::triton, "triton", {"triton"}},
                                            {Form::flashinfer_trace, "flashinfer-trace", {}}}};
  return rows;
}

bool fits(const FormRow& row, const std::string& target) {
  return row.targets.empty() || std::find(row.targets.begin(), row.targets.end(), target) != row.targets.end();
}

base::Result<packages::Package> package_in(Form form, const packages::PackageRequest& request) {
  if (form == Form::cpp) return packages::cpp_package(request);
  if (form == Form::cuda) return packages::cuda_package(request);
  if (form == Form::torch) return packages::torch_package(request);
  return packages::triton_package(request);
}

base::Result<void> check_folder(const std::filesystem::path& folder, Overwrite overwrite) {
  std::error_code ignored;
  if (overwrite == Overwrite::replace || !std::filesystem::exists(folder, ignored) ||
      std::filesystem::is_empty(folder, ignored))
    return {};
  return base::fail(base::ErrorCode::already_exists,
                    folder.string() + " is not empty; name another folder, or on the command line add --force");
}

base::Result<void> export_all(const BestOptions& options, const BestPorts& ports, const std::vector<Winner>& winners) {
  TRY(check_folder(options.output, options.force ? Overwrite::replace : Overwrite::refuse));
  for (const Winner& winner : winners) {
    TRY(export_dataset(winner, {.output = options.output}));
    ports.say(fmt::format("wrote the winner of {} into {}", winner.run.task_name, options.output));
  }
  return {};
}

}  // namespace

base::Result<Form> parse_form(std::string_view name) {
  std::vector<std::string> names;
  for (const FormRow& row : forms()) {
    if (row.name == name) return row.form;
    names.emplace_back(row.name);
  }
  return base::fail(base::ErrorCode::invalid_argument,
                    fmt::format("--as {}: there is no such form; known are {}", name, base::joined(names, ", ")));
}

std::string_view form_name(Form form) {
  const auto row = std::find_if(forms().begin(), forms().end(), [&](const FormRow& one) { return one.form == form; });
  return row->name;
}

base::Result<void> check_form(Form form, const model::Task& task) {
  std::vector<std::string> fitting;
  for (const FormRow& row : forms()) {
    if (!fits(row, task.target)) continue;
    if (row.form == form) return {};
    fitting.emplace_back(row.name);
  }
  return base::fail(base::ErrorCode::unsupported,
                    fmt::format("a solution of {} (target {}) cannot be written as {}; it can be as {}",
                                task.definition.name, task.target, form_name(form), base::joined(fitting, ", ")));
}

base::Result<std::vector<std::filesystem::path>> write_package(Form form, const PackageSource& source,
                                                               const std::filesystem::path& folder,
                                                               Overwrite overwrite) {
  TRY(check_form(form, source.task));
  TRY(check_folder(folder, overwrite));
  for (const model::SourceFile& file : source.solution.sources) {
    if (std::filesystem::path(file.name).filename() == file.name) continue;
    return base::fail(base::ErrorCode::invalid_argument,
                      "the solution's file " + file.name + " lies in a folder, and a package has none for it");
  }
  const model::Solution alone = model::standing_alone(source.solution);
  packages::PackageRequest request{source.task, alone, source.claim};
  if (form == Form::cpp) request.flags = measured_flags(source.solution);
  TRY_ASSIGN(const packages::Package package, package_in(form, request));
  std::vector<std::filesystem::path> out;
  for (const packages::PackageFile& file : package) {
    out.push_back(folder / file.name);
    std::error_code problem;
    std::filesystem::create_directories(out.back().parent_path(), problem);
    if (problem) {
      return base::fail(base::ErrorCode::io,
                        "cannot make " + out.back().parent_path().string() + ": " + problem.message());
    }
    TRY(base::write_file(out.back(), file.text));
  }
  return out;
}

std::string claim_of(const Winner& winner) {
  if (!winner.speedup) return "";
  return fmt::format("Confirmed {} as fast as the baseline that it was made from.",
                     report::format_ratio(*winner.speedup));
}

base::Result<void> take_home(const Shell& shell, Form form, const BestOptions& options, const BestPorts& ports,
                             const std::vector<Winner>& winners) {
  for (const Winner& winner : winners) TRY(check_form(form, winner.run.task));
  if (form == Form::flashinfer_trace) return export_all(options, ports, winners);
  if (form == Form::patch) {
    for (const Winner& winner : winners) {
      if (winner.run.task.entry) continue;
      return base::fail(base::ErrorCode::invalid_argument,
                        "the task " + winner.run.task_name +
                            " has no [entry] that says which function of yours to patch; make the task with: accelopt "
                            "init FILE --function NAME");
    }
    return write_winners(shell, options, ports, winners);
  }
  for (const Winner& winner : winners) {
    const std::filesystem::path folder = std::filesystem::path(options.output);
    const std::filesystem::path own = winners.size() == 1 ? folder : folder / winner.run.task.definition.name;
    TRY_ASSIGN(const auto files, write_package(form, {winner.run.task, winner.solution, claim_of(winner)}, own,
                                               options.force ? Overwrite::replace : Overwrite::refuse));
    ports.say(fmt::format("wrote {} files into {}; how to build and test them: {}", files.size(), own.string(),
                          (own / "README.md").string()));
  }
  return {};
}

}  // namespace accelopt::app
