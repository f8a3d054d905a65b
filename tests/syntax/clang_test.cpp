// SPDX-License-Identifier: Apache-2.0
#include "syntax/clang.hpp"

#include "syntax/parsing.hpp"

namespace accelopt::syntax {
namespace {

TEST(Clang, AbsentLibraryIsUnsupportedAndSaysWhatToInstall) {
  const auto loaded = Clang::load({"libno-such-clang.so.1", "libalso-missing.so"});
  ASSERT_FALSE(loaded.has_value());
  EXPECT_EQ(loaded.error().code, base::ErrorCode::unsupported);
  EXPECT_NE(loaded.error().message.find("libno-such-clang.so.1, libalso-missing.so"), std::string::npos);
  EXPECT_NE(loaded.error().message.find("libclang1-19"), std::string::npos);
}

TEST(Clang, AnotherLibraryIsNotTakenForLibclang) {
  const auto loaded = Clang::load({"libc.so.6"});
  ASSERT_FALSE(loaded.has_value());
  EXPECT_EQ(loaded.error().code, base::ErrorCode::unsupported);
}

TEST(Clang, TriesNamesInOrder) {
  std::vector<std::string> names = {"libno-such-clang.so.1"};
  for (const std::string& name : Clang::default_libraries()) names.push_back(name);
  const auto loaded = Clang::load(names);
  ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
  EXPECT_NE(loaded->library(), "libno-such-clang.so.1");
  EXPECT_NE(loaded->symbol("clang_createIndex"), nullptr);
  EXPECT_EQ(loaded->symbol("clang_noSuchFunction"), nullptr);
}

}  // namespace
}  // namespace accelopt::syntax
