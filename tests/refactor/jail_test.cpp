// SPDX-License-Identifier: Apache-2.0
#include "refactor/jail.hpp"

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "sandbox/probe.hpp"

namespace accelopt::refactor {
namespace {

namespace fs = std::filesystem;

/// Folders of tools, and what becomes of the program "tool" with each of them.
class JailTools : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto able = sandbox::capabilities();
    if (!able.filters || able.landlock == 0) GTEST_SKIP() << "needs Landlock and system call filters";
    for (const char* folder : {"repository", "tree"}) ASSERT_TRUE(base::make_folders(root_ / folder));
    program("npm/node_modules/tool/bin/run.sh");
    ASSERT_TRUE(base::make_folders(root_ / "npm" / "node_modules" / ".bin"));
    fs::create_symlink("../tool/bin/run.sh", root_ / "npm" / "node_modules" / ".bin" / "tool");
  }
  void program(const fs::path& path) {
    ASSERT_TRUE(base::make_folders((root_ / path).parent_path()));
    ASSERT_TRUE(base::write_file(root_ / path, "#!/bin/sh\necho ran\n"));
    fs::permissions(root_ / path, fs::perms::owner_all);
  }
  /// Its output, or why it does not start.
  std::string said(const fs::path& tools, const std::string& name = "tool") {
    Task task;
    task.repository = root_ / "repository";
    const auto jail = Jail::create(task, {root_ / tools}, {});
    if (!jail) return jail.error().message;
    const auto ran = jail->run({.command = {name}, .tree = root_ / "tree", .scratch = root_ / "scratch"});
    return ran ? ran->output : ran.error().message;
  }

  base::TemporaryFolder own_ = *base::TemporaryFolder::create("jail-test");
  fs::path root_ = fs::canonical(own_.path());
};

TEST_F(JailTools, WhereNpmInstalls_AreFound) {
  EXPECT_EQ(said("npm"), "ran\n");
  EXPECT_EQ(said("npm/node_modules"), "ran\n") << "which has a folder named like the program";
}

TEST_F(JailTools, InBinOrInTheFolderItself_AreFound) {
  program("environment/bin/tool");
  program("plain/tool");
  EXPECT_EQ(said("environment"), "ran\n");
  EXPECT_EQ(said("plain"), "ran\n");
}

TEST_F(JailTools, ALinkOutOfReach_NamesTheFolderToGive) {
  const std::string why = said("npm/node_modules/.bin");
  EXPECT_NE(why.find("is a link to " + (root_ / "npm/node_modules/tool/bin/run.sh").string()), std::string::npos)
      << why;
  EXPECT_NE(why.find("give --tools " + (root_ / "npm/node_modules").string() + " as well"), std::string::npos) << why;
}

TEST_F(JailTools, ALinkOutOfReach_IsNotReplacedByTheSystemsProgram) {
  program("far/sh");
  ASSERT_TRUE(base::make_folders(root_ / "environment" / "bin"));
  fs::create_symlink(root_ / "far/sh", root_ / "environment/bin/sh");
  EXPECT_NE(said("environment", "sh").find("is a link to "), std::string::npos) << said("environment", "sh");
}

TEST_F(JailTools, AFolder_IsNoProgram) {
  ASSERT_TRUE(base::make_folders(root_ / "other" / "tool"));
  EXPECT_NE(said("other").find("the program \"tool\" is not in "), std::string::npos) << said("other");
}

}  // namespace
}  // namespace accelopt::refactor
