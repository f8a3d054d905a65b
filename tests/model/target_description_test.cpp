// SPDX-License-Identifier: Apache-2.0
#include "model/target_description.hpp"

#include <gtest/gtest.h>

#include <set>

#include "model/solution.hpp"

namespace accelopt::model {
namespace {

TEST(TargetDescription, Targets_Described_AreUnambiguous) {
  std::set<std::string> names;
  for (const TargetDescription* target : targets()) {
    EXPECT_TRUE(names.insert(target->name).second) << target->name;
    EXPECT_FALSE(target->languages.empty()) << target->name;
    // What a repository computes is told by its own base.
    EXPECT_EQ(target->reference_suffixes.empty(), target->name == "repo") << target->name;
    if (is_measured(*target)) {
      EXPECT_NE(find_target(device_kind(target->name)), nullptr) << target->device << " is of no target's kind";
    }
    for (const LanguageDescription& language : target->languages) {
      for (const std::string& suffix : language.suffixes)
        EXPECT_EQ(language_of_file("kernel" + suffix, *target).value(), language.language) << target->name << suffix;
    }
  }
}

TEST(TargetDescription, UnknownTarget_CanDoNothing) {
  Task task;
  task.target = "abacus";
  task.cpu.threads = 4;

  EXPECT_EQ(find_target("abacus"), nullptr);
  EXPECT_FALSE(is_measured(target_of(task)));
  EXPECT_EQ(cores_of(task), 1);
}

TEST(Language, UnknownKey_SurvivesJson) {
  const Solution solution{Language("cobol"), {{"kernel.cob", "MOVE A TO B.  * a comment\r\n"}}};

  const auto read = base::Json(solution).get<Solution>();

  EXPECT_EQ(read, solution);
  EXPECT_EQ(read.language.key(), "cobol");
  EXPECT_EQ(describe(read.language).form, KernelForm::text);
  EXPECT_NE(source_id(solution), source_id(with_main_text(solution, "MOVE A TO B.\n")));  // no comment is dropped
}

TEST(Language, OfFile_UnknownExtension_NamesTheKnownOnes) {
  EXPECT_EQ(language_of_file("kernel.cxx").value(), Language::cpp);
  EXPECT_EQ(language_of_file("kernel.cu").value(), Language("cuda"));
  EXPECT_EQ(language_of_file("kernel.rs").error().message,
            "kernel.rs: cannot tell the language; name it .cpp .c .cu .cl or .py");
}

}  // namespace
}  // namespace accelopt::model
