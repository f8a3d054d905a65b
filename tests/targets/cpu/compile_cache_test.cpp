// SPDX-License-Identifier: Apache-2.0
#include "targets/cpu/compile_cache.hpp"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "base/files.hpp"

namespace accelopt::targets::cpu {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPath = "/usr/local/bin:/usr/bin:/bin";

class CompileCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    auto compiler = find_compiler("", kPath);
    ASSERT_TRUE(compiler) << compiler.error().message;
    compiler_ = *compiler;
    compiler_.cache = own_.path() / "cache";
  }

  /// A build's folder with this source in it.
  fs::path folder_with(const std::string& source) {
    const fs::path folder = own_.path() / ("build" + std::to_string(++folders_));
    EXPECT_TRUE(base::make_folders(folder));
    EXPECT_TRUE(base::write_file(folder / "kernel.cpp", source));
    return folder;
  }

  static CompileJob job_in(const fs::path& folder) {
    return {folder, {"-O1", "-c", "kernel.cpp", "-o", "kernel.o"}, true, {}};
  }

  sandbox::RunResult compiled(const fs::path& folder) {
    const auto made = compile(compiler_, job_in(folder), nullptr, {});
    EXPECT_TRUE(made);
    return made ? *made : sandbox::RunResult();
  }

  std::size_t entries() const {
    std::error_code none;
    fs::directory_iterator entry(compiler_.cache / "compiled", none);
    return static_cast<std::size_t>(std::distance(entry, fs::directory_iterator()));
  }

  base::TemporaryFolder own_ = base::TemporaryFolder::create("accelopt-compile-cache-test").value();
  Compiler compiler_;
  int folders_ = 0;
};

TEST_F(CompileCacheTest, TheSameSourceIsCompiledOnce) {
  const std::string source = "#include <cstdint>\nextern \"C\" std::int64_t twice(std::int64_t x) { return 2 * x; }\n";
  const fs::path first = folder_with(source);
  const auto made = compiled(first);
  ASSERT_EQ(made.state.code, 0) << made.output;
  EXPECT_EQ(entries(), 1U);
  EXPECT_FALSE(fs::exists(first / "accelopt-headers.d"));
  const fs::path second = folder_with(source);
  const auto found = compiled(second);
  EXPECT_TRUE(found.state.exited);
  EXPECT_EQ(found.state.code, 0);
  EXPECT_EQ(found.seconds, made.seconds) << "what it took when it was compiled";
  EXPECT_EQ(base::read_file(second / "kernel.o").value(), base::read_file(first / "kernel.o").value());
  EXPECT_EQ(entries(), 1U);
}

TEST_F(CompileCacheTest, WhatDiffersIsCompiledAnew) {
  const CompileCache cache(compiler_.cache);
  const fs::path folder = folder_with("int a;\n");
  const auto key = [&](const CompileJob& job) { return cache.examine(compiler_, job).key; };
  const std::string known = key(job_in(folder));
  EXPECT_NE(known, "");
  EXPECT_EQ(key(job_in(folder_with("int a;\n"))), known) << "the folder's name is none of it";
  EXPECT_NE(key(job_in(folder_with("int b;\n"))), known);
  CompileJob other = job_in(folder);
  other.arguments.front() = "-O2";
  EXPECT_NE(key(other), known);
  ASSERT_TRUE(base::write_file(folder / "task.h", "int c;\n"));
  EXPECT_NE(key(job_in(folder)), known);
}

TEST_F(CompileCacheTest, WhatFollowsFromMoreIsNotKept) {
  const CompileCache cache(compiler_.cache);
  const auto key = [&](const CompileJob& job) { return cache.examine(compiler_, job).key; };
  EXPECT_EQ(key(job_in(folder_with("const char* when = __TIME__;\n"))), "");
  CompileJob link = job_in(folder_with("int a;\n"));
  link.arguments = {"-shared", "kernel.o", "-o", "kernel.so"};
  EXPECT_EQ(key(link), "");
  CompileJob lines = job_in(folder_with("int a;\n"));
  lines.arguments.emplace_back("-g1");
  EXPECT_EQ(key(lines), "");
  CompileJob reads = job_in(folder_with("int a;\n"));
  reads.readable = {"/somewhere"};
  EXPECT_EQ(key(reads), "");
  const fs::path nested = folder_with("int a;\n");
  fs::create_directory(nested / "more");
  EXPECT_EQ(key(job_in(nested)), "");
  EXPECT_EQ(CompileCache({}).examine(compiler_, job_in(folder_with("int a;\n"))).key, "");
}

TEST_F(CompileCacheTest, FailuresAreNotKept) {
  const std::string broken = "int a = ;\n";
  EXPECT_NE(compiled(folder_with(broken)).state.code, 0);
  EXPECT_EQ(entries(), 0U);
  EXPECT_NE(compiled(folder_with(broken)).output.find("error"), std::string::npos);
}

TEST_F(CompileCacheTest, AHeaderThatChangedIsRead) {
  const CompileCache cache(compiler_.cache);
  const fs::path header = own_.path() / "library.h";
  ASSERT_TRUE(base::write_file(header, "int a;\n"));
  const fs::path folder = folder_with("int b;\n");
  const auto job = cache.examine(compiler_, job_in(folder));
  const auto leave_made = [&] {
    ASSERT_TRUE(base::write_file(folder / "kernel.o", "object"));
    ASSERT_TRUE(base::write_file(folder / "accelopt-headers.d", "kernel.o: kernel.cpp \\\n " + header.string() + "\n"));
  };
  leave_made();
  sandbox::RunResult made;
  made.state.exited = true;
  cache.keep(job, folder, made);
  const fs::path again = folder_with("int b;\n");
  ASSERT_TRUE(cache.find(cache.examine(compiler_, job_in(again)), again));
  EXPECT_EQ(base::read_file(again / "kernel.o").value(), "object");
  ASSERT_TRUE(base::write_file(header, "int another;\n"));
  const fs::path later = folder_with("int b;\n");
  EXPECT_FALSE(cache.find(cache.examine(compiler_, job_in(later)), later));
  EXPECT_FALSE(fs::exists(later / "kernel.o"));
}

TEST_F(CompileCacheTest, AnEntryThatIsBrokenIsNone) {
  const std::string source = "int a;\n";
  const auto made = compiled(folder_with(source));
  ASSERT_EQ(entries(), 1U);
  const fs::path entry = fs::directory_iterator(compiler_.cache / "compiled")->path();
  for (const char* bytes : {"", "no archive"}) {
    ASSERT_TRUE(base::write_file(entry, bytes));
    const fs::path folder = folder_with(source);
    EXPECT_EQ(compiled(folder).state.code, 0);
    EXPECT_TRUE(fs::exists(folder / "kernel.o"));
    EXPECT_GT(fs::file_size(entry), 100U) << "it is written anew";
  }
}

TEST_F(CompileCacheTest, TheOldestGo) {
  constexpr int kBuilds = 300;
  const CompileCache cache(compiler_.cache, 0);
  sandbox::RunResult made;
  made.state.exited = true;
  for (int build = 0; build < kBuilds; ++build) {
    const fs::path folder = folder_with("int a" + std::to_string(build) + ";\n");
    const auto job = cache.examine(compiler_, job_in(folder));
    ASSERT_TRUE(base::write_file(folder / "accelopt-headers.d", "kernel.o: kernel.cpp\n"));
    cache.keep(job, folder, made);
  }
  EXPECT_LT(entries(), 200U);
}

}  // namespace
}  // namespace accelopt::targets::cpu
