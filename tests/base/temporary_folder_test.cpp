// SPDX-License-Identifier: Apache-2.0
#include "base/files.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

namespace accelopt::base {
namespace {

namespace fs = std::filesystem;

/// A system's temporary folder of its own.
class TemporaryFolders : public testing::Test {
 protected:
  void SetUp() override {
    const char* set = std::getenv("TMPDIR");
    if (set != nullptr) before_ = set;
    root_.emplace(TemporaryFolder::create("accelopt-files-test").value());
    ASSERT_EQ(::setenv("TMPDIR", root_->path().c_str(), 1), 0);
  }
  void TearDown() override {
    if (before_) {
      ::setenv("TMPDIR", before_->c_str(), 1);
    } else {
      ::unsetenv("TMPDIR");
    }
  }
  /// A folder that nobody has used for two hours.
  [[nodiscard]] fs::path old_folder(const std::string& name) const {
    const fs::path path = root_->path() / name;
    fs::create_directory(path);
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(2));
    return path;
  }
  static std::string fresh_name(const std::string& prefix) {
    return TemporaryFolder::create(prefix).value().path().filename().string();
  }

  std::optional<std::string> before_;
  std::optional<TemporaryFolder> root_;
};

TEST_F(TemporaryFolders, Created_IsEmptyAndGoesAtTheEnd) {
  fs::path path;
  {
    const auto folder = TemporaryFolder::create("accelopt-build");
    ASSERT_TRUE(folder) << folder.error().message;
    path = folder->path();
    EXPECT_EQ(path.parent_path(), root_->path());
    EXPECT_TRUE(path.filename().string().starts_with("accelopt-build."));
    EXPECT_TRUE(fs::is_empty(path));
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(TemporaryFolders, NoPlaceForThem_IsSaid) {
  ASSERT_EQ(::setenv("TMPDIR", "/nowhere", 1), 0);
  const auto folder = TemporaryFolder::create("no-such-folder/accelopt-build");
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().code, ErrorCode::not_found);
}

TEST_F(TemporaryFolders, Names_AreToldFromThoseOfOthers) {
  const std::string name = fresh_name("accelopt-build");
  EXPECT_TRUE(is_temporary_folder_name(name)) << name;
  EXPECT_TRUE(is_temporary_folder_name("accelopt-build.3f9a0c11-f61f9bc1")) << "of an earlier version";
  EXPECT_NE(name, fresh_name("accelopt-build"));
  std::string other = name;
  other.back() = other.back() == '0' ? '1' : '0';
  for (const std::string& one : {other, name + ".backup", "accelopt-runs" + name.substr(name.find('.')),
                                 name.substr(0, name.rfind('-')), std::string("accelopt-results.backup"),
                                 std::string("accelopt-runs.a1B2c3"), std::string("accelopt-"), std::string()})
    EXPECT_FALSE(is_temporary_folder_name(one)) << one;
}

TEST_F(TemporaryFolders, Abandoned_AreOursAlone) {
  const auto used = TemporaryFolder::create("accelopt-build");
  ASSERT_TRUE(used);
  fs::last_write_time(used->path(), fs::file_time_type::clock::now() - std::chrono::hours(2));
  fs::create_directory(root_->path() / fresh_name("accelopt-young"));
  const fs::path abandoned = old_folder(fresh_name("accelopt-build"));
  for (const char* name : {"accelopt-results.backup", "accelopt-runs.a1B2c3", "accelopt-build.3f9a0c11-00000000"})
    EXPECT_TRUE(fs::exists(old_folder(name)));
  EXPECT_EQ(abandoned_temporary_folders(), std::vector<fs::path>{abandoned});
}

}  // namespace
}  // namespace accelopt::base
