// SPDX-License-Identifier: Apache-2.0
#include "syntax/machine_failure.hpp"

#include <gtest/gtest.h>

namespace accelopt::syntax {
namespace {

using base::ErrorCode;
using Certainty = MachineFailure::Certainty;

struct Output {
  const char* text;
  ErrorCode code;
  Certainty certainty = Certainty::certain;
};

class MachineFailures : public testing::TestWithParam<Output> {};

TEST_P(MachineFailures, Output_OfTheMachine_IsRecognized) {
  const auto failure = machine_failure(GetParam().text);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->code, GetParam().code);
  EXPECT_EQ(failure->certainty, GetParam().certainty);
}

// As the tools wrote them.
INSTANTIATE_TEST_SUITE_P(
    Outputs, MachineFailures,
    testing::Values(
        Output{"kernel.cpp:9:1: fatal error: error writing to /tmp/x/ccpSDb.s: No space left on device\n"
               "    9 | }\n      | ^\ncompilation terminated.\n",
               ErrorCode::exhausted},
        Output{"/tmp/cc.s: Assembler messages:\n/tmp/cc.s: Fatal error: can't write 18 bytes to section .eh_frame of "
               "k.o: 'No space left on device'\n/tmp/cc.s: Fatal error: k.o: No such file or directory\n",
               ErrorCode::exhausted},
        Output{"/usr/bin/ld: final link failed: Disk quota exceeded\ncollect2: error: ld returned 1 exit status\n",
               ErrorCode::exhausted},
        Output{"fatal error: error in backend: IO failure on output stream: No space left on device\n",
               ErrorCode::exhausted},
        Output{"g++: fatal error: cannot execute 'cc1plus': vfork: Resource temporarily unavailable\n",
               ErrorCode::unavailable},
        Output{"g++: fatal error: cannot execute 'cc1plus': execvp: No such file or directory\n",
               ErrorCode::unavailable},
        Output{"g++: fatal error: Killed signal terminated program cc1plus\ncompilation terminated.\n",
               ErrorCode::exhausted, Certainty::possible},
        Output{"cc1plus: out of memory allocating 65536 bytes after a total of 1 bytes\n", ErrorCode::exhausted,
               Certainty::possible}));

class SourceFailures : public testing::TestWithParam<const char*> {};

TEST_P(SourceFailures, Words_OfTheSource_AreItsOwn) {
  EXPECT_FALSE(machine_failure(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(
    Outputs, SourceFailures,
    testing::Values(
        "", "kernel.cpp:1:2: error: #error No space left on device\n",
        "kernel.cpp:1:2: error: #error : fatal error: error writing to x: No space left on device\n",
        "kernel.cpp:1:10: fatal error: error writing to x: No space left on device: No such file or directory\n",
        "kernel.cpp:2:1: error: static assertion failed: b\nas: y: No space left on device\n",
        "kernel.cpp:1:9: note: '#pragma message: a\nas: y: No space left on device'\n/usr/include/c++/12/x:7:1: error: "
        "n\n",
        "/tmp/cc.s:12: Error: No space left on device\n", "x:y:5: Error: No space left on device\n",
        ":5: Error: No space left on device\n",
        "/usr/bin/ld: n.o: relocation R_X86_64_32 against symbol `cannot execute x' can not be used when making a "
        "shared "
        "object\n",
        "kernel.cpp:(.text+0x5): undefined reference to `f'\nld: x: No space left on device\n"));

TEST(MachineFailure, Error_NamesTheNextStep) {
  EXPECT_EQ(
      machine_failure("/usr/bin/ld: final link failed: No space left on device\n")->error().message,
      "the compiler failed because of this machine, not because of the code: ld: final link failed: No space left "
      "on device; free space where temporary files lie (TMPDIR), then resume the run, or repeat the command");
}

}  // namespace
}  // namespace accelopt::syntax
