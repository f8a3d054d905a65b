// SPDX-License-Identifier: Apache-2.0
#include "mcp/folders.hpp"

#include <gtest/gtest.h>

#include "base/files.hpp"

namespace accelopt::mcp {
namespace {

namespace fs = std::filesystem;

class FoldersTest : public testing::Test {
 protected:
  FoldersTest() : place_(*base::TemporaryFolder::create("accelopt-folders-")) {
    for (const char* name : {"allowed/inner", "allowed-not", "second"}) fs::create_directories(root() / name);
    fs::create_symlink(root() / "allowed-not", root() / "allowed/out");
    fs::create_symlink(root() / "second", root() / "allowed/to_second");
  }
  fs::path root() { return fs::canonical(place_.path()); }
  Folders folders() { return *Folders::of({(root() / "allowed").string(), (root() / "second").string()}); }

 private:
  base::TemporaryFolder place_;
};

TEST_F(FoldersTest, PathsBelow_AreResolved) {
  EXPECT_EQ(*folders().resolve("inner"), root() / "allowed/inner");
  EXPECT_EQ(*folders().resolve("inner/../new/file"), root() / "allowed/new/file");
  EXPECT_EQ(*folders().resolve((root() / "second").string()), root() / "second");
  EXPECT_EQ(*folders().resolve("to_second"), root() / "second");
  EXPECT_EQ(*folders().resolve("."), root() / "allowed");
}

TEST_F(FoldersTest, PathsOutside_AreRefused) {
  for (const std::string path : {"..", "../allowed-not", "out", "out/file", "/etc/passwd", "/", "inner/../../x"}) {
    const auto refused = folders().resolve(path);
    ASSERT_FALSE(refused) << path;
    EXPECT_EQ(refused.error().code, base::ErrorCode::permission_denied);
    EXPECT_NE(refused.error().message.find("--folder"), std::string::npos);
  }
}

TEST_F(FoldersTest, PlacesToWrite_AreOpenOnes) {
  const fs::path workspace = root() / "allowed/workspace";
  EXPECT_EQ(*folders().resolve_for_writing("new/report.html", workspace), root() / "allowed/new/report.html");
  EXPECT_EQ(*folders().resolve_for_writing("workspace.html", workspace), root() / "allowed/workspace.html");
  for (const std::string path : {"workspace/report.html", "inner/../workspace/objects/x.html", ".git/hooks/x.html",
                                 "inner/.hidden", ".bashrc", "../allowed-not/x.html", "/etc/x.html"}) {
    const auto refused = folders().resolve_for_writing(path, workspace);
    ASSERT_FALSE(refused) << path;
    EXPECT_EQ(refused.error().code, base::ErrorCode::permission_denied);
  }
}

TEST_F(FoldersTest, HiddenFolderOfTheServer_IsItsOwnChoice) {
  fs::create_directories(root() / ".hidden/workspace");
  const Folders hidden = *Folders::of({(root() / ".hidden").string()});
  EXPECT_TRUE(hidden.resolve_for_writing("report.html", root() / ".hidden/workspace"));
}

TEST_F(FoldersTest, FolderThatIsNone_IsRefused) {
  const auto made = Folders::of({"/no/such/folder"});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, base::ErrorCode::not_found);
}

}  // namespace
}  // namespace accelopt::mcp
