// SPDX-License-Identifier: Apache-2.0
#include "refactor/task.hpp"

#include <gtest/gtest.h>

#include "base/files.hpp"

namespace accelopt::refactor {
namespace {

const std::string kTask = R"(schema = 1
kind = "refactor"
name = "reachable"
repository = ".."
language = "python"
scope = ["a/m.py#f"]
[commands]
test = { run = ["python3", "-m", "unittest", "-v"], format = "unittest" }
[driver]
cases = ["python3", "{task}/cases.py", "{seed}", "{size}", "{out}"]
run = ["python3", "{task}/driver.py", "{cases}", "{results}"]
[[workloads]]
name = "random"
sizes = [10, 20]
[limits]
memory = "512M"
)";

base::Result<Task> load(const std::string& text) {
  const auto folder = base::TemporaryFolder::create("refactor-task");
  EXPECT_TRUE(base::write_file(folder->path() / "refactor.toml", text));
  return load_task(folder->path());
}

std::string refusal(const std::string& from, const std::string& to) {
  std::string text = kTask;
  text.replace(text.find(from), from.size(), to);
  const auto task = load(text);
  return task ? "" : task.error().message;
}

TEST(RefactorTask, EveryPart_IsRead) {
  const auto task = load(kTask);
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_EQ(task->scope.front().function, "f");
  EXPECT_EQ(task->test_format, TestFormat::unittest);
  EXPECT_EQ(task->workloads.front().sizes, (std::vector<std::int64_t>{10, 20}));
  EXPECT_EQ(task->limits.memory_bytes, 512ULL << 20);
  EXPECT_EQ(task->language.form, FunctionForm::indentation);
}

TEST(RefactorTask, WhatIsWrong_IsToldByLine) {
  EXPECT_NE(refusal("schema = 1", "schema = 2").find(":1: schema: is 2"), std::string::npos);
  EXPECT_NE(refusal("\"refactor\"", "\"kernel\"").find(":2: kind: must be"), std::string::npos);
  EXPECT_NE(refusal("a/m.py#f", "../m.py").find(":6: scope: \"../m.py\" is no path"), std::string::npos);
  EXPECT_NE(refusal("a/m.py#f", "/etc/m.py").find("is no path of the repository"), std::string::npos);
  EXPECT_NE(refusal("[10, 20]", "[20, 10]").find("ascending"), std::string::npos);
  EXPECT_NE(refusal("[10, 20]", "[10, 99999999999]").find("ascending numbers from 1 to"), std::string::npos);
  EXPECT_NE(refusal("[10, 20]", "[\"?\"]").find("must be an integer"), std::string::npos);
  EXPECT_NE(refusal("format = \"unittest\"", "format = \"unitest\"").find("did you mean \"unittest\""),
            std::string::npos);
  EXPECT_NE(refusal("512M", "a lot").find("\"2G\" or \"512M\""), std::string::npos);
  EXPECT_NE(refusal("{results}", "").find("must use {cases} and {results}"), std::string::npos);
  EXPECT_NE(refusal("name = \"reachable\"", "name = \"../x\"").find("names the branch"), std::string::npos);
  EXPECT_NE(refusal("[limits]", "[limit]").find("limit"), std::string::npos);
  EXPECT_NE(refusal("[limits]", "[critical]\ndevelopers = 1\n[limits]").find("from 2 to 6"), std::string::npos);
  EXPECT_NE(refusal("[limits]", "[critical]\nreviewers = 1\n[limits]").find("reviewers"), std::string::npos);
  EXPECT_NE(refusal("[driver]", "[driver").find("not TOML"), std::string::npos);
}

TEST(RefactorTask, ScopeThatIsProtected_IsRefused) {
  EXPECT_NE(refusal("[\"a/m.py#f\"]", "[\"a/m.py#f\"]\nprotected = [\"a/*.py\"]")
                .find(":6: scope: a/m.py is protected (a/*.py)"),
            std::string::npos);
  EXPECT_NE(refusal("a/m.py#f", "a/go.mod").find("is protected (**/go.mod)"), std::string::npos);
  const auto folder = base::TemporaryFolder::create("refactor-task");
  const std::string own = folder->path().filename().string();
  std::string text = kTask;
  text.replace(text.find("a/m.py#f"), 8, own + "/m.py#f");
  ASSERT_TRUE(base::write_file(folder->path() / "refactor.toml", text));
  const auto task = load_task(folder->path());
  ASSERT_FALSE(task);
  EXPECT_NE(task.error().message.find(own + "/m.py is protected (" + own + "/**)"), std::string::npos);
}

TEST(RefactorTask, Patterns_FitPaths) {
  EXPECT_TRUE(fits_pattern("tests/a/b.py", "tests/**"));
  EXPECT_FALSE(fits_pattern("test/a.py", "tests/**"));
  EXPECT_TRUE(fits_pattern("a/b/go.mod", "**/go.mod"));
  EXPECT_TRUE(fits_pattern("go.mod", "**/go.mod"));
  EXPECT_FALSE(fits_pattern("a/b.lock", "*.lock"));
  EXPECT_TRUE(fits_pattern(".gitmodules", ".git*"));
}

}  // namespace
}  // namespace accelopt::refactor
