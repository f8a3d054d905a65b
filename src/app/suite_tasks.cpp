// SPDX-License-Identifier: Apache-2.0
#include "app/suite_tasks.hpp"

#include <algorithm>
#include <string_view>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "suites/flashinfer_trace/import.hpp"
#include "suites/task_folder.hpp"

namespace accelopt::app {
namespace {

namespace fs = std::filesystem;
namespace trace = suites::flashinfer_trace;

bool is_dataset(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_directory(folder / "definitions", ignored);
}

/// Where the tasks of a dataset lie: one place for each dataset.
fs::path place_of(const fs::path& dataset, const fs::path& workspace) {
  std::error_code ignored;
  const fs::path whole = fs::weakly_canonical(dataset, ignored);
  return workspace / "datasets" / (whole.filename().string() + "-" + base::sha256_hex(whole.string()).substr(0, 12));
}

std::string why_not(const trace::ImportedTask& task) {
  if (!task.refused.empty()) return task.refused;
  if (task.workloads == 0) return "the dataset has no workload for it that a task can have";
  return task.open.empty() ? "" : task.open.front();
}

base::Result<SuiteTasks> tasks_of_dataset(const fs::path& dataset, const fs::path& workspace) {
  const fs::path place = place_of(dataset, workspace);
  std::error_code ignored;
  fs::remove_all(place, ignored);
  TRY(base::make_folders(place));
  TRY_ASSIGN(const auto report, trace::import_dataset({.dataset = dataset, .output = place}));
  SuiteTasks out;
  for (const trace::ImportedTask& task : report.tasks) {
    const std::string why = why_not(task);
    if (why.empty())
      out.folders.push_back(task.folder);
    else
      out.left_out.push_back(task.definition + ": " + why);
  }
  for (const auto& problem : report.problems) out.left_out.push_back(to_string(problem, dataset.string()));
  if (out.folders.empty())
    return base::fail(base::ErrorCode::not_found, dataset.string() + ": none of its definitions is a complete task\n" +
                                                      base::joined(out.left_out, "\n", std::identity()));
  return out;
}

}  // namespace

base::Result<SuiteTasks> suite_tasks(const fs::path& suite, const fs::path& workspace) {
  if (is_dataset(suite)) return tasks_of_dataset(suite, workspace);
  TRY_ASSIGN(auto folders, suites::find_suite_tasks(suite));
  return SuiteTasks{std::move(folders)};
}

}  // namespace accelopt::app
