// SPDX-License-Identifier: Apache-2.0
#include "app/refactor_change.hpp"

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "vcs/git.hpp"

namespace accelopt::app {
namespace {

constexpr const char* kTask = R"(schema = 1
kind = "refactor"
name = "f"
repository = ".."
base = "HEAD"
language = "python"
scope = ["d/m.py#f"]

[driver]
cases = ["false", "{seed}", "{size}", "{out}"]
run = ["false", "{cases}", "{results}"]
compare = "bytes"

[[workloads]]
name = "random"
sizes = [10]
role = "race"
)";

/// A repository with a task whose base neither builds nor runs.
class ExpectApplies : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto repository = own_.path() / "r";
    for (const char* folder : {"d", "accelopt"}) ASSERT_TRUE(base::make_folders(repository / folder));
    ASSERT_TRUE(base::write_file(repository / "d" / "m.py", "def f():\n    return 1\n"));
    ASSERT_TRUE(base::write_file(repository / "accelopt" / "refactor.toml", kTask));
    ASSERT_TRUE(vcs::Repository::make(repository, "made"));
    options_.task = repository / "accelopt";
  }
  /// Why the text is no change; empty: it is one.
  std::string refusal(const std::string& text) {
    EXPECT_TRUE(base::write_file(own_.path() / "change", text));
    const auto applies = expect_applies(options_, {.file = own_.path() / "change"});
    return applies ? "" : applies.error().message;
  }

  base::TemporaryFolder own_ = *base::TemporaryFolder::create("refactor-change-test");
  RefactorOptions options_;
};

TEST_F(ExpectApplies, FormsOfDiffsAndTheNewText_Apply) {
  EXPECT_EQ(refusal("--- a/d/m.py\n+++ b/d/m.py\n@@ -1,2 +1,2 @@\n def f():\n-    return 1\n+    return 2\n"), "");
  EXPECT_EQ(refusal("--- d/m.py\n+++ d/m.py\n@@ -2 +2 @@\n-    return 1\n+    return 2\n"), "");
  EXPECT_EQ(refusal("def f():\n    return 2\n"), "");
}

TEST_F(ExpectApplies, AColouredDiff_IsTakenForADiff) {
  const std::string head = "\x1b[1m--- a/d/m.py\x1b[m\n\x1b[1m+++ b/d/m.py\x1b[m\n\x1b[36m@@ -2 +2 @@\x1b[m\n";
  EXPECT_EQ(refusal(head + "\x1b[31m-    return 1\x1b[m\n\x1b[32m+\x1b[m\x1b[32m    return 2\x1b[m\n"), "");
  EXPECT_NE(refusal(head + "\x1b[31m-    return 3\x1b[m\n").find("the diff does not apply to the base"),
            std::string::npos);
}

TEST_F(ExpectApplies, ADiffAgainstOtherCode_IsRefusedBeforeTheBaseRuns) {
  const std::string why =
      refusal("--- a/d/m.py\n+++ b/d/m.py\n@@ -1,2 +1,2 @@\n def g():\n-    return 1\n+    return 2\n");
  EXPECT_NE(why.find("the diff does not apply to the base"), std::string::npos) << why;
  EXPECT_NE(why.find("make it against the commit"), std::string::npos) << why;
}

TEST_F(ExpectApplies, ACommitThatIsNotThere_IsRefused) {
  const auto applies = expect_applies(options_, {.commit = "nowhere"});
  ASSERT_FALSE(applies);
  EXPECT_NE(applies.error().message.find("no commit \"nowhere\""), std::string::npos) << applies.error().message;
}

}  // namespace
}  // namespace accelopt::app
