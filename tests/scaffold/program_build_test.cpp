// SPDX-License-Identifier: Apache-2.0
#include "scaffold/program_build.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sandbox/probe.hpp"
#include "scaffold/programs.hpp"

namespace accelopt::scaffold {
namespace {

constexpr const char* kProgram = "int answer() { return 42; }\nint main() { return answer() - 42; }\n";

class ProgramBuildTest : public testing::Test {
 protected:
  void SetUp() override {
    if (sandbox::capabilities().landlock == 0 || !sandbox::capabilities().filters) {
      GTEST_SKIP() << "no Landlock or no system call filters";
    }
  }

  ProgramBuild build(const std::string& command, const WinnerPatch* patch = nullptr) const {
    auto built = build_program(command, std::filesystem::canonical(repository_.file()), patch, {});
    EXPECT_TRUE(built.has_value()) << built.error().message;
    return built ? std::move(*built) : ProgramBuild{"none", {}};
  }

  Repository repository_{"main.cpp", kProgram};
};

TEST_F(ProgramBuildTest, SaysHowTheFileIsCompiledAndLeavesTheRepositoryAlone) {
  repository_.write("Makefile", "all: ; cd src && g++ -Os -mavx2 -DX=1 -c main.cpp -o main.o\n");
  const ProgramBuild built = build("make -j2");
  EXPECT_EQ(built.problem, "");
  ASSERT_TRUE(built.flags.has_value());
  EXPECT_EQ(built.flags->flags, (std::vector<std::string>{"-march=x86-64", "-Os", "-mavx2"}));
  EXPECT_EQ(built.flags->source, "make -j2");
  EXPECT_TRUE(built.flags->compiler.starts_with("/")) << "the program behind the recorder";
  EXPECT_EQ(built.flags->compiler.find("tools"), std::string::npos) << built.flags->compiler;
  EXPECT_FALSE(std::filesystem::exists(repository_.path() / "src" / "main.o"));
}

TEST_F(ProgramBuildTest, BuildsWithCMakeBesideABuildOfTheUser) {
  if (repository_.run("cmake --version").first != 0) GTEST_SKIP() << "CMake is not installed";
  repository_.write("CMakeLists.txt",
                    "cmake_minimum_required(VERSION 3.16)\nproject(p CXX)\nset(CMAKE_CXX_FLAGS -O1)\n"
                    "add_executable(p src/main.cpp)\n");
  ASSERT_EQ(repository_.run("cmake -B build .").first, 0);
  const ProgramBuild built = build("cmake -B build . && cmake --build build");
  EXPECT_EQ(built.problem, "");
  ASSERT_TRUE(built.flags.has_value());
  EXPECT_EQ(built.flags->flags, (std::vector<std::string>{"-march=x86-64", "-O1"}));
}

TEST_F(ProgramBuildTest, PatchedProgram_IsBuiltInItsPlace) {
  const auto file = std::filesystem::canonical(repository_.file());
  const std::string command = "g++ src/main.cpp -o program && ./program";
  const WinnerPatch wrong{{{file, kProgram, "int main() { return 3; }\n"}}};
  EXPECT_EQ(build(command).problem, "");
  EXPECT_NE(build(command, &wrong).problem, "") << "the patched program ran and failed";
  const WinnerPatch broken{{{file, kProgram, "int main() { return nowhere; }\nint f() { return nor_here; }\n"}}};
  const std::string problem = build(command, &broken).problem;
  EXPECT_TRUE(problem.starts_with("src/main.cpp:1:")) << problem;
  EXPECT_NE(problem.find("nowhere"), std::string::npos) << problem;
  EXPECT_EQ(repository_.read("src/main.cpp"), kProgram);
}

TEST_F(ProgramBuildTest, CannotWriteOrReadOutsideTheCopy) {
  repository_.write("secret", "of the user\n");
  const std::string secret = (repository_.path() / "secret").string();
  repository_.run("ln -s '" + secret + "' link");
  for (const std::string& command :
       {"echo changed > '" + secret + "'", "rm '" + secret + "'", "cat '" + secret + "'", std::string("cat link"),
        std::string("echo changed > link"), "touch '" + repository_.path().string() + "/new'"}) {
    EXPECT_NE(build(command).problem, "") << command;
  }
  EXPECT_EQ(build("echo changed > secret && touch new").problem, "") << "the copy is its own";
  EXPECT_EQ(repository_.read("secret"), "of the user\n");
  EXPECT_FALSE(std::filesystem::exists(repository_.path() / "new"));
}

TEST_F(ProgramBuildTest, CannotReachTheNetwork) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(listener, 1), 0);
  ASSERT_EQ(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const std::string port = std::to_string(ntohs(address.sin_port));
  repository_.write("reach.cpp",
                    "#include <arpa/inet.h>\n#include <sys/socket.h>\n"
                    "int main() {\n  sockaddr_in to{};\n  to.sin_family = AF_INET;\n  to.sin_port = htons(" +
                        port +
                        ");\n  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);\n"
                        "  int s = socket(AF_INET, SOCK_STREAM, 0);\n"
                        "  return s >= 0 && connect(s, (sockaddr*)&to, sizeof to) == 0 ? 0 : 7;\n}\n");
  ASSERT_EQ(repository_.run("g++ reach.cpp -o reach && ./reach").first, 0) << "outside the sandbox it is reached";
  const int met = accept(listener, nullptr, nullptr);
  EXPECT_GE(met, 0);
  EXPECT_EQ(build("g++ reach.cpp -o reach").problem, "");
  EXPECT_NE(build("g++ reach.cpp -o reach && ./reach").problem, "");
  EXPECT_LT(accept(listener, nullptr, nullptr), 0) << "nobody else came";
  close(met);
  close(listener);
}

}  // namespace
}  // namespace accelopt::scaffold
