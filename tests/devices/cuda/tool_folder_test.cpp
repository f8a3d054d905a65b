// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/tool_folder.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

namespace accelopt::devices::cuda {
namespace {

TEST(ToolFolders, OfAKilledProcessAreRemovedAndOthersStay) {
  const auto mine = make_tool_folder();
  ASSERT_TRUE(mine);
  std::array<int, 2> ends{-1, -1};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const base::FileDescriptor read(ends[0]);
  base::FileDescriptor write(ends[1]);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto theirs = make_tool_folder();
    const std::string path = theirs ? theirs->path().string() : "";
    std::ignore = ::write(write.get(), path.data(), path.size());
    write.reset();
    ::pause();
    ::_exit(1);
  }
  write.reset();
  std::array<char, 4096> text{};
  const ssize_t size = ::read(read.get(), text.data(), text.size());
  ASSERT_GT(size, 0);
  const std::filesystem::path theirs(std::string(text.data(), static_cast<std::size_t>(size)));
  remove_abandoned_tool_folders();
  EXPECT_TRUE(std::filesystem::exists(theirs)) << "its process lives";
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(std::filesystem::exists(theirs));
  remove_abandoned_tool_folders();
  EXPECT_FALSE(std::filesystem::exists(theirs));
  EXPECT_TRUE(std::filesystem::exists(mine->path()));
}

TEST(ToolFolders, OfAnotherProgramStay) {
  const auto place = base::TemporaryFolder::create("accelopt-tool-folder-test");
  ASSERT_TRUE(place);
  const std::filesystem::path others = place->path().parent_path() / ("accelopt-tools." + std::to_string(::getpid()));
  ASSERT_TRUE(base::make_folders(others));
  ASSERT_TRUE(base::write_file(others / "notes.md", "mine"));
  remove_abandoned_tool_folders();
  EXPECT_TRUE(std::filesystem::exists(others / "notes.md"));
  std::filesystem::remove_all(others);
}

}  // namespace
}  // namespace accelopt::devices::cuda
