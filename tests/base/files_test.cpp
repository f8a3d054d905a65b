// SPDX-License-Identifier: Apache-2.0
#include "base/files.hpp"
#include "base/output_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace accelopt::base {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  [[nodiscard]] fs::path at(const std::string& name) const { return folder_.path() / name; }

  TemporaryFolder folder_ = *TemporaryFolder::create("accelopt-files-test");
};

TEST_F(Files, WrittenOnes_HaveTheModeThatTheUmaskLeaves) {
  const mode_t before = ::umask(027);
  std::vector<std::thread> writers;
  for (int i = 0; i < 4; ++i) {
    writers.emplace_back([&, i] {
      for (int turn = 0; turn < 50; ++turn) EXPECT_TRUE(write_file(at(std::to_string(i)), std::to_string(turn)));
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(::umask(before), mode_t{027}) << "it is the process's, and stays what it is";
  for (int i = 0; i < 4; ++i) {
    struct stat facts {};
    ASSERT_EQ(::stat(at(std::to_string(i)).c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777U, 0640U);
    EXPECT_EQ(read_file(at(std::to_string(i))), std::string("49"));
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 4) << "nothing is left beside them";
}

TEST_F(Files, AppendedLines_OfAllWritersAreThere) {
  std::vector<std::thread> writers;
  for (int i = 0; i < 4; ++i) {
    writers.emplace_back([&, i] {
      for (int turn = 0; turn < 50; ++turn) EXPECT_TRUE(append_line(at("lines"), std::to_string(100 * i + turn)));
    });
  }
  for (std::thread& writer : writers) writer.join();
  std::istringstream text(*read_file(at("lines")));
  std::set<int> seen;
  for (int line = 0; text >> line;) seen.insert(line);
  EXPECT_EQ(seen.size(), 200U);
  EXPECT_EQ(append_line(at("no/where"), "x").error().code, ErrorCode::not_found);
}

TEST_F(Files, AnOutputThatIsALinkOrADevice_StaysOne) {
  ASSERT_TRUE(write_file(at("file"), "old"));
  fs::create_symlink("file", at("link"));
  fs::create_symlink("/dev/null", at("device"));
  fs::create_symlink("b", at("a"));
  fs::create_symlink("a", at("b"));
  ASSERT_TRUE(write_output(at("link"), "new"));
  EXPECT_TRUE(fs::is_symlink(at("link")));
  EXPECT_EQ(read_file(at("file")), std::string("new"));
  ASSERT_TRUE(write_output(at("device"), "gone"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_FALSE(write_output(at("a"), "x"));
  const FileDescriptor log(::open(at("log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  ASSERT_EQ(::write(log.get(), "before ", 7), 7);
  ASSERT_TRUE(write_output("/dev/fd/" + std::to_string(log.get()), "after"));
  EXPECT_EQ(read_file(at("log")), std::string("before after"));
  EXPECT_EQ(write_output(folder_.path(), "x").error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace accelopt::base
