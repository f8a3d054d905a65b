// SPDX-License-Identifier: Apache-2.0
#include "app/workspace.hpp"

#include <gtest/gtest.h>

#include "base/files.hpp"

namespace accelopt::app {
namespace {

TEST(Workspace, DefaultFolder_IgnoresItselfInGit) {
  const auto folder = base::TemporaryFolder::create("workspace");
  ASSERT_TRUE(folder);
  const auto workspace = folder->path() / ".accelopt";
  ASSERT_TRUE(open_workspace(workspace, journal::Access::read_write));
  EXPECT_EQ(base::read_file(workspace / ".gitignore"), "*\n");
}

TEST(Workspace, FolderThatWasThere_KeepsItsFiles) {
  const auto folder = base::TemporaryFolder::create("workspace");
  ASSERT_TRUE(folder);
  const auto workspace = folder->path() / ".accelopt";
  ASSERT_TRUE(base::make_folders(workspace));
  ASSERT_TRUE(open_workspace(workspace, journal::Access::read_write));
  ASSERT_TRUE(open_workspace(folder->path() / "runs", journal::Access::read_write));
  EXPECT_FALSE(std::filesystem::exists(workspace / ".gitignore"));
  EXPECT_FALSE(std::filesystem::exists(folder->path() / "runs" / ".gitignore"));
}

}  // namespace
}  // namespace accelopt::app
