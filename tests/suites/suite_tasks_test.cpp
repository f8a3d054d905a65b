// SPDX-License-Identifier: Apache-2.0
#include <map>

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "suites/lint.hpp"
#include "suites/task_folder.hpp"
#include "suites/task_reader.hpp"

namespace accelopt::suites {
namespace {

using base::ErrorCode;
using base::Problem;
using base::Severity;
namespace fs = std::filesystem;

TEST(LoadTask, ThousandsOfMistakes_AreToldInAShortMessage) {
  const auto folder = base::TemporaryFolder::create("task-folder").value();
  std::string toml;
  for (int i = 0; i < 2000; ++i) toml += "x" + std::to_string(i) + std::string(2000, 'y') + " = 1\n";
  ASSERT_TRUE(base::write_file(folder.path() / "task.toml", toml));
  const auto task = load_task(folder.path());
  ASSERT_FALSE(task);
  EXPECT_LT(task.error().message.size(), 60'000U);
  EXPECT_NE(task.error().message.find(" more"), std::string::npos);
}

TEST(LoadTask, ShownNames_FitIntoALine) {
  const auto said = [](const std::string& toml, const std::string& key) {
    std::string text;
    for (const Problem& problem : read_task_toml(toml).problems)
      if (problem.key == key) text += problem.message;
    return text;
  };
  EXPECT_EQ(said(R"(name = "a\u001b[2J")", "name"), "holds the character U+001B, which cannot be shown; leave it out");
  EXPECT_TRUE(said(R"(name = "a\nb")", "name").starts_with("holds the character U+000A"));
  EXPECT_TRUE(said(R"(name = "a\u202eb")", "name").starts_with("holds the character U+202E"));
  EXPECT_TRUE(said(R"(op_type = "a\u009b2J")", "op_type").starts_with("holds the character U+009B"));
  EXPECT_TRUE(
      said("[[workloads]]\nname = \"a\\u200bb\"", "workloads[0].name").starts_with("holds the character U+200B"));
  EXPECT_EQ(said("name = \"" + std::string(201, 'a') + "\"", "name"), "has 201 bytes; choose a name of at most 200");
  EXPECT_EQ(said("name = \"" + std::string(200, 'a') + "\"", "name"), "");
  EXPECT_EQ(said("name = \"\xC3\xA9"
                 "chelle <x> \xC3\x97 2\"",
                 "name"),
            "");
}

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
  const std::map<std::string, std::size_t> suites{
      {"flashinfer-bench", 9}, {"kernels-cpu", 12}, {"nkibench-cpu", 14}, {"nkibench-cuda", 14}};
  for (const auto& [suite, size] : suites) {
    const auto tasks = find_suite_tasks(fs::path(ACCELOPT_SUITES) / suite);
    ASSERT_TRUE(tasks) << tasks.error().message;
    EXPECT_EQ(tasks->size(), size) << suite;
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

TEST(SuiteTasks, ReferencesOfBothPlacesAreForThoseWithAnInterpreter) {
  const fs::path gemm = fs::path(ACCELOPT_SUITES) / "flashinfer-bench" / "gemm";
  const auto here = load_task(gemm, ReferenceRuns::on_processor);
  ASSERT_TRUE(here) << here.error().message;
  EXPECT_EQ(here->reference.name, "reference.cpp");
  const auto there = load_task(gemm);
  ASSERT_TRUE(there) << there.error().message;
  EXPECT_EQ(there->reference.name, "reference.cu");

  const auto folder = base::TemporaryFolder::create("accelopt-suite");
  ASSERT_TRUE(folder);
  fs::copy(gemm, folder->path(), fs::copy_options::recursive);
  fs::remove(folder->path() / "reference.cpp");
  const auto one = load_task(folder->path(), ReferenceRuns::on_processor);
  ASSERT_TRUE(one) << one.error().message;
  EXPECT_EQ(one->reference.name, "reference.cu") << "which the interpreter then refuses by name";

  fs::copy(fs::path(ACCELOPT_SUITES) / "nkibench-cuda" / "silu", folder->path() / "silu");
  ASSERT_TRUE(base::write_file(folder->path() / "silu" / "reference.cpp", "void reference();\n"));
  const auto two = load_task(folder->path() / "silu");
  ASSERT_FALSE(two);
  EXPECT_NE(two.error().message.find("reference.cpp: stands beside reference.cu; keep one of them"), std::string::npos)
      << two.error().message;
}

}  // namespace
}  // namespace accelopt::suites
