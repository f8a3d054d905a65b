// SPDX-License-Identifier: Apache-2.0
// NVIDIA's programs as they are found, or not.
#include "devices/cuda/find_tool.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>

#include "base/files.hpp"

namespace accelopt::devices::cuda {
namespace {

class FindTool : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = base::TemporaryFolder::create("accelopt-find-tool-test");
    ASSERT_TRUE(folder);
    folder_.emplace(std::move(*folder));
  }

  /// The fake of tests/fakes/cuda.
  std::string fake_ncu() {
    const auto program = folder_->path() / "ncu";
    EXPECT_TRUE(base::write_file(program, "#!/bin/sh\nexec python3 -B " ACCELOPT_TESTS_FOLDER
                                          "/fakes/cuda/ncu.py usual " +
                                              (folder_->path() / "log").string() + " \"$@\"\n"));
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    return program.string();
  }

  std::optional<base::TemporaryFolder> folder_;
};

TEST_F(FindTool, AreFoundWhereTheEnvironmentSays) {
  const std::string path = fake_ncu();
  const auto named = find_tool(nsight_compute(), {{"ACCELOPT_NCU", path}}, {});
  ASSERT_TRUE(named) << named.error().message;
  EXPECT_EQ(named->path, path);
  EXPECT_EQ(named->version, "2025.3.1.0");
  const auto on_path = find_tool(nsight_compute(), {{"PATH", "/nowhere:" + folder_->path().string()}}, {});
  ASSERT_TRUE(on_path) << on_path.error().message;
  EXPECT_EQ(on_path->path, path);
  std::filesystem::create_directory(folder_->path() / "bin");
  std::filesystem::copy(path, folder_->path() / "bin" / "ncu");
  const auto in_home = find_tool(nsight_compute(), {{"CUDA_HOME", folder_->path().string()}}, {});
  ASSERT_TRUE(in_home) << in_home.error().message;
  EXPECT_EQ(in_home->path, (folder_->path() / "bin" / "ncu").string());
  for (const char* wrong : {"/nowhere/ncu", "ncu", "/"}) {
    const auto missing = find_tool(nsight_compute(), {{"ACCELOPT_NCU", wrong}}, {});
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, base::ErrorCode::not_found);
  }
  EXPECT_EQ(find_tool(nsight_compute(), {{"ACCELOPT_NCU", "off"}}, {}).error().code, base::ErrorCode::unsupported);
}

TEST_F(FindTool, ThatDoNotTellTheirVersionAreNotTaken) {
  const auto program = [&](const std::string& folder, const std::string& does) {
    const auto path = folder_->path() / folder / "ncu";
    std::filesystem::create_directories(path.parent_path());
    EXPECT_TRUE(base::write_file(path, "#!/bin/sh\n" + does + "\n"));
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path.string();
  };
  const std::string fails = program("fails", "echo 'ERROR : install Nsight Compute' >&2; exit 1");
  const std::string hangs = program("hangs", "exec sleep 60");
  const std::string good = program("good", "echo Version 7.5");
  const auto find_at = [](const std::string& variable, const std::string& value) {
    return find_tool(nsight_compute(), {{variable, value}}, {}, std::chrono::milliseconds(1000));
  };
  EXPECT_EQ(find_at("ACCELOPT_NCU", fails).error().message,
            "Nsight Compute (ncu) does not run: " + fails +
                " --version ended with exit code 1 and said: ERROR : install Nsight Compute");
  EXPECT_EQ(find_at("ACCELOPT_NCU", hangs).error().message,
            "Nsight Compute (ncu) does not run: " + hangs + " --version did not end within 1 s");
  EXPECT_NE(
      find_at("ACCELOPT_NCU", "ncu\n").error().message.find("ACCELOPT_NCU is \"ncu\\x0a\", which names no program"),
      std::string::npos);
  const auto folder = [&](const char* name) { return (folder_->path() / name).string(); };
  const auto found = find_at("PATH", folder("hangs") + ":" + folder("fails") + ":" + folder("good"));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->path, good);
  EXPECT_EQ(found->version, "7.5");
  const std::filesystem::path here = std::filesystem::current_path();
  std::filesystem::current_path(folder_->path());
  const auto relative = find_at("PATH", "good");
  std::filesystem::current_path(here);
  EXPECT_NE(relative ? relative->path : "", "good/ncu");
  EXPECT_EQ(find_at("ACCELOPT_NCU", program("odd", "echo Version 8.1; exit 1"))->version, "8.1");
  EXPECT_LE(find_at("ACCELOPT_NCU", program("long", "echo Version $(printf '%05000d' 1)"))->version.size(), 40);
}

TEST_F(FindTool, OfTheHighestVersionAreTaken) {
  ToolName name = nsight_compute();
  name.program = "counter-of-this-test";
  name.own_root = folder_->path().string();
  for (const char* version : {"2024.3.2", "2024.10.0", "9.2", "latest"}) {
    const auto path = folder_->path() / version / name.program;
    std::filesystem::create_directories(path.parent_path());
    EXPECT_TRUE(base::write_file(path, "#!/bin/sh\necho Version " + std::string(version) + "\n"));
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }
  const auto found = find_tool(name, {}, {});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->version, "2024.10.0");
}

}  // namespace
}  // namespace accelopt::devices::cuda
