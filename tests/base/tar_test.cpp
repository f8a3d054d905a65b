// SPDX-License-Identifier: Apache-2.0
#include "base/tar.hpp"

#include <gtest/gtest.h>

namespace accelopt::base {
namespace {

const std::vector<TarMember> kMembers{{"b/c.txt", "text"}, {"a.json", "{}\n"}, {"empty", ""}};

TEST(Tar, Members_WrittenAndRead_ComeBackSorted) {
  const std::string archive = write_tar(kMembers).value();

  const auto read = read_tar(archive).value();

  ASSERT_EQ(read.size(), 3U);
  EXPECT_EQ(read[0].name, "a.json");
  EXPECT_EQ(read[1].name, "b/c.txt");
  EXPECT_EQ(read[1].bytes, "text");
  EXPECT_EQ(read[2].bytes, "");
  EXPECT_EQ(archive.size(), 512U * (3 + 2 + 2));
  EXPECT_EQ(write_tar({read[2], read[0], read[1]}).value(), archive);
}

TEST(Tar, Names_ThatCannotBe_AreNotWritten) {
  for (const std::string& name : {std::string(), std::string("/a"), std::string("../a"), std::string("a/../b"),
                                  std::string("a//b"), std::string("a b"), std::string("a\n"), std::string(100, 'a')}) {
    const auto written = write_tar({{name, "x"}});
    ASSERT_FALSE(written) << name;
    EXPECT_EQ(written.error().code, ErrorCode::unsupported) << name;
  }
  EXPECT_FALSE(write_tar({{"a", "x"}, {"a", "y"}}));
  EXPECT_TRUE(write_tar({{std::string(99, 'a'), "x"}}));
}

TEST(Tar, Archive_AnyByteOfAHeaderChanged_IsRefused) {
  const std::string archive = write_tar({{"a", "x"}}).value();
  for (std::size_t at = 0; at < 512; ++at) {
    std::string changed = archive;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    const auto read = read_tar(changed);
    EXPECT_TRUE(!read && read.error().code == ErrorCode::corrupt) << at;
  }
}

TEST(Tar, Archive_CutAnywhere_IsRefused) {
  const std::string archive = write_tar(kMembers).value();
  for (std::size_t size = 0; size < archive.size(); ++size) EXPECT_FALSE(read_tar(archive.substr(0, size))) << size;
  EXPECT_FALSE(read_tar(archive + std::string(512, '\0')));
}

}  // namespace
}  // namespace accelopt::base
