// SPDX-License-Identifier: Apache-2.0
#include "vcs/git.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/files.hpp"

namespace accelopt::vcs {
namespace {

namespace fs = std::filesystem;

using Files = std::map<std::string, std::string>;

/// A repository of these files, in a folder of this name.
class MadeRepository {
 public:
  explicit MadeRepository(const Files& files, const std::string& name = "r")
      : own_(*base::TemporaryFolder::create("vcs-test")), folder_(own_.path() / name) {
    EXPECT_TRUE(base::make_folders(folder_));
    for (const auto& [path, text] : files) {
      EXPECT_TRUE(base::make_folders((folder_ / path).parent_path()));
      EXPECT_TRUE(base::write_file(folder_ / path, text));
    }
    const auto made = Repository::make(folder_, "made");
    EXPECT_TRUE(made) << made.error().message;
  }
  [[nodiscard]] Repository open() const { return *Repository::open(folder_); }
  [[nodiscard]] const fs::path& folder() const { return folder_; }

 private:
  base::TemporaryFolder own_;
  fs::path folder_;
};

std::string tree_with(const Repository& repository, const Files& files) {
  return *repository.with_files(*repository.tree_of("HEAD"), files);
}

TEST(Diff, TextThatAttributesCallBinary_IsShownAndApplies) {
  const MadeRepository made(
      Files{{".gitattributes", "*.txt -diff\n*.dat binary\n"}, {"a.txt", "one\n"}, {"b.dat", "b\n"}});
  const Repository repository = made.open();
  const std::string before = *repository.tree_of("HEAD");
  const std::string after = tree_with(repository, Files{{"a.txt", "two\n"}, {"b.dat", "c\n"}});
  const auto diff = repository.diff(before, after);
  ASSERT_TRUE(diff) << diff.error().message;
  EXPECT_NE(diff->find("-one\n+two\n"), std::string::npos) << *diff;
  EXPECT_NE(diff->find("-b\n+c\n"), std::string::npos) << *diff;
  EXPECT_EQ(repository.apply(before, *diff).value_or("none"), after);
}

TEST(Diff, BytesThatAreNoText_AreNotShown) {
  const MadeRepository made(Files{{"a", "one\n"}});
  const Repository repository = made.open();
  const auto diff =
      repository.diff(*repository.tree_of("HEAD"), tree_with(repository, Files{{"a", std::string("\0\1\2", 3)}}));
  ASSERT_TRUE(diff) << diff.error().message;
  EXPECT_NE(diff->find("\nBinary files a/a and b/a differ\n"), std::string::npos) << *diff;
}

TEST(Repository, AnyNameOfItsFolder_IsRead) {
  for (const char* name : {"co:lon", "quote\"and\\ space", "\"quoted\"", "line\nend"}) {
    const MadeRepository made(Files{{"a", "one\n"}}, name);
    const Repository repository = made.open();
    const auto tree = repository.tree_of("HEAD");
    ASSERT_TRUE(tree) << name << ": " << tree.error().message;
    const auto changed = repository.with_files(*tree, {{"a", "two\n"}});
    ASSERT_TRUE(changed) << name << ": " << changed.error().message;
    EXPECT_EQ(repository.contents({repository.list(*changed)->at("a").object})->front(), "two\n") << name;
  }
}

TEST(Repository, WithoutACommit_SaysSo) {
  const MadeRepository made(Files{{"a", "one\n"}});
  EXPECT_NE(made.open().commit_id("x").error().message.find("no commit \"x\""), std::string::npos);
  fs::remove(made.folder() / ".git" / "refs" / "heads" / "main");
  EXPECT_NE(made.open().commit_id("HEAD").error().message.find("has no commit yet"), std::string::npos);
}

TEST(Repository, SplitIndex_LeavesNothingBehind) {
  const MadeRepository made(Files{{"a", "one\n"}});
  ASSERT_TRUE(base::write_file(made.folder() / ".git" / "config", "[core]\n\tsplitIndex = true\n"));
  tree_with(made.open(), Files{{"a", "two\n"}});
  for (const auto& entry : fs::directory_iterator(made.folder() / ".git"))
    EXPECT_FALSE(entry.path().filename().string().starts_with("sharedindex.")) << entry.path();
}

TEST(Repository, BranchInTheWay_IsNamed) {
  const MadeRepository made(Files{{"a", "one\n"}});
  const Repository repository = made.open();
  const std::string head = *repository.commit_id("HEAD");
  EXPECT_TRUE(repository.expect_room("refs/heads/accelopt/x"));
  ASSERT_TRUE(base::write_file(made.folder() / ".git" / "refs" / "heads" / "accelopt", head + "\n"));
  const auto room = repository.expect_room("refs/heads/accelopt/x");
  ASSERT_FALSE(room);
  EXPECT_NE(room.error().message.find("git branch -m accelopt accelopt-old"), std::string::npos);
  const auto kept = repository.keep(*repository.tree_of("HEAD"), {{"a", "two\n"}},
                                    {.tree = {}, .parent = head, .message = "m", .branch = "refs/heads/accelopt/x"});
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().message, room.error().message);
}

TEST(Apply, FormsOfGitDiff_GiveTheSameTree) {
  const MadeRepository made(Files{{"d/a", "1\n2\n3\n4\n"}, {"b", "x\n"}});
  const Repository repository = made.open();
  const std::string before = *repository.tree_of("HEAD");
  const std::string after = tree_with(repository, Files{{"d/a", "1\n2\n5\n4\n"}});
  for (const std::string diff : {
           "--- a/d/a\n+++ b/d/a\n@@ -2,3 +2,3 @@\n 2\n-3\n+5\n 4\n",
           "diff --git d/a d/a\n--- d/a\n+++ d/a\n@@ -2,3 +2,3 @@\n 2\n-3\n+5\n 4\n",
           "--- d/a\t2026-01-01\n+++ d/a\t2026-01-02\n@@ -2,3 +2,3 @@\n 2\n-3\n+5\n 4\n",
           "--- a/d/a\n+++ b/d/a\n@@ -3 +3 @@\n-3\n+5\n",
           "diff --git d/a d/a\n--- d/a\n+++ d/a\n@@ -3 +3 @@\n-3\n+5\n",
       }) {
    const auto applied = repository.apply(before, diff);
    EXPECT_EQ(applied ? *applied : applied.error().message, after) << diff;
  }
  const std::string added = "diff --git n n\nnew file mode 100644\n--- /dev/null\n+++ n\n@@ -0,0 +1 @@\n+n\n";
  EXPECT_EQ(repository.apply(before, added).value_or("none"), tree_with(repository, Files{{"n", "n\n"}}));
  EXPECT_FALSE(repository.apply(before, "--- a/d/a\n+++ b/d/a\n@@ -3 +3 @@\n-9\n+5\n")) << "no such line";
}

TEST(Apply, CodeThatLooksLikeADiff_IsCode) {
  const MadeRepository made(Files{{"d/a", "diff --git f f\n-- x\n3\n"}});
  const Repository repository = made.open();
  const std::string before = *repository.tree_of("HEAD");
  const std::string diff = "--- a/d/a\n+++ b/d/a\n@@ -1,3 +1,3 @@\n diff --git f f\n--- x\n+++ x\n 3\n";
  EXPECT_EQ(repository.apply(before, diff).value_or("none"),
            tree_with(repository, Files{{"d/a", "diff --git f f\n++ x\n3\n"}}));
  const std::string mail =
      "From 1 Mon Sep 17 00:00:00 2001\n---\n d/a | 2 +-\n\n"
      "diff --git a/d/a b/d/a\n--- a/d/a\n+++ b/d/a\n@@ -2 +2 @@\n--- x\n+y\n-- \n2.39.5\n\n";
  EXPECT_EQ(repository.apply(before, mail).value_or("none"),
            tree_with(repository, Files{{"d/a", "diff --git f f\ny\n3\n"}}));
}

TEST(WithoutColours, OfText_LeavesTheRest) {
  EXPECT_EQ(without_colours("\x1b[1m--- a/x\x1b[m\n\x1b[32m+\x1b[m\x1b[32;1ma\x1b[m\x1b[K\n"), "--- a/x\n+a\n");
  EXPECT_EQ(without_colours("a\x1b[2Jb\x1b[\x1b"), "a\x1b[2Jb\x1b[\x1b");
}

TEST(Contents, OfAPartialClone_NameTheRemedy) {
  const MadeRepository made(Files{{"a", "one\n"}});
  const std::string from = made.folder().string();
  const std::string to = from + "-clone";
  ASSERT_TRUE(base::write_file(made.folder() / ".git" / "config", "[uploadpack]\n\tallowFilter = true\n"));
  const std::string clone = "git clone -q --filter=blob:none --no-checkout file://" + from + " " + to;
  ASSERT_EQ(std::system(clone.c_str()), 0) << clone;
  const Repository repository = *Repository::open(to);
  const auto read = repository.contents({repository.list(*repository.tree_of("HEAD"))->at("a").object});
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("git fetch --refetch --no-filter"), std::string::npos) << read.error().message;
}

TEST(DescribeSubmodules, OfATree_NamesThem) {
  EXPECT_EQ(describe_submodules({{"a", {}}}), "");
  EXPECT_EQ(describe_submodules({{"a", {}}, {"b", {EntryKind::submodule, "1"}}, {"c/d", {EntryKind::submodule, "2"}}}),
            "submodules are left out: b, c/d");
}

TEST(HasDiff, HeadsOfFiles_Yes) {
  for (const char* text : {"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", "words\n\n--- x\r\n+++ x\r\n@@ -1 +1 @@\r\n",
                           "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n",
                           "From 1 Mon\nSubject: x\n\ndiff --git a/x b/x\nindex 1..2 100644\n"})
    EXPECT_TRUE(has_diff(text)) << text;
}

TEST(HasDiff, LinesThatOnlyBeginLikeOne_No) {
  for (const char* text : {"", "--- Words of Lua.\nlocal x = 1\n", "--- \nkey: value\n", "x\ndiff --git a b\nrest\n",
                           "--- a\n+++ b\n", "From here on\n", "s = [[\n --- a\n +++ b\n @@ -1 +1 @@\n]]\n"})
    EXPECT_FALSE(has_diff(text)) << text;
}

}  // namespace
}  // namespace accelopt::vcs
