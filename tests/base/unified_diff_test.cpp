// SPDX-License-Identifier: Apache-2.0
#include "base/unified_diff.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "base/files.hpp"

namespace accelopt::base {
namespace {

/// The diff of two texts that are called "before" and "after".
std::string diff_of(std::string_view before, std::string_view after) {
  return unified_diff(before, after, "before", "after");
}

TEST(UnifiedDiff, EqualTextsGiveNothing) {
  EXPECT_EQ(diff_of("", ""), "");
  EXPECT_EQ(diff_of("a\nb", "a\nb"), "");
}

TEST(UnifiedDiff, OneChangedLineWithContext) {
  EXPECT_EQ(unified_diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n", "a/k.cpp", "b/k.cpp"),
            "--- a/k.cpp\n+++ b/k.cpp\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
}

TEST(UnifiedDiff, EmptySidesNameTheLineBefore) {
  EXPECT_EQ(diff_of("", "a\nb\n"), "--- before\n+++ after\n@@ -0,0 +1,2 @@\n+a\n+b\n");
  EXPECT_EQ(diff_of("a\n", ""), "--- before\n+++ after\n@@ -1 +0,0 @@\n-a\n");
}

TEST(UnifiedDiff, AMissingFinalNewlineIsShown) {
  EXPECT_EQ(diff_of("a\nb", "a\nb\n"),
            "--- before\n+++ after\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n");
  EXPECT_EQ(diff_of("a\nb\n", "a\nb"),
            "--- before\n+++ after\n@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n");
  EXPECT_EQ(diff_of("x\nb", "a\nb"),
            "--- before\n+++ after\n@@ -1,2 +1,2 @@\n-x\n+a\n b\n\\ No newline at end of file\n");
}

TEST(UnifiedDiff, FarChangesAreHunksOfTheirOwnAndNearOnesShareOne) {
  std::string before;
  for (int line = 1; line <= 20; ++line) before += std::to_string(line) + "\n";
  const auto with_changes = [&](std::vector<int> lines) {
    std::string after;
    for (int line = 1; line <= 20; ++line) {
      const bool changed = std::find(lines.begin(), lines.end(), line) != lines.end();
      after += std::to_string(line) + (changed ? "x\n" : "\n");
    }
    const std::string diff = diff_of(before, after);
    int hunks = 0;
    for (std::size_t at = diff.find("\n@@"); at != std::string::npos; at = diff.find("\n@@", at + 1)) ++hunks;
    return hunks;
  };
  EXPECT_EQ(with_changes({5, 12}), 1);  // six equal lines between: the contexts touch
  EXPECT_EQ(with_changes({5, 13}), 2);  // seven
  EXPECT_EQ(with_changes({1, 20}), 2);
}

TEST(UnifiedDiff, NamesWithBlanksEndWithATab) {
  EXPECT_EQ(unified_diff("", "a\n", "a b", "c").substr(0, 15), "--- a b\t\n+++ c\n");
}

/// Length of the longest common subsequence of two texts' lines, by dynamic programming.
std::size_t common_lines(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::vector<std::vector<std::size_t>> best(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      best[i][j] = a[i - 1] == b[j - 1] ? best[i - 1][j - 1] + 1 : std::max(best[i - 1][j], best[i][j - 1]);
    }
  }
  return best[a.size()][b.size()];
}

std::vector<std::string> random_lines(std::mt19937_64& random, std::size_t most, int letters) {
  std::vector<std::string> lines(random() % (most + 1));
  for (std::string& line : lines) line = static_cast<char>('a' + random() % static_cast<unsigned>(letters));
  return lines;
}

std::string join(const std::vector<std::string>& lines, bool final_newline) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  if (!final_newline && !text.empty()) text.pop_back();
  return text;
}

/// Applies the diff to the text line by line, checking every context and removed line and both counts of every hunk.
std::string apply(const std::string& before, const std::string& diff) {
  const auto split = [](const std::string& text) {
    std::vector<std::string> lines;
    std::size_t start = 0;
    while (start < text.size()) {
      const std::size_t end = std::min(text.find('\n', start), text.size() - 1) + 1;
      lines.push_back(text.substr(start, end - start));
      start = end;
    }
    return lines;
  };
  const std::vector<std::string> source = split(before);
  std::vector<std::string> patch = split(diff);
  std::string after;
  std::size_t place = 0;
  for (std::size_t line = 2; line < patch.size(); ++line) {
    if (patch[line].starts_with("@@")) {
      int first = 0;
      int count = 1;
      if (std::sscanf(patch[line].c_str(), "@@ -%d,%d", &first, &count) < 1) ADD_FAILURE() << patch[line];
      const auto start = static_cast<std::size_t>(count == 0 ? first : first - 1);
      while (place < start) after += source.at(place++);
      continue;
    }
    std::string text = patch[line].substr(1);
    const bool ends_open = line + 1 < patch.size() && patch[line + 1].starts_with("\\");
    if (ends_open) text.pop_back();
    if (patch[line][0] != '+') {
      EXPECT_EQ(source.at(place), text);
      ++place;
    }
    if (patch[line][0] != '-') after += text;
    if (ends_open) ++line;
  }
  while (place < source.size()) after += source.at(place++);
  return after;
}

TEST(UnifiedDiff, IsMinimalAndGivesTheSecondTextBack) {
  constexpr std::uint64_t kSeed = 20250117;
  RecordProperty("seed", std::to_string(kSeed));
  std::mt19937_64 random(kSeed);
  for (int round = 0; round < 3000; ++round) {
    const int letters = 1 + static_cast<int>(random() % 6);
    const auto a = random_lines(random, 24, letters);
    const auto b = random_lines(random, 24, letters);
    const bool open_a = random() % 3 == 0;
    const bool open_b = random() % 3 == 0;
    const std::string before = join(a, !open_a);
    const std::string after = join(b, !open_b);
    const std::string diff = diff_of(before, after);
    ASSERT_EQ(apply(before, diff), after) << "seed " << kSeed << " round " << round << "\n" << diff;
    if (open_a || open_b) continue;
    std::size_t changed = 0;
    for (std::size_t at = diff.find('\n', diff.find('\n') + 1); at != std::string::npos && at + 1 < diff.size();
         at = diff.find('\n', at + 1)) {
      if (diff[at + 1] == '-' || diff[at + 1] == '+') ++changed;
    }
    ASSERT_EQ(changed, a.size() + b.size() - 2 * common_lines(a, b)) << "seed " << kSeed << " round " << round;
  }
}

TEST(UnifiedDiff, LargeDifferentTextsNeedLittleMemory) {
  std::string before;
  std::string after;
  for (int line = 0; line < 4000; ++line) {
    before += "a" + std::to_string(line) + "\n";
    after += "b" + std::to_string(line) + "\n";
  }
  const std::string diff = diff_of(before, after);
  EXPECT_EQ(std::count(diff.begin(), diff.end(), '\n'), 8003);
}

/// Exit status of a shell command.
int run(const std::string& command) {
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(UnifiedDiff, PatchAndGitTakeIt) {
  const bool has_patch = run("patch --version >/dev/null 2>&1") == 0;
  const bool has_git = run("git --version >/dev/null 2>&1") == 0;
  if (!has_patch && !has_git) GTEST_SKIP() << "neither patch nor git is installed";
  const auto folder = TemporaryFolder::create("accelopt-diff");
  ASSERT_TRUE(folder);
  const std::string at = "cd '" + folder->path().string() + "' && ";
  const std::string before = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten";
  for (const std::string after : {
           "zero\none\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n",
           "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nTEN",
           "TWO\nthree\nfour\nfive\nsix\nseven\neight\nten",
           "one\n",
       }) {
    ASSERT_TRUE(write_file(folder->path() / "k.diff", unified_diff(before, after, "a/k.cpp", "b/k.cpp")));
    if (has_patch) {
      ASSERT_TRUE(write_file(folder->path() / "k.cpp", before));
      ASSERT_EQ(run(at + "patch -p1 -s --fuzz=0 < k.diff"), 0);
      EXPECT_EQ(read_file(folder->path() / "k.cpp").value_or("unreadable"), after);
    }
    if (has_git) {
      ASSERT_TRUE(write_file(folder->path() / "k.cpp", before));
      ASSERT_EQ(run(at + "git apply k.diff"), 0);
      EXPECT_EQ(read_file(folder->path() / "k.cpp").value_or("unreadable"), after);
    }
  }
}

}  // namespace
}  // namespace accelopt::base
