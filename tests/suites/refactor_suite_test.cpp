// SPDX-License-Identifier: Apache-2.0
#include "suites/refactor_suite.hpp"

#include <gtest/gtest.h>

#include <set>

#include "base/files.hpp"

namespace accelopt::suites {
namespace {

namespace fs = std::filesystem;

constexpr const char* kToml = R"(schema = 1
kind = "refactor"
name = "small"
version = 1
hash = "sha256:0"
budget_seconds = 60
budget_evaluations = 10
resolved_share = 0.9

[[tasks]]
name = "one"
family = "copies"
language = "c"
program = "cc"
kind = "slow"
peak = 3.5

[[tasks]]
name = "two"
family = "none"
language = "c"
program = "cc"
kind = "optimal"
)";

class RefactorSuiteTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* folder : {"tasks/one", "tasks/two", "solutions"})
      ASSERT_TRUE(base::make_folders(folder_ / folder));
    write("tasks/one/a.c", "int a;\n");
    write("suite.toml", kToml);
  }
  void write(const std::string& name, const std::string& text) { ASSERT_TRUE(base::write_file(folder_ / name, text)); }
  std::string said(const std::string& from, const std::string& to) {
    std::string text = kToml;
    text.replace(text.find(from), from.size(), to);
    write("suite.toml", text);
    const auto read = freeze_refactor_suite(folder_);
    return read ? "" : read.error().message;
  }

  base::TemporaryFolder own_ = *base::TemporaryFolder::create("accelopt-suite-test");
  fs::path folder_ = own_.path();
};

TEST_F(RefactorSuiteTest, Frozen_IsRead) {
  ASSERT_TRUE(freeze_refactor_suite(folder_));
  const auto suite = load_refactor_suite(folder_);
  ASSERT_TRUE(suite) << suite.error().message;
  EXPECT_EQ(suite->tasks.size(), 2U);
  EXPECT_EQ(suite->find("one")->peak, 3.5);
  EXPECT_EQ(suite->find("two")->kind, RefactorTaskKind::optimal);
  EXPECT_EQ(suite->find("three"), nullptr);
  EXPECT_EQ(suite->budget_evaluations, 10);
}

TEST_F(RefactorSuiteTest, AnyChange_IsRefused) {
  const auto changed = [&] {
    const auto suite = load_refactor_suite(folder_);
    return !suite && suite.error().code == base::ErrorCode::corrupt;
  };
  EXPECT_TRUE(changed());  // not frozen yet
  ASSERT_TRUE(freeze_refactor_suite(folder_));
  EXPECT_FALSE(changed());
  write("tasks/one/a.c", "int b;\n");
  EXPECT_TRUE(changed());
  write("tasks/one/a.c", "int a;\n");
  EXPECT_FALSE(changed());
  write("solutions/one.diff", "x");
  EXPECT_TRUE(changed());
  ASSERT_TRUE(freeze_refactor_suite(folder_));
  std::string text = *base::read_file(folder_ / "suite.toml");
  text.replace(text.find("3.5"), 3, "2.5");
  write("suite.toml", text);
  EXPECT_TRUE(changed());
}

TEST_F(RefactorSuiteTest, Problems_AreNamed) {
  EXPECT_NE(said("peak = 3.5", "peak = 0.5").find("over 1"), std::string::npos);
  EXPECT_NE(said("kind = \"optimal\"", "kind = \"optimal\"\npeak = 2.0").find("an optimal task has none"),
            std::string::npos);
  EXPECT_NE(said("kind = \"slow\"", "kind = \"fast\"").find("\"slow\", \"trap\" or \"optimal\""), std::string::npos);
  EXPECT_NE(said("name = \"two\"", "name = \"one\"").find("there already"), std::string::npos);
  EXPECT_NE(said("name = \"two\"", "name = \"../x\"").find("folder's name"), std::string::npos);
  EXPECT_NE(said("name = \"two\"", "name = \"gone\"").find("gone is not there"), std::string::npos);
  EXPECT_NE(said("budget_seconds = 60", "budget_seconds = 0").find("over 0"), std::string::npos);
  EXPECT_NE(said("schema = 1", "schema = 2").find("schema 1 alone"), std::string::npos);
  EXPECT_NE(said("version = 1", "version = 1\nwhat = 1").find("what"), std::string::npos);
}

TEST(RefactorBenchmarks, OurSuite_IsFrozenAndAsWide) {
  const auto suite = load_refactor_suite(ACCELOPT_BENCHMARKS);
  ASSERT_TRUE(suite) << suite.error().message;
  std::set<std::string> languages;
  std::map<std::string, int> families;
  std::map<RefactorTaskKind, int> kinds;
  for (const RefactorSuiteTask& task : suite->tasks) {
    languages.insert(task.language);
    ++kinds[task.kind];
    const bool optimal = task.kind == RefactorTaskKind::optimal;
    if (!optimal) ++families[task.family];
    EXPECT_EQ(fs::exists(suite->folder / "solutions" / (task.name + ".diff")), !optimal) << task.name;
    EXPECT_EQ(fs::exists(suite->folder / "solutions" / (task.name + ".naive.diff")), optimal) << task.name;
    EXPECT_EQ(fs::exists(suite->folder / "solutions" / (task.name + ".obvious.diff")),
              task.kind == RefactorTaskKind::trap)
        << task.name;
    for (const auto& entry : fs::recursive_directory_iterator(suite->folder / "tasks" / task.name))
      EXPECT_NE(entry.path().extension(), ".diff") << "a candidate could read " << entry.path();
  }
  EXPECT_GE(suite->tasks.size(), 14U);
  EXPECT_GE(languages.size(), 6U);
  EXPECT_GE(kinds[RefactorTaskKind::optimal], 4);
  EXPECT_GE(kinds[RefactorTaskKind::trap], 2);
  // A family can be left out, and others teach.
  for (const auto& [family, count] : families) EXPECT_GE(count, 2) << family;
}

}  // namespace
}  // namespace accelopt::suites
