// SPDX-License-Identifier: Apache-2.0
#include "base/spawn.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace accelopt::base {
namespace {

/// Exit code of "sh -c SCRIPT".
int run_shell(const std::string& script, SpawnSetup& setup) {
  std::vector<std::string> words{"sh", "-c", script};
  std::vector<std::string> variables = inherited_variables();
  pid_t pid = -1;
  EXPECT_EQ(::posix_spawn(&pid, "/bin/sh", setup.actions(), setup.attributes(), pointers_to(words).data(),
                          pointers_to(variables).data()),
            0);
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(SpawnSetup, IgnoredSignals_EndTheChild) {
  for (const int number : {SIGPIPE, SIGXFSZ}) {
    const auto before = std::signal(number, SIG_IGN);
    SpawnSetup setup(Apart::own_group);
    // A shell cannot change what it was started to ignore.
    EXPECT_EQ(run_shell("kill -" + std::to_string(number) + " $$; exit 0", setup), -number);
    std::signal(number, before);
  }
}

TEST(SpawnSetup, Variables_AreInherited) {
  ASSERT_EQ(::setenv("ACCELOPT_SPAWN_TEST", "a value", 1), 0);
  SpawnSetup setup(Apart::own_session);
  EXPECT_EQ(run_shell("test \"$ACCELOPT_SPAWN_TEST\" = 'a value'", setup), 0);
  ::unsetenv("ACCELOPT_SPAWN_TEST");
}

}  // namespace
}  // namespace accelopt::base
