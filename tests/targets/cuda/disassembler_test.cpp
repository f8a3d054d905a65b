// SPDX-License-Identifier: Apache-2.0
// Hot loops in a profile, found in what nvdisasm prints.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/files.hpp"
#include "evaluation/local_evaluator.hpp"
#include "targets/cuda/fake_cuda.hpp"

namespace accelopt::targets::cuda {
namespace {

/// As nvdisasm prints a loop of two instructions.
constexpr const char* kLoopText =
    "\t.section\t.text.squares,\"ax\",@progbits\n.L_x_0:\n\t//## File \"/a/kernel.cu\", line 8\n"
    "        /*0000*/  FFMA R1, R2, R2, R1 ;\n        /*0010*/  @P0 BRA `(.L_x_0) ;\n        /*0020*/  EXIT ;\n";

class HotLoops : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = base::TemporaryFolder::create("accelopt-disassembler-test");
    ASSERT_TRUE(folder);
    folder_.emplace(std::move(*folder));
  }

  /// An nvdisasm that carries this out.
  std::string fake(const std::string& script) {
    const auto program = folder_->path() / "nvdisasm";
    EXPECT_TRUE(base::write_file(program, "#!/bin/sh\n[ \"$1\" = --version ] && exit 0\n" + script));
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    return program.string();
  }
  static std::string prints(const std::string& text) { return "cat <<'END'\n" + text + "END\n"; }

  static model::Profile profile_with(const std::string& program) {
    CudaOptions options = fake_options();
    options.build.environment["ACCELOPT_NVDISASM"] = program;
    const auto target = make_cuda_target(options);
    const auto evaluator = evaluation::make_local_evaluator(*target);
    const auto opened = evaluator->ask(evaluation::Open{squares_task(), quick_settings()}, {});
    EXPECT_TRUE(opened) << opened.error().message;
    const auto out = evaluator->ask(evaluation::Profile{model::Kernel(cuda_solution(kSquares))}, {});
    EXPECT_TRUE(out) << out.error().message;
    return out.value_or(model::Profile());
  }
  static const model::ProfileItem* find(const model::Profile& profile, const std::string& name) {
    const auto found = std::ranges::find(profile.items, name, &model::ProfileItem::name);
    return found == profile.items.end() ? nullptr : &*found;
  }

  std::optional<base::TemporaryFolder> folder_;
};

TEST_F(HotLoops, ItsLoopsStandInTheProfile) {
  const model::Profile profile = profile_with(fake(prints(kLoopText)));
  const auto* const loop = find(profile, "squares: hot loop 1");
  ASSERT_TRUE(loop);
  EXPECT_EQ(loop->value, 2);
  EXPECT_EQ(loop->unit, "instructions");
  EXPECT_EQ(loop->meaning, "line 8; a turn: 1 FFMA, 1 other; found by nesting, not by samples");
}

TEST_F(HotLoops, OneThatFailsOrIsMissingCostsTheLoopsAlone) {
  for (const std::string& program : {fake(prints(kLoopText) + "exit 1\n"), std::string("off")}) {
    const model::Profile profile = profile_with(program);
    EXPECT_TRUE(find(profile, "code size"));
    EXPECT_FALSE(find(profile, "squares: hot loop 1"));
    for (const std::string& note : profile.notes) EXPECT_EQ(note.find("loop"), std::string::npos) << note;
  }
}

}  // namespace
}  // namespace accelopt::targets::cuda
