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

TEST(Workspace, Default_IsTheNearestFromThere) {
  const auto folder = base::TemporaryFolder::create("workspace");
  ASSERT_TRUE(folder);
  const auto deep = folder->path() / "a" / "b";
  ASSERT_TRUE(base::make_folders(deep));
  ASSERT_TRUE(base::make_folders(folder->path() / ".accelopt"));
  EXPECT_EQ(find_workspace("", deep), folder->path() / ".accelopt");
  ASSERT_TRUE(base::make_folders(deep / ".accelopt"));
  EXPECT_EQ(find_workspace("", deep), deep / ".accelopt");
  EXPECT_EQ(find_workspace("given", deep), "given");
}

TEST(Workspace, RunIds_HaveOneForm) {
  EXPECT_TRUE(is_run_id(new_run_id()));
  EXPECT_TRUE(is_run_id("20261121-101502-3fa9c1"));
  for (const char* other : {"", "20261121-101502-3fa9c", "20261121-101502-3fa9c1a", "20261121-101502-3fA9c1",
                            "20261121_101502-3fa9c1", "2026112a-101502-3fa9c1", "20261121-101502-3fa9g1"})
    EXPECT_FALSE(is_run_id(other)) << other;
}

}  // namespace
}  // namespace accelopt::app
