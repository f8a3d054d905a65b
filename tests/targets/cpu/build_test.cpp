// SPDX-License-Identifier: Apache-2.0
// Builds by a compiler that fails as this machine makes it fail.
#include "targets/cpu/build.hpp"

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "small_task.hpp"

namespace accelopt::targets::cpu {
namespace {

using base::ErrorCode;

class FailingCompiler : public testing::Test {
 protected:
  FailingCompiler() : folder_(*base::TemporaryFolder::create("accelopt-compiler-test")) {}

  void SetUp() override {
    auto found = find_compiler("g++", kPath);
    if (!found) GTEST_SKIP() << "g++ is not installed";
    compiler_ = std::move(*found);
  }

  /// A builder whose compiler runs `script` (sh) where its arguments match the pattern, and g++ for all else.
  base::Result<std::unique_ptr<KernelBuilder>> builder(const std::string& pattern, const std::string& script) {
    const auto program = folder_.path() / "bin" / "g++";
    TRY(base::make_folders(program.parent_path()));
    TRY(base::write_file(program, "#!/bin/sh\ncase \"$*\" in " + pattern + ") " + script + ";; esac\nexec " +
                                      compiler_.cpp + " \"$@\"\n"));
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    Compiler scripted = compiler_;
    scripted.cpp = program.string();
    return KernelBuilder::create(small_task(), {scripted, {}, nullptr}, {});
  }

  static constexpr const char* kFull =
      "echo 'kernel.cpp:9:1: fatal error: error writing to /tmp/cc.s: No space left on device'; exit 1";

  base::TemporaryFolder folder_;
  Compiler compiler_;
};

TEST_F(FailingCompiler, FullDisk_WhileKernelsCompile_IsNoReport) {
  const auto made = builder("*kernel.cpp.o*", kFull);
  ASSERT_TRUE(made) << made.error().message;
  const auto built = (*made)->build(model::Kernel(solution_of(kSmallBaseline)), {});
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().code, ErrorCode::exhausted);
  EXPECT_NE(built.error().message.find("No space left on device; free space"), std::string::npos)
      << built.error().message;
}

TEST_F(FailingCompiler, FullDisk_WhileTheGlueCompiles_IsNotTheTasks) {
  const auto made = builder("*glue.o*", kFull);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::exhausted);
}

TEST_F(FailingCompiler, FullDisk_WhileTheReferenceCompiles_IsNotTheTasks) {
  const auto made = builder("*reference.o*", kFull);
  ASSERT_TRUE(made) << made.error().message;
  const auto built = (*made)->build_reference("float", {});
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().code, ErrorCode::exhausted);
}

TEST_F(FailingCompiler, KilledCompiler_IsTheKernelsFault_WhereOthersCompile) {
  const char* const killed = "echo 'g++: fatal error: Killed signal terminated program cc1plus'; exit 1";
  const auto made = builder("*kernel.cpp.o*", killed);
  ASSERT_TRUE(made) << made.error().message;
  const auto built = (*made)->build(model::Kernel(solution_of(kSmallBaseline)), {});
  ASSERT_TRUE(built) << built.error().message;
  EXPECT_FALSE((*built)->report.built);
  const auto nothing_compiles = builder("*kernel.cpp.o*|*idle.o*", killed);
  ASSERT_TRUE(nothing_compiles) << nothing_compiles.error().message;
  const auto unknown = (*nothing_compiles)->build(model::Kernel(solution_of(kSmallBaseline)), {});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::exhausted);
}

TEST_F(FailingCompiler, Words_OfTheKernel_AreItsReport) {
  const auto made = builder("nothing", "exit 1");
  ASSERT_TRUE(made) << made.error().message;
  const auto built = (*made)->build(model::Kernel(solution_of("#error No space left on device\n")), {});
  ASSERT_TRUE(built) << built.error().message;
  EXPECT_NE((*built)->report.diagnostics.find("No space left on device"), std::string::npos);
}

}  // namespace
}  // namespace accelopt::targets::cpu
