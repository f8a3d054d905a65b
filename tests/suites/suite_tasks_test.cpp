// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "suites/lint.hpp"
#include "suites/task_folder.hpp"

namespace accelopt::suites {
namespace {

using base::ErrorCode;
namespace fs = std::filesystem;

TEST(SuiteTasks, AreTheSubFoldersWithATaskSortedByName) {
  const auto folder = base::TemporaryFolder::create("accelopt-suite");
  ASSERT_TRUE(folder);
  for (const char* name : {"b", "a", "c"}) fs::create_directory(folder->path() / name);
  ASSERT_TRUE(base::write_file(folder->path() / "b" / "task.toml", ""));
  ASSERT_TRUE(base::write_file(folder->path() / "a" / "task.toml", ""));
  ASSERT_TRUE(base::write_file(folder->path() / "task.toml", ""));
  const auto tasks = find_suite_tasks(folder->path());
  ASSERT_TRUE(tasks) << tasks.error().message;
  EXPECT_EQ(*tasks, (std::vector<fs::path>{folder->path() / "a", folder->path() / "b"}));
  EXPECT_EQ(find_suite_tasks(folder->path() / "c").error().code, ErrorCode::not_found);
  EXPECT_EQ(find_suite_tasks(folder->path() / "d").error().code, ErrorCode::not_found);
}

TEST(SuiteTasks, BundledSuitesLoad) {
  for (const char* suite : {"nkibench-cpu", "nkibench-cuda"}) {
    const auto tasks = find_suite_tasks(fs::path(ACCELOPT_SUITES) / suite);
    ASSERT_TRUE(tasks) << tasks.error().message;
    EXPECT_EQ(tasks->size(), 14U) << suite;
    for (const fs::path& folder : *tasks) {
      const auto task = load_task(folder);
      ASSERT_TRUE(task) << task.error().message;
      EXPECT_EQ(task->definition.name, folder.filename().string());
      for (const Problem& problem : lint_task(*task, {.cores = 2, .folder = folder})) {
        EXPECT_EQ(problem.severity, Severity::advice) << to_string(problem, "");
      }
    }
  }
}

}  // namespace
}  // namespace accelopt::suites
